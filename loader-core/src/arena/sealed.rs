//! Finished parts of an arena: plain data, independent of it.

use super::{ArenaRef, Record, TailRef, to_usize};
use core::mem::size_of;
use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

/// Sealed head bytes: finished records, addressed by [`ArenaRef`].
#[derive(Clone, Copy, Debug)]
pub struct Head<'m> {
    bytes: &'m [u8],
    base: usize,
}

impl<'m> Head<'m> {
    /// Head bytes that lie `base` bytes into their arena (for dumps read back and for tests).
    #[must_use]
    pub const fn from_bytes(bytes: &'m [u8], base: usize) -> Self {
        Self { bytes, base }
    }

    /// The bytes of this part, the null area included if it is the first part.
    #[must_use]
    pub const fn bytes(&self) -> &'m [u8] {
        self.bytes
    }

    /// One record.
    #[must_use]
    pub fn get<T: Record>(&self, place: ArenaRef) -> Option<&'m T> {
        T::ref_from_prefix(self.place(place, size_of::<T>())?).ok().map(|(record, _)| record)
    }

    /// An array; empty for null.
    #[must_use]
    pub fn slice<T: Record>(&self, place: ArenaRef) -> Option<&'m [T]> {
        <[T]>::ref_from_bytes(self.place(place, size_of::<T>())?).ok()
    }

    /// Bytes; none for null.
    pub(crate) fn octets(&self, place: ArenaRef) -> Option<&'m [u8]> {
        self.place(place, 1)
    }

    /// The bytes from a place on up to a NUL.
    pub(crate) fn text(&self, off: U32) -> Option<&'m [u8]> {
        let rest = self.bytes.get(to_usize(off).checked_sub(self.base)?..)?;
        rest.split(|&byte| byte == 0).next()
    }

    /// Where records of `size` bytes lie; one copy for all types of records.
    #[inline(never)]
    pub(super) fn place(&self, place: ArenaRef, size: usize) -> Option<&'m [u8]> {
        if place.is_null() {
            return Some(&[]);
        }
        let start = to_usize(place.off).checked_sub(self.base)?;
        self.bytes.get(start..start.checked_add(size.checked_mul(to_usize(place.len))?)?)
    }
}

/// Sealed tail bytes: finished tables, addressed by the [`TailRef`]s that were given out since the last seal.
#[derive(Clone, Copy, Debug)]
pub struct Tail<'m> {
    bytes: &'m [u8],
}

impl<'m> Tail<'m> {
    pub(super) const fn new(bytes: &'m [u8]) -> Self {
        Self { bytes }
    }

    /// One record.
    #[must_use]
    pub fn get<T: Record>(&self, place: TailRef) -> Option<&'m T> {
        T::ref_from_prefix(self.place(place, size_of::<T>(), 1)?).ok().map(|(record, _)| record)
    }

    /// An array of `count` records; empty for 0.
    #[must_use]
    #[cfg_attr(small, inline(never))]
    pub fn slice<T: Record>(&self, place: TailRef, count: usize) -> Option<&'m [T]> {
        <[T]>::ref_from_bytes(self.place(place, size_of::<T>(), count)?).ok()
    }

    /// `count` bytes; none for 0.
    pub(crate) fn octets(&self, place: TailRef, count: usize) -> Option<&'m [u8]> {
        self.place(place, 1, count)
    }

    #[inline(never)]
    pub(super) fn place(&self, place: TailRef, size: usize, count: usize) -> Option<&'m [u8]> {
        if count == 0 {
            return Some(&[]);
        }
        let start = self.bytes.len().checked_sub(to_usize(place.0))?;
        self.bytes.get(start..start.checked_add(size.checked_mul(count)?)?)
    }
}
