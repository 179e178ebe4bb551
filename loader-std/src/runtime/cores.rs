//! Logical cores: who holds which, and the claim that gives one back.

use super::Runtime;
use loader_core::container::guard::{Claim, Claims};
use loader_core::error::Error;
use std::sync::Arc;

/// What happens to a load that names a core which another load holds (container.md §6.4 has no status for
/// it, Open).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Busy {
    /// It joins: a core keeps many models (staging.md §6.2 has a registry of them per core), and the core is
    /// free again when the last load gives it back. -1 still takes only a core that nobody holds.
    #[default]
    Share,
    /// It is refused with C111 (status 9): one load per core.
    Refuse,
}

/// The logical cores of a runtime, with a count of holders each.
#[derive(Debug)]
pub(super) struct Cores {
    claims: Claims,
    held: Vec<Option<Held>>,
    busy: Busy,
}

#[derive(Debug)]
struct Held {
    claim: Claim,
    loads: usize,
}

impl Cores {
    pub(super) fn new(cores: u8, busy: Busy) -> Self {
        let held = (0..cores).map(|_| None).collect();
        Self { claims: Claims::new(cores), held, busy }
    }

    /// Takes core `vnc`, or for -1 the lowest free one.
    pub(super) fn take(&mut self, vnc: i32) -> Result<u8, Error> {
        if let Some(core) = self.join(vnc) {
            return Ok(core);
        }
        let claim = self.claims.claim(vnc)?;
        let core = claim.core();
        if let Some(slot) = self.held.get_mut(usize::from(core)) {
            *slot = Some(Held { claim, loads: 1 });
        }
        Ok(core)
    }

    fn join(&mut self, vnc: i32) -> Option<u8> {
        if self.busy == Busy::Refuse {
            return None;
        }
        let core = u8::try_from(vnc).ok()?;
        let held = self.held.get_mut(usize::from(core))?.as_mut()?;
        held.loads += 1;
        Some(core)
    }

    pub(super) fn give_back(&mut self, core: u8) {
        let Some(slot) = self.held.get_mut(usize::from(core)) else { return };
        match slot {
            Some(held) if held.loads > 1 => held.loads -= 1,
            _ => {
                if let Some(Held { claim, .. }) = slot.take() {
                    self.claims.release(claim);
                }
            }
        }
    }

    pub(super) const fn in_use(&self) -> u32 {
        self.claims.in_use()
    }
}

/// A logical core that a load holds; dropping it gives the core back.
#[derive(Debug)]
#[must_use = "dropping a claim gives the core back"]
pub struct CoreClaim {
    runtime: Arc<Runtime>,
    core: u8,
}

impl CoreClaim {
    pub(super) const fn new(runtime: Arc<Runtime>, core: u8) -> Self {
        Self { runtime, core }
    }

    /// Index of the logical core.
    #[must_use]
    pub const fn index(&self) -> u8 {
        self.core
    }
}

impl Drop for CoreClaim {
    fn drop(&mut self) {
        self.runtime.release(self.core);
    }
}
