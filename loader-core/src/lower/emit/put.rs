//! Writing records to their places.

use super::Emit;
use crate::arena::{ArenaRef, Record};
use crate::lower::input::{BlobIn, Input};
use crate::lower::measure::wide;
use crate::lower::record::{Blob, BlobId, BlobKind};
use zerocopy::little_endian::{U32, U64};

impl<I: Input> Emit<'_, '_, I> {
    /// Takes zeroed records at the arena's head; null for none.
    pub(super) fn alloc<T: Record>(&mut self, count: u64) -> ArenaRef {
        self.take(size_of::<T>(), count)
    }

    #[inline(never)]
    fn take(&mut self, size: usize, count: u64) -> ArenaRef {
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
        T::mut_from_bytes(self.bytes_mut(array, index, size_of::<T>())?).ok()
    }

    #[inline(never)]
    fn bytes_mut(&mut self, array: ArenaRef, index: u32, size: usize) -> Option<&mut [u8]> {
        let bytes = self.arena.bytes_mut(array.element(index, size), size);
        // None lies at null.
        let bytes = bytes.filter(|bytes| !bytes.is_empty());
        self.lost |= bytes.is_none();
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
        if let Some(bytes) = self.bytes_mut(array, index, record.len()) {
            crate::bytes::copy(bytes, record);
        }
    }

    /// The next element of an array that is filled from the first to the last, which leaves the rest.
    pub(super) fn next<T: Record>(&mut self, rest: &mut ArenaRef) -> ArenaRef {
        self.next_of(rest, size_of::<T>())
    }

    #[inline(never)]
    fn next_of(&mut self, rest: &mut ArenaRef, size: usize) -> ArenaRef {
        let next = rest.element(0, size);
        *rest = ArenaRef { len: U32::new(rest.count().saturating_sub(1)), ..rest.element(1, size) };
        next
    }

    /// Copies bytes to a place.
    #[inline(never)]
    pub(super) fn fill(&mut self, off: u32, bytes: &[u8]) {
        let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let slot = self.arena.slice_mut::<u8>(ArenaRef { off: U32::new(off), len: U32::new(len) });
        match slot.filter(|slot| slot.len() == bytes.len()) {
            Some(slot) => crate::bytes::copy(slot, bytes),
            None => self.lost = true,
        }
    }

    /// Takes bytes from the front of a pool of bytes.
    #[inline(never)]
    pub(super) fn part(&mut self, pool: &mut ArenaRef, bytes: u32) -> ArenaRef {
        let Some(rest) = pool.len.get().checked_sub(bytes) else {
            self.lost = true;
            return ArenaRef::NULL;
        };
        let part = ArenaRef { len: U32::new(bytes), ..*pool };
        *pool = ArenaRef { off: U32::new(pool.off.get().saturating_add(bytes)), len: U32::new(rest) };
        part
    }

    /// A name with a NUL behind it.
    pub(super) fn alloc_name(&mut self, name: &[u8]) -> ArenaRef {
        let mut pool = self.alloc::<u8>(wide(name.len()).saturating_add(1));
        self.pool(&mut pool, name)
    }

    /// Copies a name and a NUL to the front of a pool; the reference does not count the NUL.
    #[inline(never)]
    pub(super) fn pool(&mut self, pool: &mut ArenaRef, name: &[u8]) -> ArenaRef {
        let len = u32::try_from(name.len()).unwrap_or(u32::MAX);
        let part = self.part(pool, len.saturating_add(1));
        self.fill(part.off.get(), name);
        ArenaRef { len: U32::new(len), ..part }
    }

    /// Copies a name to the pool of the subgraph.
    pub(super) fn name(&mut self, name: &[u8]) -> ArenaRef {
        let mut names = self.names;
        let place = self.pool(&mut names, name);
        self.names = names;
        place
    }

    /// Adds a row to the blob table. Blobs without bytes take none.
    #[inline(never)]
    pub(super) fn blob(&mut self, kind: BlobKind, blob: Option<BlobIn>, off: u64) -> BlobId {
        let Some(BlobIn { member, len }) = blob.filter(|blob| blob.len > 0) else {
            return BlobId::default();
        };
        let (member, off, len) = (U32::new(member.0), U64::new(off), U64::new(len));
        self.put_nth(self.blobs, self.blobs_used, &Blob { member, copied: U32::ZERO, off, len });
        self.blobs_used = self.blobs_used.saturating_add(1);
        BlobId { index_plus_one: U32::new(self.blobs_used), kind }
    }
}
