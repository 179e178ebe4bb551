//! Delays that reorder the threads of a load: the same seed delays the same operations of a core.

use super::digest::mix;
use super::ledger::MAX_CORES;

/// How long each operation makes its thread wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delays {
    seed: Option<u64>,
    done: [u32; MAX_CORES],
}

impl Delays {
    pub(super) const NONE: Self = Self { seed: None, done: [0; MAX_CORES] };

    pub(super) const fn seeded(seed: u64) -> Self {
        Self { seed: Some(seed), done: [0; MAX_CORES] }
    }

    /// Turns to wait after the next operation of a core; one core in three is mostly slow.
    pub(super) fn next(&mut self, core: u16) -> u32 {
        let Some(seed) = self.seed else { return 0 };
        let Some(done) = self.done.get_mut(usize::from(core)) else { return 0 };
        *done += 1;
        let slow = mix(seed ^ mix(u64::from(core))).is_multiple_of(3);
        let turns = mix(seed ^ mix(u64::from(core) << 32 | u64::from(*done))) % 16;
        if slow { turns as u32 } else { turns as u32 / 4 }
    }
}
