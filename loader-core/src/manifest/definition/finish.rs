//! After the last byte of a `def.json`: what needs the whole tables (manifests.md §6.3, §7.3, §8.3).

use super::super::build::{Build, Slot, beyond, broken, fault, full};
use super::super::class::{Role, VarClass};
use super::super::record::{
    DefRecord, InstanceRecord, QueueRecord, Text, TotalsRecord, VarRecord, def_flag, nth, queue_flag,
};
use super::super::sort::{by_dense_id, by_name, index, sorted_indices};
use super::super::table::Table;
use super::super::verdict::{Rank, Section};
use super::Definition;
use super::queues::{SETS_MAX, dge_limit};
use super::reader::DefReader;
use crate::arch::Arch;
use crate::arena::{Tail, TailRef};
use crate::error::{Error, ManifestCode};
use crate::layout::SMALL;
use crate::sort::sort;
use zerocopy::little_endian::{U32, U64};

pub(super) fn finish(reader: &mut DefReader, build: &mut Build<'_, '_>) -> Result<(), Error> {
    variables(reader, build)?;
    queues(reader, build)?;
    carveouts(reader, build);
    streams(reader, build);
    Ok(())
}

fn variables(reader: &mut DefReader, build: &mut Build<'_, '_>) -> Result<(), Error> {
    let rank = reader.rank(Section::Variables);
    let def = &mut reader.def;
    if def.flags.get() & def_flag::VAR == 0 {
        no_outputs(build, def, rank);
        return Ok(());
    }
    let (count, vars) = (def.vars.len(), def.vars);
    let id = |tail: Tail<'_>, at| vars.get::<VarRecord>(tail, at).map(|record| record.var_id.get());
    // Where small code goes before speed, what is dense is sorted as well.
    if SMALL || !by_dense_id(build.arena, count, id, &mut def.by_id).map_err(full)? {
        let mut order = |tail: Tail<'_>, a, b| id(tail, a).cmp(&id(tail, b));
        sorted_indices(build.arena, count, &mut order, &mut def.by_id).map_err(full)?;
    }
    by_name::<VarRecord>(build, &vars, &mut def.by_name)?;
    names_once(build, &def.vars, size_of::<VarRecord>(), def.by_name, rank);
    ids_dense(build, def, rank);
    if def.num_outputs.get() == 0 {
        no_outputs(build, def, rank.step(2));
    }
    references(build, def, rank.step(3));
    Ok(())
}

fn no_outputs(build: &mut Build<'_, '_>, def: &DefRecord, rank: Rank) {
    let error = fault(ManifestCode::NoOutputs).name(build.bytes(def.name));
    build.offer(rank, error);
}

/// E122: a name twice in `var` or `dma_queue`, whose records have `size` bytes.
fn names_once(build: &mut Build<'_, '_>, table: &Table, size: usize, order: TailRef, rank: Rank) {
    for at in 1..table.len() {
        let tail = build.arena.tail();
        let place = |at| index(tail, order, table.len(), at);
        let (Some(before), Some(place)) = (place(at.wrapping_sub(1)), place(at)) else { continue };
        let name = table.name_of(tail, place, size);
        if table.name_of(tail, before, size) == name {
            let error = fault(ManifestCode::JsonDuplicateKey).name(name);
            build.offer_item(rank, place, 0, error);
        }
    }
}

/// E321: an id twice. E303: ids that are not 0 to n − 1.
fn ids_dense(build: &mut Build<'_, '_>, def: &DefRecord, rank: Rank) {
    let count = def.vars.len();
    let (mut last, mut distinct) = (None, 0u32);
    for at in 0..count {
        let tail = build.arena.tail();
        let Some(place) = index(tail, def.by_id, count, at) else { continue };
        let Some(record) = def.vars.get::<VarRecord>(tail, place) else { continue };
        let id = record.var_id.get();
        if last.replace(id) != Some(id) {
            distinct = distinct.wrapping_add(1);
            continue;
        }
        let error = fault(ManifestCode::VarIdTwice).name(record.name.get(tail));
        build.offer_item(rank, place, 12, error.numbers(u64::from(id), 0));
    }
    let max = last.unwrap_or(0);
    if count > 0 && max.checked_add(1) != Some(distinct) {
        let error = fault(ManifestCode::VarIds).numbers(u64::from(max), u64::from(distinct));
        match build.policy.tooling() {
            true => build.offer_latent(rank.step(1), error),
            false => build.offer(rank.step(1), error),
        }
    }
}

/// E323, E325, E326: ids that pointers and lists name.
fn references(build: &mut Build<'_, '_>, def: &DefRecord, rank: Rank) {
    for at in 0..def.vars.len() {
        let view = Definition::new(build.arena.tail(), def);
        if let Some(error) = referred(view, at) {
            build.offer_item(rank, at, 0, error);
        }
    }
}

