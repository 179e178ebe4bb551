//! After the last byte of a `def.json`: what needs the whole tables (manifests.md §6.3, §7.3, §8.3).

use super::super::build::{Build, Slot, broken, fault, full};
use super::super::class::{Role, VarClass};
use super::super::record::{
    DefRecord, InstanceRecord, QueueRecord, Text, TotalsRecord, VarRecord, def_flag, queue_flag,
};
use super::super::sort::{by_dense_id, sorted_indices};
use super::super::verdict::{Rank, Section};
use super::queues::{SETS_MAX, dge_limit};
use super::reader::DefReader;
use crate::arch::Arch;
use crate::arena::Tail;
use crate::error::{Error, ManifestCode};
use zerocopy::little_endian::{U32, U64};

pub(super) fn finish(reader: &mut DefReader, build: &mut Build<'_, '_>) -> Result<(), Error> {
    variables(reader, build)?;
    queues(reader, build)?;
    carveouts(reader, build);
    streams(reader, build);
    Ok(())
}

/// The `at`-th number of an index array in the tail.
fn index(build: &Build<'_, '_>, place: crate::arena::TailRef, count: u32, at: u32) -> Option<u32> {
    let count = usize::try_from(count).ok()?;
    let slots = build.arena.tail_slice::<U32>(place, count)?;
    slots.get(usize::try_from(at).ok()?).map(|slot| slot.get())
}

#[inline(never)]
fn variables(reader: &mut DefReader, build: &mut Build<'_, '_>) -> Result<(), Error> {
    let rank = reader.rank(Section::Variables);
    let no_outputs = |build: &Build<'_, '_>, def: &DefRecord| {
        fault(ManifestCode::NoOutputs).name(def.name.get(build.arena.tail()))
    };
    if !reader.has_var {
        build.offer(rank, no_outputs(build, &reader.def));
        return Ok(());
    }
    let def = &mut reader.def;
    let (count, vars) = (def.vars.len(), def.vars);
    let id = |tail: Tail<'_>, at| vars.get::<VarRecord>(tail, at).map(|record| record.var_id.get());
    let dense = by_dense_id(build.arena, count, id).map_err(full)?;
    def.by_id = match dense {
        Some(place) => place,
        None => {
            sorted_indices(build.arena, count, |tail, a, b| id(tail, a).cmp(&id(tail, b))).map_err(full)?
        }
    };
    def.by_name = sorted_indices(build.arena, count, |tail, a, b| {
        let name = |at| vars.get::<VarRecord>(tail, at).map_or(&[][..], |record| record.name.get(tail));
        name(a).cmp(name(b))
    })
    .map_err(full)?;
    let def = &reader.def;
    names_once(build, def, rank);
    ids_dense(build, def, rank);
    if def.num_outputs.get() == 0 {
        build.offer(rank.step(2), no_outputs(build, def));
    }
    references(build, def, rank.step(3));
    Ok(())
}

/// E122: a name twice in `var`.
#[inline(never)]
fn names_once(build: &mut Build<'_, '_>, def: &DefRecord, rank: Rank) {
    let count = def.vars.len();
    for at in 1..count {
        let place = |at| index(build, def.by_name, count, at);
        let (Some(a), Some(b)) = (at.checked_sub(1).and_then(place), place(at)) else { continue };
        let tail = build.arena.tail();
        let name = |at| def.vars.get::<VarRecord>(tail, at).map(|record| record.name.get(tail));
        if name(a) == name(b) {
            let error = fault(ManifestCode::JsonDuplicateKey).name(name(b).unwrap_or(&[])).element(b);
            build.offer(rank.item(b, 0), error);
        }
    }
}

