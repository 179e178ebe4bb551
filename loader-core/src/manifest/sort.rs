//! Index arrays in order.

use super::table::{Named, Table};
use crate::arena::{Arena, ArenaFull, Tail, TailRef};
use crate::sort::heap_sort;
use core::cmp::Ordering;
use zerocopy::little_endian::U32;

/// How two indices stand to each other, by what stands in the tail.
type Order<'x> = &'x mut dyn FnMut(Tail<'_>, u32, u32) -> Ordering;

/// The indices of a table in the tail, sorted by the names of its records.
pub(crate) fn by_name<T: Named>(arena: &mut Arena<'_>, table: &Table) -> Result<TailRef, ArenaFull> {
    let mut order = |tail: Tail<'_>, a, b| table.name::<T>(tail, a).cmp(table.name::<T>(tail, b));
    sorted_indices(arena, table.len(), &mut order)
}

/// An array of the numbers 0 to `count` − 1 in the tail, sorted by what `order` reads from the tail.
#[inline(never)]
pub(crate) fn sorted_indices(
    arena: &mut Arena<'_>,
    count: u32,
    order: Order<'_>,
) -> Result<TailRef, ArenaFull> {
    let len = usize::try_from(count).unwrap_or(usize::MAX);
    let place = arena.alloc_tail::<U32>(len)?;
    let mark = arena.mark();
    let scratch = arena.alloc::<U32>(len)?;
    if let Some((slots, tail)) = arena.slice_mut_and_tail::<U32>(scratch).filter(|_| count > 0) {
        for (slot, number) in slots.iter_mut().zip(0..) {
            slot.set(number);
        }
        let mut order = |a: &U32, b: &U32| order(tail, a.get(), b.get()).then(a.get().cmp(&b.get()));
        // Producers write most tables in order.
        if !slots.is_sorted_by(|a, b| order(a, b) != Ordering::Greater) {
            heap_sort(slots, order);
        }
    }
    for at in 0..len {
        let number = arena.slice::<U32>(scratch).and_then(|slots| slots.get(at)).copied();
        let slot = arena.tail_slice_mut::<U32>(place, len).and_then(|slots| slots.get_mut(at));
        if let (Some(slot), Some(number)) = (slot, number) {
            *slot = number;
        }
    }
    arena.release_head(mark);
    Ok(place)
}

/// Number `at` of an index array of `count` in the tail.
#[inline(never)]
pub(crate) fn index(tail: Tail<'_>, place: TailRef, count: u32, at: u32) -> Option<u32> {
    let slots = tail.slice::<U32>(place, usize::try_from(count).ok()?)?;
    slots.get(usize::try_from(at).ok()?).map(|slot| slot.get())
}

/// The same where each index has an id of its own below `count`: in linear time and without scratch. `None`
/// where that is not so.
pub(crate) fn by_dense_id(
    arena: &mut Arena<'_>,
    count: u32,
    id: impl Fn(Tail<'_>, u32) -> Option<u32>,
) -> Result<Option<TailRef>, ArenaFull> {
    let len = usize::try_from(count).unwrap_or(usize::MAX);
    let mark = arena.mark();
    let place = arena.alloc_tail::<U32>(len)?;
    if let Some(slots) = arena.tail_slice_mut::<U32>(place, len) {
        slots.fill(U32::MAX_VALUE);
    }
    for index in 0..count {
        let at = id(arena.tail(), index).and_then(|id| usize::try_from(id).ok());
        let slots = arena.tail_slice_mut::<U32>(place, len);
        match slots.and_then(|slots| slots.get_mut(at?)).filter(|slot| **slot == U32::MAX_VALUE) {
            Some(slot) => slot.set(index),
            None => {
                arena.release_tail(mark);
                return Ok(None);
            }
        }
    }
    Ok(Some(place))
}

#[cfg(test)]
mod tests;
