//! Where the judge reads what was written to a block.

use crate::sim::config::Content;
use crate::sim::digest;
use crate::sim::state::SimState;
use crate::sim::storage::Storage;

/// The content of a block from some address on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    /// The device's memory.
    Memory,
    /// What the loader says that it wrote there, and the digest agrees.
    Proven(u64, &'a [u8]),
    /// Nobody says.
    Unknown,
}

impl<S: Storage> SimState<S> {
    /// The source for a block that is written from `address` on; `None` if other bytes were written than `written`.
    pub(super) fn source<'a>(&self, address: u64, written: &'a [u8]) -> Option<Source<'a>> {
        match self.config.content {
            Content::Full => Some(Source::Memory),
            Content::Digest if !written.is_empty() => {
                let live = self.block_at(address)?;
                let slot = &self.storage.slots()[live.handle.slot as usize];
                let same = slot.digest == digest::hash(address, written);
                same.then_some(Source::Proven(address, written))
            }
            Content::Digest | Content::Discard => Some(Source::Unknown),
        }
    }

    /// Copies bytes at an address; what was not written reads as zeros.
    pub(super) fn fetch(&self, source: Source<'_>, address: u64, out: &mut [u8]) {
        match source {
            Source::Memory => self.copy_out(address, out),
            Source::Proven(start, written) => {
                out.fill(0);
                let at = address.checked_sub(start).and_then(|at| usize::try_from(at).ok());
                let rest = at.and_then(|at| written.get(at..)).unwrap_or(&[]);
                let count = rest.len().min(out.len());
                out[..count].copy_from_slice(&rest[..count]);
            }
            Source::Unknown => out.fill(0),
        }
    }
}