/// E321: an id twice. E303: ids that are not 0 to n − 1.
#[inline(never)]
fn ids_dense(build: &mut Build<'_, '_>, def: &DefRecord, rank: Rank) {
    let count = def.vars.len();
    let (mut last, mut distinct) = (None, 0u64);
    for at in 0..count {
        let tail = build.arena.tail();
        let record = index(build, def.by_id, count, at)
            .and_then(|place| Some((place, def.vars.get::<VarRecord>(tail, place)?)));
        let Some((place, record)) = record else { continue };
        let var_id = record.var_id.get();
        if last == Some(var_id) {
            let error = fault(ManifestCode::VarIdTwice).name(record.name.get(tail)).element(place);
            build.offer(rank.item(place, 12), error.numbers(u64::from(var_id), 0));
        } else {
            distinct = distinct.saturating_add(1);
        }
        last = Some(var_id);
    }
    let max = last.map_or(0, u64::from);
    let dense = last.is_some() && max.checked_add(1) == Some(distinct);
    if !dense && count > 0 {
        let error = fault(ManifestCode::VarIds).numbers(max, distinct);
        match build.policy.tooling() {
            true => build.offer_latent(rank.step(1), error),
            false => build.offer(rank.step(1), error),
        }
    }
}

/// E323, E325, E326: ids that pointers and lists name.
#[inline(never)]
fn references(build: &mut Build<'_, '_>, def: &DefRecord, rank: Rank) {
    for at in 0..def.vars.len() {
        let tail = build.arena.tail();
        let view = super::Definition::new(tail, def);
        let Some(record) = view.var_record(at) else { continue };
        let class = VarClass::from_code(record.class);
        let is_list = matches!(class, Some(VarClass::List | VarClass::DgeTable));
        let first = record.d.get();
        let missing = if is_list {
            let id = |n: u32| def.lists.get::<U32>(tail, first.checked_add(n)?).map(|id| id.get());
            (0..record.c.get()).filter_map(id).find(|&id| view.var_index(id).is_none())
        } else {
            let pointed = (class == Some(VarClass::Pointer)).then(|| record.c.get());
            pointed.filter(|&id| view.var_index(id).is_none())
        };
        let name = record.name.get(tail);
        let error = match missing {
            Some(id) => {
                let numbers = (u64::from(id), u64::from(def.vars.len()));
                Some(fault(ManifestCode::VarReference).name(name).numbers(numbers.0, numbers.1))
            }
            None if class == Some(VarClass::Pointer) => pointed_wrongly(&view, record, tail),
            None => None,
        };
        if let Some(error) = error {
            build.offer(rank.item(at, 0), error.element(at));
        }
    }
}

/// E325, E326: a pointer to itself, or to a pointer. So no chain of them exists, and no cycle.
fn pointed_wrongly(view: &super::Definition<'_>, record: &VarRecord, tail: Tail<'_>) -> Option<Error> {
    let (name, id) = (record.name.get(tail), record.c.get());
    if id == record.var_id.get() {
        return Some(fault(ManifestCode::PointerSelf).name(name));
    }
    let target = view.var_record(view.var_index(id)?)?;
    let chain = VarClass::from_code(target.class) == Some(VarClass::Pointer);
    chain.then(|| fault(ManifestCode::PointerChain).name(name).name2(target.name.get(tail)))
}

#[inline(never)]
fn queues(reader: &mut DefReader, build: &mut Build<'_, '_>) -> Result<(), Error> {
    let rank = reader.rank(Section::Queues);
    if reader.queues > SETS_MAX {
        let numbers = (u64::from(reader.queues), u64::from(SETS_MAX));
        build.offer(rank.step(1), fault(ManifestCode::QueueSets).numbers(numbers.0, numbers.1));
    }
    let def = &mut reader.def;
    let (count, table) = (def.queues.len(), def.queues);
    def.queues_by_name = sorted_indices(build.arena, count, |tail, a, b| {
        let name = |at| table.get::<QueueRecord>(tail, at).map_or(&[][..], |record| record.name.get(tail));
        name(a).cmp(name(b))
    })
    .map_err(full)?;
    number_instances(build, def)?;
    index_instances(build, def)?;
    let all = def.instances.get().checked_mul(6).ok_or_else(|| broken("instances"))?;
    let all = usize::try_from(all).map_err(|_| broken("instances"))?;
    def.totals = build.arena.alloc_tail::<TotalsRecord>(all).map_err(full)?;
    let def = reader.def;
    queue_checks(build, &def, rank);
    instance_checks(build, &def, rank);
    Ok(())
}

