//! The life of a load (staging.md §6.3).

use loader_core::plan::record::STATE_READY;
use std::sync::atomic::{AtomicU8, Ordering};

/// Where a model is in its life. States come one after the other; a load that fails goes to [`State::Gone`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum State {
    /// Its blocks are taken.
    Planned,
    /// Its cores are being filled.
    Building,
    /// It is whole, but nobody knows it.
    Resident,
    /// It has a public handle.
    Registered,
    /// It is out of the registry and waits for its last user.
    Draining,
    /// Its memory is given back.
    Gone,
}

impl State {
    const ALL: [Self; 6] =
        [Self::Planned, Self::Building, Self::Resident, Self::Registered, Self::Draining, Self::Gone];

    /// The number that the reference would store: 4 for a registered model (X6), else the enumeration's
    /// STARTING 1, STOPPING 3 and INVALID 0 (Inferred).
    #[must_use]
    pub const fn abi_state(self) -> u32 {
        match self {
            Self::Planned | Self::Building | Self::Resident => 1,
            Self::Registered => STATE_READY,
            Self::Draining => 3,
            Self::Gone => 0,
        }
    }

    /// The word for it in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Building => "building",
            Self::Resident => "resident",
            Self::Registered => "ready",
            Self::Draining => "draining",
            Self::Gone => "gone",
        }
    }
}

/// A [`State`] that only moves on.
#[derive(Debug)]
pub(super) struct Life(AtomicU8);

impl Life {
    pub(super) const fn new() -> Self {
        Self(AtomicU8::new(State::Planned as u8))
    }

    /// Moves on to `state`; an earlier one changes nothing.
    pub(super) fn reach(&self, state: State) {
        self.0.fetch_max(state as u8, Ordering::AcqRel);
    }

    pub(super) fn state(&self) -> State {
        State::ALL.get(usize::from(self.0.load(Ordering::Acquire))).copied().unwrap_or(State::Gone)
    }
}

#[cfg(test)]
mod tests {
    use super::{Life, State};

    #[test]
    fn a_life_moves_on_only() {
        let life = Life::new();
        for state in State::ALL {
            life.reach(state);
            assert_eq!(life.state(), state);
            life.reach(State::Planned);
            assert_eq!(life.state(), state);
        }
        assert_eq!(State::ALL.map(State::abi_state), [1, 1, 1, 4, 3, 0]);
        assert_eq!(State::Registered.name(), "ready");
    }
}
