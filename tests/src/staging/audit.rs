//! What must hold on a device after every load: the invariants of staging.md §18.6 that need the models.

use super::{Loaded, Rig};
use loader_core::device::{DevAddr, Device};
use loader_core::lower::record::{PatchSection, PatchType, RingType};
use loader_core::plan::CoreView;
use loader_core::plan::record::{DMem, FeedKind, RING_TX};
use loader_core::plan::ring::{Entry, capacity, template_parts};
use std::collections::{BTreeMap, BTreeSet};
use zerocopy::FromBytes;

/// Entries of a ring half.
#[must_use]
pub fn entries(rig: &Rig, core: &CoreView<'_>, row: usize) -> Vec<Entry> {
    let ring = core.rings()[row];
    let Some(block) = core.ring_block(&ring) else { return Vec::new() };
    let bytes = rig.read_at(block.handle(), block.skip.get(), u64::from(ring.used.get()) * 16);
    bytes.chunks(16).map(|entry| Entry::read_from_bytes(entry).expect("16 bytes")).collect()
}

/// All invariants, over all models that are loaded.
///
/// # Panics
/// If one does not hold.
pub fn check(rig: &Rig, models: &[&Loaded]) {
    rig.sim.audit().expect("I1, I3, I4, I5, I6, I8");
    live_set(rig, models);
    page_references(rig, models);
    for model in models {
        constants(rig, model);
        for core in model.plan.cores() {
            effective_alignment(&core);
            rings(rig, &core);
            images(rig, &core);
            positions(&core);
        }
    }
}

/// I2: the live blocks are exactly those of the models and the page table.
fn live_set(rig: &Rig, models: &[&Loaded]) {
    let mut claimed = BTreeSet::new();
    for page in rig.pages.iter().flatten() {
        assert!(claimed.insert(page.taken.base), "I2: page claimed twice");
    }
    for core in models.iter().flat_map(|model| model.plan.cores()) {
        for block in core.allocations().iter().filter(|block| block.what.get() != DMem::PAGE) {
            assert!(claimed.insert(block.base.get()), "I2: block claimed twice");
        }
    }
    let live: BTreeSet<u64> = rig.sim.with(|state| state.live().map(|live| live.base.0).collect());
    assert_eq!(live, claimed, "I2: live blocks");
}

/// I18: references of a page are the models that use it.
fn page_references(rig: &Rig, models: &[&Loaded]) {
    for page in rig.pages.iter().flatten() {
        let uses = |model: &&&Loaded| {
            let (core, pages) = model.plan.scratchpad();
            core == page.core && page.index < pages
        };
        assert_eq!(page.refs as usize, models.iter().filter(uses).count(), "I18: page {}", page.index);
    }
}

/// I6 on effective addresses.
fn effective_alignment(core: &CoreView<'_>) {
    for block in core.allocations() {
        assert_eq!(block.address().0 % block.align.get().max(1), 0, "I6: {:#x}", block.base.get());
    }
}

/// I7: constants and tables read back as in the file.
fn constants(rig: &Rig, model: &Loaded) {
    for feed in model.plan.feeds().iter().filter(|feed| feed.kind != FeedKind::PROGRAM) {
        let core = model.plan.core(usize::from(feed.core.get())).expect("core");
        let block = &core.allocations()[feed.block.get() as usize];
        let file = &model.members.bytes[feed.member.get() as usize];
        let (from, len) = (feed.off.get() as usize, feed.len.get() as usize);
        assert_eq!(block.size.get(), feed.len.get(), "I7: length");
        assert!(rig.read(block) == file[from..from + len], "I7: constant at {}", block.address());
    }
}

/// Address ranges that a descriptor may name.
fn known_ranges(rig: &Rig) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> =
        rig.sim.with(|state| state.live().map(|live| (live.base.0, live.base.0 + live.size)).collect());
    for core in 0..rig.sim.cores() {
        let core = loader_core::device::CoreId(core);
        let (DevAddr(window), len) = rig.sim.state_buffer(core);
        ranges.push((window, window + len));
        ranges.push((rig.sim.semaphore_increment(core, 0).0, rig.sim.semaphore_increment(core, 512).0));
    }
    ranges
}

