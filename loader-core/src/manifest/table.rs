//! A growing table in the arena's tail: no copy when it grows, constant-time access.
//!
//! Chunks come in pairs of equal size (8, 8, 16, 16, 32, …), so at most a quarter of the room is
//! unused, and the list of chunks has a fixed length.

use crate::arena::{Arena, ArenaFull, Record, Tail, TailRef};
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Records in each chunk of the first pair.
const FIRST: u32 = 8;
/// Chunks at most: room for 16 · (2^22 − 1) records.
const CHUNKS: usize = 44;

/// The table's own record, 184 bytes.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Table {
    len: U32,
    pad: U32,
    chunks: [TailRef; CHUNKS],
}

const _: () = assert!(size_of::<Table>() == 184);

/// Where record `index` lies: chunk number, records in that chunk, position in it.
fn locate(index: u32) -> Option<(usize, u32, u32)> {
    let pairs = index.checked_div(FIRST.checked_mul(2)?)?.checked_add(1)?.ilog2();
    let size = FIRST.checked_shl(pairs)?;
    let before = FIRST.checked_mul(2)?.checked_mul(1u32.checked_shl(pairs)?.checked_sub(1)?)?;
    let within = index.checked_sub(before)?;
    let second = within >= size;
    let chunk = pairs.checked_mul(2)?.checked_add(u32::from(second))?;
    let at = if second { within.checked_sub(size)? } else { within };
    Some((usize::try_from(chunk).ok()?, size, at))
}

fn wide(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

impl Table {
    pub(crate) const EMPTY: Self = Self { len: U32::ZERO, pad: U32::ZERO, chunks: [TailRef::NULL; CHUNKS] };

    /// Number of records.
    pub(crate) fn len(&self) -> u32 {
        self.len.get()
    }

    /// Appends a record and returns its index.
    pub(crate) fn push<T: Record>(&mut self, arena: &mut Arena<'_>, record: T) -> Result<u32, ArenaFull> {
        let full = ArenaFull { needed: usize::MAX, available: arena.available() };
        let index = self.len();
        let (chunk, size, at) = locate(index).ok_or(full)?;
        let place = self.chunks.get_mut(chunk).ok_or(full)?;
        if place.is_null() {
            *place = arena.alloc_tail::<T>(wide(size))?;
        }
        let slots = arena.tail_slice_mut::<T>(*place, wide(size)).ok_or(full)?;
        *slots.get_mut(wide(at)).ok_or(full)? = record;
        self.len.set(index.saturating_add(1));
        Ok(index)
    }

    /// Record `index`.
    pub(crate) fn get<'m, T: Record>(&self, tail: Tail<'m>, index: u32) -> Option<&'m T> {
        if index >= self.len() {
            return None;
        }
        let (chunk, size, at) = locate(index)?;
        tail.slice::<T>(*self.chunks.get(chunk)?, wide(size))?.get(wide(at))
    }

    /// Record `index` of an unsealed table, to write.
    pub(crate) fn get_mut<'a, T: Record>(&self, arena: &'a mut Arena<'_>, index: u32) -> Option<&'a mut T> {
        if index >= self.len() {
            return None;
        }
        let (chunk, size, at) = locate(index)?;
        arena.tail_slice_mut::<T>(*self.chunks.get(chunk)?, wide(size))?.get_mut(wide(at))
    }
}

#[cfg(test)]
mod tests;
