//! Judges what a loader claims: I2, I6, I7, I9 to I20, and with them the device's own invariants.
//!
//! [`SimState::judge`] takes everything that is on the device and judges all of it. [`SimState::judge_core`] judges one
//! loaded core alone, also while other threads load and unload. A failed load is judged with a [`Checkpoint`] that was taken
//! before it.
//!
//! Programs and rings are read back. A store that keeps a digest alone cannot do that, and a digest says nothing about single
//! entries; but it tells whether bytes are those that were written. So a loader that is judged on such a store says what it
//! wrote ([`claim::HalfClaim::written`](super::claim::HalfClaim), [`claim::ImageClaim::written`](super::claim::ImageClaim)), the
//! digest proves it, and the invariants are judged on the proven bytes. Constants need nothing more, since their bytes are
//! claimed anyway. Without those bytes, and on a store that discards everything, I9 to I11 and I13 to I15 are not judged.

mod blocks;
mod image;
mod map;
mod ring;
mod source;

use super::claim::{Claims, CoreClaim};
use super::lock::{Lock, Sim};
use super::state::SimState;
use super::storage::Storage;
use super::violation::{Violation, check};

/// The device at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    hash: u64,
}

impl<S: Storage> SimState<S> {
    /// Judges the device with everything on it.
    ///
    /// # Errors
    /// The first invariant that does not hold; the device's own come first.
    pub fn judge(&mut self, claims: &Claims<'_>) -> Result<(), Violation> {
        self.audit()?;
        self.judge_live_set(claims)?;
        self.judge_pages(claims)?;
        for core in claims.models.iter().flat_map(|model| model.cores) {
            self.judge_core(core)?;
        }
        Ok(())
    }

    /// Judges one loaded core.
    ///
    /// # Errors
    /// The first of I6, I7 and I9 to I17 that does not hold.
    pub fn judge_core(&self, core: &CoreClaim<'_>) -> Result<(), Violation> {
        self.judge_blocks(core)?;
        self.judge_contents(core)?;
        core.rings.iter().try_for_each(|ring| self.judge_ring(core, ring))?;
        core.images.iter().try_for_each(|image| self.judge_image(core, image))
    }

    /// The device as it is now.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { hash: self.hash() }
    }

    /// Judges a load that was refused: the device must be as at the checkpoint.
    ///
    /// # Errors
    /// I19.
    pub fn judge_unchanged(&self, before: &Checkpoint) -> Result<(), Violation> {
        let now = self.hash();
        check(now == before.hash, 19, "a refused load changed the device", now)
    }

    /// Judges a device from which everything was unloaded.
    ///
    /// # Errors
    /// I20 if more is live than the cores' own blocks; the device's own invariants; I2 if one of those is gone.
    pub fn judge_idle(&mut self, baseline: &Claims<'_>) -> Result<(), Violation> {
        let own = baseline.baseline.len();
        let left = self.live().count();
        check(left <= own, 20, "blocks that nobody unloaded", left.saturating_sub(own) as u64)?;
        self.judge(&Claims { baseline: baseline.baseline, ..Claims::default() })
    }
}

impl<S: Storage, L: Lock<SimState<S>>> Sim<S, L> {
    /// As [`SimState::judge`].
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn judge(&self, claims: &Claims<'_>) -> Result<(), Violation> {
        self.with(|state| state.judge(claims))
    }

    /// As [`SimState::judge_core`].
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn judge_core(&self, core: &CoreClaim<'_>) -> Result<(), Violation> {
        self.with(|state| state.judge_core(core))
    }

    /// As [`SimState::checkpoint`].
    pub fn checkpoint(&self) -> Checkpoint {
        self.with(|state| state.checkpoint())
    }

    /// As [`SimState::judge_unchanged`].
    ///
    /// # Errors
    /// I19.
    pub fn judge_unchanged(&self, before: &Checkpoint) -> Result<(), Violation> {
        self.with(|state| state.judge_unchanged(before))
    }

    /// As [`SimState::judge_idle`].
    ///
    /// # Errors
    /// I20, or another invariant.
    pub fn judge_idle(&self, baseline: &Claims<'_>) -> Result<(), Violation> {
        self.with(|state| state.judge_idle(baseline))
    }
}
