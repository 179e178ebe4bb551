//! The second relocation (staging.md §10.7): pointers into a ring's own storage become addresses.
//!
//! A pass of its own over the entries of an indirect-copy ring, after they are made and before they are
//! written. An entry may carry, instead of a tensor's address, an offset into the storage of one half of
//! the ring; two tag bits say which. No descriptor of a file can say so: such entries come from the
//! lowering of `c4`, which is not known (R6), so the pass finds none in a file's own rings and makes sure
//! that no address is mistaken for one.

use crate::device::DevAddr;
use crate::error::{Error, Stage, StageCode};
use crate::plan::ring::{Entry, Half, rebase, ring_pointer};

/// Where the halves of a ring lie; `None` for one without storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingStorage {
    /// First entry of the half that reads.
    pub tx: Option<DevAddr>,
    /// First entry of the half that writes.
    pub rx: Option<DevAddr>,
}

impl RingStorage {
    const fn of(&self, half: Half) -> Option<DevAddr> {
        match half {
            Half::Tx => self.tx,
            Half::Rx => self.rx,
        }
    }
}

/// Replaces every ring pointer among `entries` and gives their number.
///
/// # Errors
/// `RingTags` for an address with both tags, `EmptyRing` for a pointer into a half without storage,
/// `RingPointerWide` if the sum leaves 64 bits. Entries before the fault are already replaced.
pub fn relocate(entries: &mut [Entry], storage: &RingStorage) -> Result<u64, Error> {
    let fault = |code, address| Error::new(Stage::Stage, code).numbers(address, 0);
    let mut moved = 0u64;
    for entry in entries {
        let tagged = entry.address.get();
        let found = ring_pointer(tagged).map_err(|both| fault(StageCode::RingTags, both))?;
        let Some((half, offset)) = found else { continue };
        let base = storage.of(half).ok_or_else(|| fault(StageCode::EmptyRing, tagged))?;
        let address = base.0.checked_add(offset).ok_or_else(|| fault(StageCode::RingPointerWide, tagged))?;
        entry.address = address.into();
        moved = moved.saturating_add(1);
    }
    Ok(moved)
}

/// Moves every address in `[base, base + size)` to `new` and gives their number; the others stay.
pub fn rebase_all(entries: &mut [Entry], base: u64, size: u64, new: u64) -> u64 {
    let mut moved = 0u64;
    for entry in entries {
        let old = entry.address.get();
        let address = rebase(old, base, size, new);
        moved = moved.saturating_add(u64::from(address != old));
        entry.address = address.into();
    }
    moved
}