/// Gives every queue set its first instance number, in the order of names.
#[inline(never)]
fn number_instances(build: &mut Build<'_, '_>, def: &mut DefRecord) -> Result<(), Error> {
    let mut next = 0u32;
    for at in 0..def.queues.len() {
        let stored =
            index(build, def.queues_by_name, def.queues.len(), at).ok_or_else(|| broken("a queue"))?;
        let record =
            def.queues.get_mut::<QueueRecord>(build.arena, stored).ok_or_else(|| broken("a queue"))?;
        record.first_instance = U32::new(next);
        next = next.checked_add(record.instances.get()).ok_or_else(|| broken("instances"))?;
    }
    if next > build.limits.collective_elements {
        let most = u64::from(build.limits.collective_elements);
        return Err(fault(ManifestCode::LimitExceeded).numbers(0, most).name(b"queue instances"));
    }
    def.instances = U32::new(next);
    Ok(())
}

/// Name and place of instance `flat`.
fn instance(build: &Build<'_, '_>, def: &DefRecord, queue: u32, nth: u32) -> Option<InstanceRecord> {
    let tail = build.arena.tail();
    let stored = index(build, def.queues_by_name, def.queues.len(), queue)?;
    let record = def.queues.get::<QueueRecord>(tail, stored)?;
    let name = if record.flags & queue_flag::INSTANCES == 0 {
        record.name
    } else {
        *def.instance_names.get::<Text>(tail, record.first_name.get().checked_add(nth)?)?
    };
    Some(InstanceRecord { name, queue: U32::new(queue), instance: U32::new(nth) })
}

#[inline(never)]
fn index_instances(build: &mut Build<'_, '_>, def: &mut DefRecord) -> Result<(), Error> {
    let count = def.instances.get();
    let length = usize::try_from(count).map_err(|_| broken("instances"))?;
    let plain = build.arena.alloc_tail::<InstanceRecord>(length).map_err(full)?;
    let mut flat = 0usize;
    for queue in 0..def.queues.len() {
        let mut nth = 0u32;
        while let Some(record) =
            instance(build, def, queue, nth).filter(|_| nth < instances_of(build, def, queue))
        {
            let slots = build.arena.tail_slice_mut::<InstanceRecord>(plain, length);
            if let Some(slot) = slots.and_then(|slots| slots.get_mut(flat)) {
                *slot = record;
            }
            flat = flat.saturating_add(1);
            nth = nth.saturating_add(1);
        }
    }
    let order = sorted_indices(build.arena, count, |tail, a, b| {
        let all = tail.slice::<InstanceRecord>(plain, length).unwrap_or(&[]);
        let name = |at: u32| {
            let record = usize::try_from(at).ok().and_then(|at| all.get(at));
            record.map_or(&[][..], |record| record.name.get(tail))
        };
        name(a).cmp(name(b))
    });
    let order = order.map_err(full)?;
    def.instance_index = build.arena.alloc_tail::<InstanceRecord>(length).map_err(full)?;
    for at in 0..count {
        let from = index(build, order, count, at).and_then(|from| usize::try_from(from).ok());
        let all = build.arena.tail_slice::<InstanceRecord>(plain, length);
        let record = all.and_then(|all| all.get(from?)).copied();
        let slots = build.arena.tail_slice_mut::<InstanceRecord>(def.instance_index, length);
        let slot = slots.and_then(|slots| slots.get_mut(usize::try_from(at).ok()?));
        if let (Some(slot), Some(record)) = (slot, record) {
            *slot = record;
        }
    }
    Ok(())
}

fn instances_of(build: &Build<'_, '_>, def: &DefRecord, queue: u32) -> u32 {
    let stored = index(build, def.queues_by_name, def.queues.len(), queue);
    let record = stored.and_then(|stored| def.queues.get::<QueueRecord>(build.arena.tail(), stored));
    record.map_or(0, |record| record.instances.get())
}