/// I9 to I12.
fn rings(rig: &Rig, core: &CoreView<'_>) {
    let ranges = known_ranges(rig);
    let limit = loader_core::plan::ring::packet_limit(core.kbin.arch().expect("arch"));
    let kinds: BTreeMap<u16, RingType> =
        core.kbin.queues().map(|queue| (queue.slot as u16, queue.record.ring_type)).collect();
    for (row, pair) in core.rings().chunks(2).enumerate().map(|(index, pair)| (index * 2, pair)) {
        assert_eq!(pair[0].side.get(), RING_TX);
        assert_eq!(pair[0].used, pair[1].used, "I11: entries");
        for ring in pair {
            let expected = if ring.used.get() == 0 { 0 } else { capacity(ring.used.get(), false).unwrap() };
            assert_eq!(ring.capacity.get(), expected, "I12: capacity");
        }
        let (tx, rx) = (entries(rig, core, row), entries(rig, core, row + 1));
        let io = matches!(kinds[&pair[0].queue.get()], RingType::IN | RingType::OUT);
        let mut open = 0;
        for (tx, rx) in tx.iter().zip(&rx) {
            assert_eq!((tx.is_first(), tx.is_last()), (rx.is_first(), rx.is_last()), "I11: packets");
            assert_eq!(tx.is_first(), open == 0, "I11: FIRST opens a packet");
            open = if tx.is_last() { 0 } else { open + 1 };
            assert!(open < limit, "I11: packet limit");
            for entry in [tx, rx] {
                end(core, entry, io, &ranges);
            }
        }
        assert_eq!(open, 0, "I11: LAST closes a packet");
    }
}

/// I9 and I10 for one end.
fn end(core: &CoreView<'_>, entry: &Entry, io: bool, ranges: &[(u64, u64)]) {
    let (address, len) = (entry.address.get(), u64::from(entry.bytes()));
    if let Some((var, off)) = template_parts(address) {
        let record = core.kbin.mem_ref(var).expect("I10: variable");
        assert!(io && record.mr_type.is_io(), "I10: template outside an IO ring");
        assert!(off + len <= record.size.get(), "I10: beyond {var}");
        return;
    }
    let inside = |&(start, end): &(u64, u64)| address >= start && address + len <= end;
    assert!(ranges.iter().any(inside), "I9: {address:#x} + {len}");
}

/// I13, I14 (branches), I15: images.
fn images(rig: &Rig, core: &CoreView<'_>) {
    for engine in loader_core::arch::Engine::ALL {
        let (image, block) = core.image(engine).expect("image");
        assert_eq!(block.size.get(), image.slots() * 64, "I13: length");
        assert!(block.align.get() >= 0x8000, "I13: alignment");
        let bytes = rig.read(block);
        let listed: BTreeSet<usize> = core
            .opaques()
            .iter()
            .filter(|opaque| u32::from(opaque.engine) == engine.number())
            .flat_map(|opaque| {
                (0..usize::from(opaque.slots)).map(move |more| opaque.slot.get() as usize + more)
            })
            .collect();
        for (index, slot) in bytes.chunks(64).enumerate() {
            let pseudo = (0xC1..=0xDF).contains(&slot[0]);
            assert_eq!(pseudo, pseudo && listed.contains(&index), "I13: slot {index} of {engine}");
            if slot[0] == 0xA9 {
                let distance = u32::from_le_bytes(slot[48..52].try_into().unwrap()).cast_signed();
                let target = index as i64 * 64 + i64::from(distance);
                assert!(target % 64 == 0 && (0..bytes.len() as i64).contains(&target), "I14: slot {index}");
            }
        }
        for bind in core.binds().iter().filter(|bind| u32::from(bind.engine) == engine.number()) {
            let at = bind.slot.get() as usize * 64 + if bind.operand == 0 { 0x10 } else { 0x28 };
            let word = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            assert_eq!(template_parts(word), Some((bind.var.get(), bind.off.get())), "I15: bound operand");
        }
    }
}

/// I16 and I17: the position map, both ways.
fn positions(core: &CoreView<'_>) {
    for engine in loader_core::arch::Engine::ALL {
        let image = &core.images()[engine.index()];
        let sum = |section, kind| -> u32 {
            let of = |patch: &&loader_core::lower::record::PatchEntry| {
                patch.section == section && patch.kind == kind
            };
            core.patches(engine).iter().filter(of).map(|patch| patch.count.get()).sum()
        };
        let both = |kind| sum(PatchSection::MAIN, kind) + sum(PatchSection::FUNCTION, kind);
        let device = image.main.get() + image.function.get();
        assert_eq!(device + both(PatchType::DELETE), image.source.get() + both(PatchType::INSERT), "I16");
        let mut last = 0;
        for slot in image.preamble.get()..image.preamble.get() + image.main.get() {
            let position = core.source_position(engine, slot * 64).expect("I17: total");
            assert!(position >= last, "I17: monotone");
            let (at, slots) = core.device_range(engine, position).expect("I17: inverse");
            assert!(at <= slot * 64 && slot * 64 < at + slots * 64, "I17: inverse of {position}");
            last = position;
        }
        for position in 1..=image.source.get() {
            assert!(core.device_range(engine, position).is_some(), "I17: {position} of {engine}");
        }
    }
}

/// I20: nothing is live but what a core holds without models.
///
/// # Panics
/// If something is.
pub fn empty(rig: &Rig) {
    assert_eq!(rig.sim.with(|state| state.live().count()), 0, "I20");
    assert!(rig.pages.iter().all(Option::is_none), "I20: pages");
}
