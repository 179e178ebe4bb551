//! One loaded core.

use super::address;
use super::image::images;
use crate::container::text;
use loader_core::device::Usage;
use loader_core::lower::QueueView;
use loader_core::lower::record::{Kbin, MrType};
use loader_core::manifest::VarClass;
use loader_core::plan::CoreView;
use loader_core::plan::record::{BlockRec, DMem, Model, RING_TX, RingRec, VarPlace};
use loader_core::plan::vars::STATE_BUFFER_BYTES;
use serde_json::{Map, Value, json};

pub(super) fn core_json(core: &CoreView<'_>, shared: u64) -> Value {
    let queues: Vec<QueueView<'_>> = core.kbin.queues().collect();
    let tally = core.tally();
    json!({
        "core": core.core().0,
        "subgraph": text(core.kbin.subgraph_name()),
        "kbin_bytes": size_of::<Kbin>(),
        "model_bytes": size_of::<Model>(),
        "variables": core.variables().iter().map(|place| variable(core, place)).collect::<Vec<_>>(),
        "allocations": core.allocations().iter().map(allocation).collect::<Vec<_>>(),
        "images": images(core),
        "rings": core.rings().iter().map(|half| ring(core, &queues, half)).collect::<Vec<_>>(),
        "blocks": core.blocks().iter().map(|record| block(core, &queues, record)).collect::<Vec<_>>(),
        "increments": core.blocks().iter().map(|record| increments(core, record)).collect::<Vec<_>>(),
        "relocations": {
            "variables": tally.relocated_variables.get(),
            "rings": tally.relocated_rings.get(),
        },
        "approximate": tally.approximate.get(),
        "breakdown": breakdown(core, shared),
    })
}

fn variable(core: &CoreView<'_>, place: &VarPlace) -> Value {
    let name = core.kbin.mem_ref(place.var_id.get()).map_or(&[][..], |record| core.kbin.name(record));
    json!({
        "var_id": place.var_id.get(),
        "name": text(name),
        "class": class(place.mr_type),
        "size": size(place),
        "address": place.address().map(address),
    })
}

/// A state buffer's window for it and for any remote variable, as the document's contract has it.
fn size(place: &VarPlace) -> u64 {
    if place.mr_type == MrType::REMOTE { STATE_BUFFER_BYTES } else { place.size.get() }
}

/// The class as `def.json` writes it.
fn class(number: MrType) -> &'static str {
    VarClass::ALL.iter().find(|class| class.record_type() == number.get()).map_or("", |class| class.name())
}

fn allocation(block: &DMem) -> Value {
    json!({
        "core": block.core.get(),
        "usage": usage(block.usage.get()),
        "tag": DMem::tag_of(block.what.get()),
        "address": address(block.address()),
        "size": block.size.get(),
        "align": block.align.get(),
        "granted": block.granted.get(),
    })
}

fn usage(number: u32) -> &'static str {
    usize::try_from(number).ok().and_then(|number| Usage::ALL.get(number)).map_or("", |usage| usage.name())
}

fn queue_name(queues: &[QueueView<'_>], slot: u16) -> String {
    queues.get(usize::from(slot)).map_or_else(String::new, |queue| text(queue.name()))
}

fn ring(core: &CoreView<'_>, queues: &[QueueView<'_>], half: &RingRec) -> Value {
    json!({
        "queue": queue_name(queues, half.queue.get()),
        "instance": half.instance.get(),
        "side": if half.side.get() == RING_TX { "tx" } else { "rx" },
        "address": core.ring_block(half).map(|block| address(block.address())),
        "entries": half.used.get(),
        "capacity": half.capacity.get(),
    })
}

fn block(core: &CoreView<'_>, queues: &[QueueView<'_>], record: &BlockRec) -> Value {
    let function = core.kbin.text(record.function);
    json!({
        "queue": queue_name(queues, record.queue.get()),
        "id": record.id.get(),
        "function": (!function.is_empty()).then(|| text(function)),
        "descriptors": record.descriptors.get(),
        "bytes": record.bytes.get(),
    })
}

/// What the block at that place of `blocks` adds to each hardware instance of its queue (staging.md §5.9): pairs of entries,
/// which are the increments of tx and of rx alike, and packets.
fn increments(core: &CoreView<'_>, record: &BlockRec) -> Value {
    let pairs: Vec<u32> = core.counts(record).map(|count| count.pairs.get()).collect();
    let packets: Vec<u32> = core.counts(record).map(|count| count.packets.get()).collect();
    json!({"pairs": pairs, "packets": packets})
}

/// The breakdown of a core with the core's number and subgraph.
pub(super) fn breakdown_of(core: &CoreView<'_>, shared: u64) -> Value {
    let mut value = breakdown(core, shared);
    value["core"] = core.core().0.into();
    value["subgraph"] = text(core.kbin.subgraph_name()).into();
    value
}

/// The vendor's columns with underscores, their sum, and beside it the scratchpad pages that lie on the core: pages count
/// for the core that holds them, which need not be one of the model's (staging.md §8.4).
fn breakdown(core: &CoreView<'_>, shared: u64) -> Value {
    let breakdown = core.breakdown();
    let mut map: Map<String, Value> =
        breakdown.items().into_iter().map(|(name, bytes)| (name.replace(' ', "_"), bytes.into())).collect();
    map.insert("total".to_owned(), breakdown.total().into());
    map.insert("shared_scratchpad".to_owned(), shared.into());
    Value::Object(map)
}
