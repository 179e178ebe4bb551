//! One record of an array in the arena.

use crate::arena::{Arena, ArenaRef, Record};
use core::mem::size_of;
use zerocopy::little_endian::U32;

/// Where record `index` of an array lies, if there are so many.
#[inline(never)]
fn place_of(array: ArenaRef, index: usize, size: u32) -> Option<ArenaRef> {
    let index = u32::try_from(index).ok().filter(|&index| index < array.len.get())?;
    let off = array.off.get().checked_add(index.checked_mul(size)?)?;
    Some(ArenaRef { off: U32::new(off), len: U32::new(1) })
}

fn place<T>(array: ArenaRef, index: usize) -> Option<ArenaRef> {
    place_of(array, index, u32::try_from(size_of::<T>()).ok()?)
}

/// A record of an array.
pub(super) fn item<'a, T: Record>(arena: &'a Arena<'_>, array: ArenaRef, index: usize) -> Option<&'a T> {
    arena.get(place::<T>(array, index)?)
}

/// A record of an array, to write.
pub(super) fn item_mut<'a, T: Record>(
    arena: &'a mut Arena<'_>,
    array: ArenaRef,
    index: usize,
) -> Option<&'a mut T> {
    arena.get_mut(place::<T>(array, index)?)
}