/// E122, E336 (the second one), E338, and unique embedding semaphores.
#[inline(never)]
fn queue_checks(build: &mut Build<'_, '_>, def: &DefRecord, rank: Rank) {
    let (mut act_loads, mut dge) = (0u32, 0u32);
    for at in 0..def.queues.len() {
        let tail = build.arena.tail();
        let Some(record) = def.queues.get::<QueueRecord>(tail, at) else { continue };
        let name = record.name.get(tail);
        let others = || (0..at).filter_map(|other| def.queues.get::<QueueRecord>(tail, other));
        if others().any(|other| other.name.get(tail) == name) {
            build.offer(rank.item(at, 0), fault(ManifestCode::JsonDuplicateKey).name(name).element(at));
            continue;
        }
        let embedding = |record: &QueueRecord| {
            (record.flags & queue_flag::EMBEDDING != 0).then(|| record.embedding_semaphore.get())
        };
        let semaphore = embedding(record);
        if semaphore.is_some() && others().any(|other| embedding(other) == semaphore) {
            let error = fault(ManifestCode::QueueTable).name(name).name2(b"embedding_update");
            build.offer(rank.item(at, 7), error.element(at));
            continue;
        }
        let role = Role::ALL.get(usize::from(record.role));
        act_loads = act_loads.saturating_add(u32::from(role == Some(&Role::ActLoad)));
        dge = dge.saturating_add(u32::from(record.flags & queue_flag::DGE != 0));
        if role == Some(&Role::ActLoad) && act_loads > 1 {
            let error = fault(ManifestCode::QueueActLoad).name(name).element(at);
            build.offer(rank.item(at, 6), error.numbers(u64::from(record.num_queues.get()), 1));
        }
    }
    let most = dge_limit(Arch::from_number(def.arch.get()));
    if dge > most {
        build.offer(rank.step(2), fault(ManifestCode::QueueDge).numbers(u64::from(dge), u64::from(most)));
    }
}

/// E339: a name of `queue_instances` that another instance has. Neither a block nor a trigger could tell them apart.
#[inline(never)]
fn instance_checks(build: &mut Build<'_, '_>, def: &DefRecord, rank: Rank) {
    let tail = build.arena.tail();
    let length = usize::try_from(def.instances.get()).unwrap_or(0);
    let all = tail.slice::<InstanceRecord>(def.instance_index, length).unwrap_or(&[]);
    let same = |(a, b): &(&InstanceRecord, &InstanceRecord)| a.name.get(tail) == b.name.get(tail);
    let named = |one: &InstanceRecord| {
        let stored = index(build, def.queues_by_name, def.queues.len(), one.queue.get())?;
        let queue = def.queues.get::<QueueRecord>(tail, stored)?;
        (queue.flags & queue_flag::INSTANCES != 0).then(|| (stored, queue.name.get(tail)))
    };
    let mut twice = all.iter().zip(all.iter().skip(1)).filter(same);
    let Some((at, name)) = twice.find_map(|(a, b)| named(b).or_else(|| named(a))) else { return };
    let error = fault(ManifestCode::QueueTable).name(name).name2(b"queue_instances").element(at);
    build.offer(rank.item(at, 7), error);
}

/// E350: on cayman the key must be there, unless legacy files are allowed.
fn carveouts(reader: &DefReader, build: &mut Build<'_, '_>) {
    let present = reader.def.flags.get() & def_flag::CARVEOUTS != 0;
    let cayman = reader.def.arch.get() == Arch::Cayman.number();
    if cayman && !present && !build.policy.allow_legacy {
        build.offer(reader.rank(Section::Carveouts), fault(ManifestCode::CarveoutMissing));
    }
}

/// The value given, also 0; 1 if none is (R13).
fn streams(reader: &mut DefReader, build: &mut Build<'_, '_>) {
    let [top, cc] = reader.streams;
    let given = if top.is_absent() { cc } else { top };
    match given {
        Slot::Absent => reader.def.num_streams = U64::new(1),
        Slot::Got(streams) => reader.def.num_streams = U64::new(streams),
        Slot::Wrong => {
            let error = fault(ManifestCode::DefinitionMalformed).name(b"num_streams");
            build.offer(reader.rank(Section::Streams), error);
        }
    }
}