/// What is wrong with the ids that a variable names.
fn referred(view: Definition<'_>, at: u32) -> Option<Error> {
    let record = view.var_record(at)?;
    let fault = |code| fault(code).name(record.name.get(view.tail));
    let class = VarClass::from_code(record.class)?;
    let pointer = class == VarClass::Pointer;
    let named = match class {
        VarClass::List | VarClass::DgeTable => record.c.get(),
        VarClass::Pointer => 1,
        _ => 0,
    };
    for nth in 0..named {
        let place = record.d.get().checked_add(nth)?;
        let id = if pointer { record.c } else { *view.record.lists.get::<U32>(view.tail, place)? }.get();
        let Some(target) = view.var_index(id) else {
            return Some(
                fault(ManifestCode::VarReference).numbers(u64::from(id), u64::from(view.var_count())),
            );
        };
        // A pointer to itself, or to a pointer. So no chain of them exists, and no cycle.
        if pointer && id == record.var_id.get() {
            return Some(fault(ManifestCode::PointerSelf));
        }
        let target = view.var_record(target)?;
        if pointer && target.class == record.class {
            return Some(fault(ManifestCode::PointerChain).name2(target.name.get(view.tail)));
        }
    }
    None
}

fn queues(reader: &mut DefReader, build: &mut Build<'_, '_>) -> Result<(), Error> {
    let rank = reader.rank(Section::Queues);
    if reader.queues > SETS_MAX {
        let numbers = (u64::from(reader.queues), u64::from(SETS_MAX));
        build.offer(rank.step(1), fault(ManifestCode::QueueSets).numbers(numbers.0, numbers.1));
    }
    let def = &mut reader.def;
    by_name::<QueueRecord>(build, &def.queues, &mut def.queues_by_name)?;
    number_instances(build, def)?;
    index_instances(build, def)?;
    let all = def.instances.get().checked_mul(6).and_then(|all| usize::try_from(all).ok());
    let all = all.ok_or_else(|| broken("instances"))?;
    build.room::<TotalsRecord>(all, &mut def.totals)?;
    queue_checks(build, def, rank);
    instance_checks(build, def, rank);
    Ok(())
}

/// Position in the file of the queue set that stands there in the order of names.
fn stored(tail: Tail<'_>, def: &DefRecord, queue: u32) -> Option<u32> {
    index(tail, def.queues_by_name, def.queues.len(), queue)
}

/// Gives every queue set its first instance number, in the order of names.
fn number_instances(build: &mut Build<'_, '_>, def: &mut DefRecord) -> Result<(), Error> {
    let mut next = 0u32;
    for at in 0..def.queues.len() {
        let stored = stored(build.arena.tail(), def, at);
        let record = stored.and_then(|stored| def.queues.get_mut::<QueueRecord>(build.arena, stored));
        let record = record.ok_or_else(|| broken("a queue"))?;
        record.first_instance = U32::new(next);
        next = next.checked_add(record.instances.get()).ok_or_else(|| broken("instances"))?;
    }
    if next > build.limits.collective_elements {
        return Err(beyond(b"queue instances", build.limits.collective_elements));
    }
    def.instances = U32::new(next);
    Ok(())
}

/// Name of an instance, the `nth` of its queue set.
fn instance_name<'x>(tail: Tail<'x>, def: &DefRecord, queue: &'x QueueRecord, nth: u32) -> Option<&'x Text> {
    if queue.flags & queue_flag::INSTANCES == 0 {
        return Some(&queue.name);
    }
    def.instance_names.get::<Text>(tail, queue.first_name.get().checked_add(nth)?)
}

/// The instances of all queue sets by name, for lookup.
fn index_instances(build: &mut Build<'_, '_>, def: &mut DefRecord) -> Result<(), Error> {
    let length = usize::try_from(def.instances.get()).map_err(|_| broken("instances"))?;
    build.room::<InstanceRecord>(length, &mut def.instance_index)?;
    if let Some((slots, tail)) = build.arena.last_in_tail::<InstanceRecord>(length) {
        fill_instances(slots, tail, def);
        sort(slots, |a, b| {
            let names = a.name.get(tail).cmp(b.name.get(tail));
            names.then(a.queue.get().cmp(&b.queue.get())).then(a.instance.get().cmp(&b.instance.get()))
        });
    }
    Ok(())
}

