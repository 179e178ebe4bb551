//! Microcode libraries that the models of a core share (staging.md §7.7 B12, §14.3, §15).
//!
//! A model with exactly one library puts it into memory of the core, not of its own (Confirmed); the next such model finds
//! it there and only counts. What makes two libraries the same is Open: here the same core and the same bytes, by length and
//! SHA-256. A model with several libraries owns them all.
//!
//! Who finds a library does not fill it. So a caller places the next model with one only after the model that brought it
//! was filled (staging.md §6.4, lock 4).

use super::block::{self, Taken, Want};
use super::programs::overlap;
use crate::container::{Algorithm, Hasher};
use crate::device::{CoreId, Device, MemHandle};
use crate::error::Error;
use crate::layout::SMALL;
use crate::lower::record::Blob;
use crate::source::MemberId;

/// What a library is told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibraryKey {
    /// Its length in bytes.
    pub bytes: u64,
    /// Its SHA-256.
    pub digest: [u8; 32],
}

/// One library in the memory of a core.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// The core.
    pub core: CoreId,
    /// Its block.
    pub taken: Taken,
    /// What it is.
    pub key: LibraryKey,
    /// Models that use it.
    pub refs: u32,
}

/// The libraries of all cores of one device, in memory of the caller. A library that finds no free entry becomes its
/// model's own.
#[derive(Debug, Default)]
pub struct LibraryTable<'g> {
    slots: &'g mut [Option<Library>],
}

impl<'g> LibraryTable<'g> {
    /// The table over these slots, with what they hold.
    pub const fn new(slots: &'g mut [Option<Library>]) -> Self {
        Self { slots }
    }

    /// All libraries.
    pub fn iter(&self) -> impl Iterator<Item = &Library> {
        self.slots.iter().flatten()
    }

    /// True if a core holds that library already.
    pub(super) fn holds(&self, core: CoreId, key: &LibraryKey) -> bool {
        !SMALL && self.iter().any(|library| library.core == core && library.key == *key)
    }

    /// Entries. Where small code goes before speed, one model is loaded at a time and shares with none.
    const fn entries(&mut self) -> &mut [Option<Library>] {
        if SMALL { &mut [] } else { self.slots }
    }

    /// A reference to a core's library, which is taken from the device if it is not there yet. `None` if it is not there and
    /// has no room in the table.
    ///
    /// # Errors
    /// The device's refusal.
    pub(super) fn share<D: Device>(
        &mut self,
        device: &D,
        core: CoreId,
        key: LibraryKey,
        want: &Want<'_>,
    ) -> Result<Option<Library>, Error> {
        let same = |library: &&mut Library| library.core == core && library.key == key;
        if let Some(found) = self.entries().iter_mut().flatten().find(same) {
            found.refs = found.refs.saturating_add(1);
            return Ok(Some(*found));
        }
        let Some(free) = self.entries().iter_mut().find(|slot| slot.is_none()) else { return Ok(None) };
        let taken = block::take(device, core, want)?;
        Ok(Some(*free.insert(Library { core, taken, key, refs: 1 })))
    }

    /// Drops a reference; the last one frees the library.
    pub fn release<D: Device>(&mut self, device: &D, handle: MemHandle) {
        let own = |slot: &&mut Option<Library>| slot.is_some_and(|library| library.taken.handle == handle);
        let Some(slot) = self.entries().iter_mut().find(own) else { return };
        let Some(library) = slot else { return };
        library.refs = library.refs.saturating_sub(1);
        if library.refs == 0 {
            *slot = None;
            block::give_back(device, handle);
        }
    }
}

/// A library whose bytes go by while the instruction streams are read.
#[derive(Debug)]
pub(super) struct Sought<'m> {
    pub(super) blob: &'m Blob,
    hasher: Hasher,
}

impl<'m> Sought<'m> {
    /// Not inlined: the digest's state is large.
    #[inline(never)]
    pub(super) fn new(blob: &'m Blob) -> Self {
        Self { blob, hasher: Hasher::new(Algorithm::Sha256) }
    }

    pub(super) fn data(&mut self, id: MemberId, offset: u64, bytes: &[u8]) {
        let Some(blob) = Some(self.blob).filter(|blob| blob.member_id() == Some(id)) else { return };
        if let Some((_, part)) = overlap(blob.off.get(), blob.len.get(), offset, bytes) {
            self.hasher.update(part);
        }
    }

    #[inline(never)]
    pub(super) fn key(&self) -> LibraryKey {
        LibraryKey { bytes: self.blob.len.get(), digest: self.hasher.clone().finish() }
    }
}
