//! Index arrays in order.

use super::build::{Build, full};
use super::record::nth;
use super::table::{Named, Table};
use crate::arena::{Arena, ArenaFull, Tail, TailRef};
use crate::error::Error;
use crate::sort::heap_sort;
use core::cmp::Ordering;
use zerocopy::little_endian::U32;

/// How two indices stand to each other, by what stands in the tail.
type Order<'x> = &'x mut dyn FnMut(Tail<'_>, u32, u32) -> Ordering;

/// The indices of a table in the tail, sorted by the names of its records.
pub(crate) fn by_name<T: Named>(
    build: &mut Build<'_, '_>,
    table: &Table,
    place: &mut TailRef,
) -> Result<(), Error> {
    by_name_of(build, table, size_of::<T>(), place)
}

/// The same for records of `size` bytes: one copy for all types.
#[cfg_attr(small, inline(never))]
fn by_name_of(
    build: &mut Build<'_, '_>,
    table: &Table,
    size: usize,
    place: &mut TailRef,
) -> Result<(), Error> {
    let mut order = |tail: Tail<'_>, a, b| table.name_of(tail, a, size).cmp(table.name_of(tail, b, size));
    sorted_indices(build.arena, table.len(), &mut order, place).map_err(full)
}

/// An array of the numbers 0 to `count` − 1 in the tail, sorted by what `order` reads from the tail.
#[inline(never)]
pub(crate) fn sorted_indices(
    arena: &mut Arena<'_>,
    count: u32,
    order: Order<'_>,
    place: &mut TailRef,
) -> Result<(), ArenaFull> {
    let len = usize::try_from(count).unwrap_or(usize::MAX);
    *place = arena.alloc_tail::<U32>(len)?;
    let Some((slots, tail)) = arena.last_in_tail::<U32>(len) else { return Ok(()) };
    let mut next = 0u32;
    for slot in &mut *slots {
        slot.set(next);
        next = next.wrapping_add(1);
    }
    let mut order = |a: &U32, b: &U32| order(tail, a.get(), b.get()).then(a.get().cmp(&b.get()));
    // Producers write most tables in order.
    if !slots.is_sorted_by(|a, b| order(a, b) != Ordering::Greater) {
        heap_sort(slots, order);
    }
    Ok(())
}

/// Which of `count` sorted items is the one that `order` looks for; it says how an item stands to that one.
#[cfg_attr(small, inline(never))]
pub(crate) fn search(count: u32, order: &mut dyn FnMut(u32) -> Ordering) -> Option<u32> {
    let (mut from, mut to) = (0, count);
    while from < to {
        let middle = from.midpoint(to);
        match order(middle) {
            Ordering::Less => from = middle.wrapping_add(1),
            Ordering::Equal => return Some(middle),
            Ordering::Greater => to = middle,
        }
    }
    None
}

/// Number `at` of an index array of `count` in the tail.
pub(crate) fn index(tail: Tail<'_>, place: TailRef, count: u32, at: u32) -> Option<u32> {
    if at < count { tail.get::<U32>(nth::<U32>(place, at)).map(|slot| slot.get()) } else { None }
}

/// The same where each index has an id of its own below `count`: in linear time. False where that is not so.
pub(crate) fn by_dense_id(
    arena: &mut Arena<'_>,
    count: u32,
    id: impl Fn(Tail<'_>, u32) -> Option<u32>,
    place: &mut TailRef,
) -> Result<bool, ArenaFull> {
    let len = usize::try_from(count).unwrap_or(usize::MAX);
    let mark = arena.mark();
    *place = arena.alloc_tail::<U32>(len)?;
    let dense = arena.last_in_tail::<U32>(len).is_some_and(|(slots, tail)| {
        slots.fill(U32::MAX_VALUE);
        (0..count).all(|index| {
            let at = id(tail, index).and_then(|id| usize::try_from(id).ok());
            let slot = at.and_then(|at| slots.get_mut(at)).filter(|slot| **slot == U32::MAX_VALUE);
            slot.map(|slot| slot.set(index)).is_some()
        })
    });
    if !dense {
        arena.release_tail(mark);
    }
    Ok(dense)
}

#[cfg(test)]
mod tests;
