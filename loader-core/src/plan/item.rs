//! One record of an array in the arena. Where it lies is computed in one place for all types of records.

use crate::arena::{Arena, ArenaRef, Record};
use crate::error::{Error, Stage};
use core::mem::size_of;
use zerocopy::little_endian::U32;

/// Bytes of a record; of one that a reference cannot count, none has a place.
fn size<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or(u32::MAX)
}

/// Element `index` of an array of elements of `size` bytes, as those bytes.
#[inline(never)]
fn place_of(array: ArenaRef, index: u32, size: u32) -> Option<ArenaRef> {
    if index >= array.len.get() {
        return None;
    }
    let off = array.off.get().checked_add(index.checked_mul(size)?)?;
    Some(ArenaRef { off: U32::new(off), len: U32::new(size) })
}

#[inline(never)]
fn bytes<'a>(arena: &'a Arena<'_>, array: ArenaRef, index: u32, size: u32) -> Option<&'a [u8]> {
    arena.slice(place_of(array, index, size)?)
}

#[inline(never)]
fn bytes_mut<'a>(arena: &'a mut Arena<'_>, array: ArenaRef, index: u32, size: u32) -> Option<&'a mut [u8]> {
    arena.slice_mut(place_of(array, index, size)?)
}

/// A reference to a record of an array.
pub(super) fn nth<T>(array: ArenaRef, index: u32) -> Option<ArenaRef> {
    place_of(array, index, size::<T>()).map(|place| ArenaRef { len: U32::new(1), ..place })
}

/// A record of an array.
pub(super) fn item<'a, T: Record>(arena: &'a Arena<'_>, array: ArenaRef, index: u32) -> Option<&'a T> {
    T::ref_from_bytes(bytes(arena, array, index, size::<T>())?).ok()
}

/// A record of an array, to write.
pub(super) fn item_mut<'a, T: Record>(
    arena: &'a mut Arena<'_>,
    array: ArenaRef,
    index: u32,
) -> Option<&'a mut T> {
    T::mut_from_bytes(bytes_mut(arena, array, index, size::<T>())?).ok()
}

/// Takes room for `count` records and says where, so that no caller has a refusal of its own to make.
pub(super) fn reserve<T: Record>(
    arena: &mut Arena<'_>,
    count: u32,
    place: &mut ArenaRef,
) -> Result<(), Error> {
    reserve_bytes(arena, size_of::<T>(), count, place)
}

/// The same for records of `size` bytes.
#[inline(never)]
pub(super) fn reserve_bytes(
    arena: &mut Arena<'_>,
    size: usize,
    count: u32,
    place: &mut ArenaRef,
) -> Result<(), Error> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    *place = arena.take_head(size, count).map_err(|full| Error::arena(Stage::Plan, full))?;
    Ok(())
}

/// A number of things as an index; what is too large is beyond the end of every array.
pub(super) fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