fn fill_instances(slots: &mut [InstanceRecord], tail: Tail<'_>, def: &DefRecord) {
    let mut slots = slots.iter_mut();
    for queue in 0..def.queues.len() {
        let record = stored(tail, def, queue).and_then(|at| def.queues.get::<QueueRecord>(tail, at));
        let Some(record) = record else { continue };
        for nth in 0..record.instances.get() {
            let (Some(name), Some(slot)) = (instance_name(tail, def, record, nth), slots.next()) else {
                break;
            };
            *slot = InstanceRecord { name: *name, queue: U32::new(queue), instance: U32::new(nth) };
        }
    }
}

/// E122, E336 (the second one), E338, and unique embedding semaphores.
fn queue_checks(build: &mut Build<'_, '_>, def: &DefRecord, rank: Rank) {
    names_once(build, &def.queues, size_of::<QueueRecord>(), def.queues_by_name, rank);
    let (mut act_loads, mut dge) = (0u32, 0u32);
    for at in 0..def.queues.len() {
        let tail = build.arena.tail();
        let queue = |at| def.queues.get::<QueueRecord>(tail, at);
        let Some(record) = queue(at) else { continue };
        let error = |code| fault(code).name(record.name.get(tail));
        let same = |other: &QueueRecord| {
            let both = record.flags & other.flags & queue_flag::EMBEDDING != 0;
            both && record.embedding_semaphore == other.embedding_semaphore
        };
        if (0..at).filter_map(queue).any(same) {
            let error = error(ManifestCode::QueueTable).name2(b"embedding_update");
            build.offer_item(rank, at, 7, error);
            continue;
        }
        dge = dge.wrapping_add(u32::from(record.flags & queue_flag::DGE != 0));
        if Role::ALL.get(usize::from(record.role)) != Some(&Role::ActLoad) {
            continue;
        }
        act_loads = act_loads.wrapping_add(1);
        if act_loads > 1 {
            let error = error(ManifestCode::QueueActLoad).numbers(u64::from(record.num_queues.get()), 1);
            build.offer_item(rank, at, 6, error);
        }
    }
    let most = dge_limit(Arch::from_number(def.arch.get()));
    if dge > most {
        build.offer(rank.step(2), fault(ManifestCode::QueueDge).numbers(u64::from(dge), u64::from(most)));
    }
}

/// E339: a name of `queue_instances` that another instance has. Neither a block nor a trigger could tell them apart.
fn instance_checks(build: &mut Build<'_, '_>, def: &DefRecord, rank: Rank) {
    let tail = build.arena.tail();
    let Some(at) = named_twice(tail, def) else { return };
    let name = def.queues.name::<QueueRecord>(tail, at);
    let error = fault(ManifestCode::QueueTable).name(name).name2(b"queue_instances");
    build.offer_item(rank, at, 7, error);
}

/// The queue set with `queue_instances` one of which has the name of another instance.
fn named_twice(tail: Tail<'_>, def: &DefRecord) -> Option<u32> {
    let mut last: Option<&InstanceRecord> = None;
    for at in 0..def.instances.get() {
        let one = tail.get::<InstanceRecord>(nth::<InstanceRecord>(def.instance_index, at))?;
        let before = last.replace(one).filter(|last| last.name.get(tail) == one.name.get(tail));
        let Some(before) = before else { continue };
        for same in [one, before] {
            let at = stored(tail, def, same.queue.get())?;
            if def.queues.get::<QueueRecord>(tail, at)?.flags & queue_flag::INSTANCES != 0 {
                return Some(at);
            }
        }
    }
    None
}

/// E350: on cayman the key must be there and an array, unless legacy files are allowed. Elsewhere it may be missing, but not
/// be something else.
fn carveouts(reader: &DefReader, build: &mut Build<'_, '_>) {
    let present = reader.def.flags.get() & def_flag::CARVEOUTS != 0;
    let cayman = reader.def.arch.get() == Arch::Cayman.number();
    if cayman && !present && !build.policy.allow_legacy() {
        build.offer(reader.rank(Section::Carveouts), fault(ManifestCode::CarveoutMissing));
    } else if !cayman && reader.def.flags.get() & def_flag::CARVEOUTS_WRONG != 0 {
        let error = fault(ManifestCode::DefinitionMalformed).name(b"runtime_statebuffer_reservation");
        build.offer(reader.rank(Section::Carveouts), error);
    }
}

/// The value given, also 0; 1 if none is (R13).
fn streams(reader: &mut DefReader, build: &mut Build<'_, '_>) {
    match reader.streams {
        Slot::Absent => reader.def.num_streams = U64::new(1),
        Slot::Got(streams) => reader.def.num_streams = U64::new(streams),
        Slot::Wrong => {
            let error = fault(ManifestCode::DefinitionMalformed).name(b"num_streams");
            build.offer(reader.rank(Section::Streams), error);
        }
    }
}
