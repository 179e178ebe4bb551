//! Where a first-fit search may begin: so many blocks of one size take linear time.

use super::fit::Wanted;
use super::storage::NIL;

/// What one region is known to have no room for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hint {
    bytes: u64,
    align: u64,
    /// No block of so many bytes or more, so aligned or more, fits before this one; `NIL`: nothing is known.
    slot: u32,
}

impl Hint {
    pub(super) const NONE: Self = Self { bytes: 0, align: 0, slot: NIL };

    /// The block from which on to search; `NIL` for all.
    pub(super) const fn from(&self, wanted: Wanted) -> u32 {
        if wanted.bytes >= self.bytes && wanted.align >= self.align { self.slot } else { NIL }
    }

    /// The lowest fit was taken by `slot`. What is known of smaller blocks stays: it serves larger ones too.
    pub(super) const fn took(&mut self, wanted: Wanted, slot: u32) {
        if self.slot == NIL || (wanted.bytes <= self.bytes && wanted.align <= self.align) {
            *self = Self { bytes: wanted.bytes, align: wanted.align, slot };
        }
    }

    pub(super) const fn slot(&self) -> u32 {
        self.slot
    }

    /// A block at or before the hint is gone; `slot` is the one before it.
    pub(super) const fn back(&mut self, slot: u32) {
        self.slot = slot;
    }
}
