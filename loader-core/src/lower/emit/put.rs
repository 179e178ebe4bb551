//! Writing records to their places.

use super::Emit;
use super::pools::{Pool, bytes};
use crate::arena::{ArenaRef, Record};
use crate::lower::input::{BlobIn, Input};
use crate::lower::record::{Blob, BlobId, BlobKind};
use zerocopy::little_endian::{U32, U64};

impl<I: Input> Emit<'_, '_, I> {
    /// Takes zeroed records at the arena's head; null for none.
    pub(super) fn alloc<T: Record>(&mut self, count: u32) -> ArenaRef {
        self.take(size_of::<T>(), count)
    }

    #[inline(never)]
    pub(super) fn take(&mut self, size: usize, count: u32) -> ArenaRef {
        self.found.bytes = self.found.bytes.saturating_add(bytes(size, count));
        let taken = usize::try_from(count).ok().and_then(|count| self.arena.take_head(size, count).ok());
        self.lost |= taken.is_none();
        taken.unwrap_or(ArenaRef::NULL)
    }

    /// A record, to fill where it lies.
    pub(super) fn get_mut<T: Record>(&mut self, place: ArenaRef) -> Option<&mut T> {
        self.nth_mut(place, 0)
    }

    /// Element `index` of an array, to fill where it lies.
    pub(super) fn nth_mut<T: Record>(&mut self, array: ArenaRef, index: u32) -> Option<&mut T> {
        let bytes = self.bytes_mut(array, index, size_of::<T>());
        T::mut_from_prefix(bytes).ok().map(|(record, _)| record)
    }

    /// The bytes of element `index`; none if it has no place.
    #[inline(never)]
    fn bytes_mut(&mut self, array: ArenaRef, index: u32, size: usize) -> &mut [u8] {
        let bytes = self.arena.bytes_mut(array.element(index, size), size).unwrap_or(&mut []);
        self.lost |= bytes.is_empty();
        bytes
    }

    pub(super) fn put<T: Record>(&mut self, place: ArenaRef, record: &T) {
        self.put_nth(place, 0, record);
    }

    /// Writes element `index` of an array.
    pub(super) fn put_nth<T: Record>(&mut self, array: ArenaRef, index: u32, record: &T) {
        self.put_bytes(array, index, record.as_bytes());
    }

    #[inline(never)]
    fn put_bytes(&mut self, array: ArenaRef, index: u32, record: &[u8]) {
        crate::bytes::copy(self.bytes_mut(array, index, record.len()), record);
    }

    /// Copies bytes to a place.
    #[inline(never)]
    pub(super) fn fill(&mut self, off: u32, bytes: &[u8]) {
        let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let slot = self.arena.octets_mut(ArenaRef { off: U32::new(off), len: U32::new(len) });
        match slot.filter(|slot| slot.len() == bytes.len()) {
            Some(slot) => crate::bytes::copy(slot, bytes),
            None => self.lost = true,
        }
    }

    /// A name with a NUL behind it.
    #[inline(never)]
    pub(super) fn alloc_name(&mut self, name: &[u8]) -> ArenaRef {
        let len = u32::try_from(name.len()).unwrap_or(u32::MAX);
        let place = self.alloc::<u8>(len.saturating_add(1));
        self.text(place, name)
    }

    /// Copies a name to a place of zeros that is longer; the reference counts the name.
    pub(super) fn text(&mut self, place: ArenaRef, name: &[u8]) -> ArenaRef {
        self.fill(place.off.get(), name);
        ArenaRef { len: U32::new(place.count().saturating_sub(1)), ..place }
    }

    /// Adds a row to the blob table. Blobs without bytes take none.
    #[inline(never)]
    pub(super) fn blob(&mut self, kind: BlobKind, blob: BlobIn, off: u64) -> BlobId {
        if blob.len == 0 {
            return BlobId::default();
        }
        let (member, off, len) = (U32::new(blob.member.0), U64::new(off), U64::new(blob.len));
        let place = self.part(Pool::Blobs, 1);
        self.put(place, &Blob { member, copied: U32::ZERO, off, len });
        BlobId { index_plus_one: U32::new(self.found.used(Pool::Blobs)), kind }
    }
}
