//! A growing table in the arena's tail: no copy when it grows, constant-time access.
//!
//! Chunks come in pairs of equal size (8, 8, 16, 16, 32, …), so at most a quarter of the room is
//! unused. A table's own record lists the first chunks, which are all that most tables have; the list of
//! the others is in the tail like them.

use super::record::Text;
use crate::arena::{Arena, ArenaFull, Record, Tail, TailRef};
use crate::bytes::copy;
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Records in each chunk of the first pair.
const FIRST: u32 = 8;
/// Chunks that the record lists: room for 112 records.
const NEAR: usize = 6;
/// Other chunks at most: with them, room for 16 · (2^22 − 1) records.
const FAR: usize = 38;

/// The table's own record, 32 bytes.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Table {
    len: U32,
    near: [TailRef; NEAR],
    /// `FAR` places of chunks.
    far: TailRef,
}

const _: () = assert!(size_of::<Table>() == 32);

/// A record that begins with its name.
pub(crate) trait Named: Record {}

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
    pub(crate) const EMPTY: Self = Self { len: U32::ZERO, near: [TailRef::NULL; NEAR], far: TailRef::NULL };

    /// Number of records.
    pub(crate) fn len(&self) -> u32 {
        self.len.get()
    }

    /// Appends a record and returns its index.
    #[cfg(test)]
    pub(crate) fn push<T: Record>(&mut self, arena: &mut Arena<'_>, record: T) -> Result<u32, ArenaFull> {
        self.append(arena, record.as_bytes())
    }

    /// One copy for all types of records, as for [`Table::find`]; a host's compiler makes one for each.
    #[cfg_attr(small, inline(never))]
    #[cfg_attr(not(small), inline(always))]
    pub(crate) fn append(&mut self, arena: &mut Arena<'_>, record: &[u8]) -> Result<u32, ArenaFull> {
        let full = ArenaFull { needed: usize::MAX, available: arena.available() };
        let index = self.len();
        let (chunk, size, _) = locate(index).ok_or(full)?;
        if self.chunk(arena.tail(), chunk).is_null() {
            if chunk >= NEAR && self.far.is_null() {
                self.far = arena.alloc_tail::<TailRef>(FAR)?;
            }
            let place = arena.alloc_tail::<u8>(wide(size).saturating_mul(record.len()))?;
            *self.slot(arena, chunk).ok_or(full)? = place;
        }
        let place = self.place(arena.tail(), index, record.len());
        copy(arena.tail_octets_mut(place, record.len()).ok_or(full)?, record);
        self.len.set(index.saturating_add(1));
        Ok(index)
    }

    /// Where record `index` lies, or goes; null if no chunk was taken for it.
    #[cfg_attr(small, inline(never))]
    #[cfg_attr(not(small), inline(always))]
    fn place(&self, tail: Tail<'_>, index: u32, record: usize) -> TailRef {
        let Some((chunk, _, at)) = locate(index) else { return TailRef::NULL };
        let size = u32::try_from(record).unwrap_or(u32::MAX);
        let start = self.chunk(tail, chunk).0.get();
        TailRef(U32::new(start.saturating_sub(size.saturating_mul(at))))
    }

    /// Record `index`.
    pub(crate) fn get<'m, T: Record>(&self, tail: Tail<'m>, index: u32) -> Option<&'m T> {
        T::ref_from_bytes(self.find(tail, index, size_of::<T>())?).ok()
    }

    /// The bytes of record `index`.
    #[cfg_attr(small, inline(never))]
    #[cfg_attr(not(small), inline(always))]
    fn find<'m>(&self, tail: Tail<'m>, index: u32, record: usize) -> Option<&'m [u8]> {
        if index >= self.len() {
            return None;
        }
        tail.octets(self.place(tail, index, record), record)
    }

    /// The name of record `index`, which its record begins with; empty if there is none.
    pub(crate) fn name<'m, T: Named>(&self, tail: Tail<'m>, index: u32) -> &'m [u8] {
        self.name_of(tail, index, size_of::<T>())
    }

    #[cfg_attr(small, inline(never))]
    fn name_of<'m>(&self, tail: Tail<'m>, index: u32, record: usize) -> &'m [u8] {
        let name = self.find(tail, index, record).and_then(|bytes| Text::ref_from_prefix(bytes).ok());
        name.map_or(&[], |(name, _)| name.get(tail))
    }

    /// Record `index` of an unsealed table, to write.
    pub(crate) fn get_mut<'a, T: Record>(&self, arena: &'a mut Arena<'_>, index: u32) -> Option<&'a mut T> {
        T::mut_from_bytes(self.find_mut(arena, index, size_of::<T>())?).ok()
    }

    /// The bytes of record `index`, to write.
    #[cfg_attr(small, inline(never))]
    #[cfg_attr(not(small), inline(always))]
    fn find_mut<'a>(&self, arena: &'a mut Arena<'_>, index: u32, record: usize) -> Option<&'a mut [u8]> {
        if index >= self.len() {
            return None;
        }
        let place = self.place(arena.tail(), index, record);
        arena.tail_octets_mut(place, record)
    }

    /// Where a chunk lies; null if it was not taken yet.
    fn chunk(&self, tail: Tail<'_>, chunk: usize) -> TailRef {
        let far = |far: usize| tail.slice::<TailRef>(self.far, FAR)?.get(far);
        let place = match chunk.checked_sub(NEAR) {
            None => self.near.get(chunk),
            Some(_) if self.far.is_null() => None,
            Some(at) => far(at),
        };
        place.copied().unwrap_or(TailRef::NULL)
    }

    /// Where the place of a chunk is kept.
    fn slot<'a>(&'a mut self, arena: &'a mut Arena<'_>, chunk: usize) -> Option<&'a mut TailRef> {
        match chunk.checked_sub(NEAR) {
            None => self.near.get_mut(chunk),
            Some(far) => arena.tail_slice_mut::<TailRef>(self.far, FAR)?.get_mut(far),
        }
    }
}

#[cfg(test)]
mod tests;
