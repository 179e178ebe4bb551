//! The slot of the parse cache as a plain state machine: every transition, no lock, no waiting.

use super::sync::Arc;
use std::fmt;
use std::mem;

/// State of the slot (container.md §12, Confirmed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Free.
    Uninit = 0,
    /// A creator is parsing.
    Pending = 1,
    /// The record can be used.
    Ready = 2,
    /// The creator failed, and not every waiter has gone on yet.
    Failed = 3,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uninit => "UNINIT",
            Self::Pending => "PENDING",
            Self::Ready => "READY",
            Self::Failed => "FAILED",
        })
    }
}

/// How a load came to its parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It parsed, and published the record.
    Creator,
    /// It shares the record of another load.
    Reuse {
        /// It had to wait for the creator.
        waited: bool,
    },
    /// It parsed for itself and has no part in the slot.
    Independent {
        /// It had waited for a creator that failed.
        waited: bool,
    },
}

impl Role {
    /// The runtime's debug text (container.md §12, Confirmed).
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Creator => "first worker, creating cache",
            Self::Reuse { waited: false } => "using cache",
            Self::Reuse { waited: true } => "using cache after wait",
            Self::Independent { waited: false } => "proceeding independently",
            Self::Independent { waited: true } => "cache creation failed, do my own",
        }
    }
}

/// The counters of the slot at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// State of the slot.
    pub state: State,
    /// Loads that hold the slot, waiters included.
    pub users: usize,
    /// Loads that wait for the creator.
    pub waiters: usize,
}

/// The slot. What the reference checks at run time (a free slot has no record, no users, no waiters)
/// cannot be written down here.
#[derive(Debug)]
pub(super) enum Slot<K, T> {
    Uninit,
    Pending { key: K, users: usize, waiters: usize },
    Ready { key: K, users: usize, record: Arc<T> },
    Failed { users: usize },
}

/// What a load is to do next.
#[derive(Debug)]
pub(super) enum Step<T> {
    Create,
    Share(Arc<T>),
    Wait,
    Alone,
}

impl<K: Eq, T> Slot<K, T> {
    pub(super) fn snapshot(&self) -> Snapshot {
        let (state, users, waiters) = match *self {
            Self::Uninit => (State::Uninit, 0, 0),
            Self::Pending { users, waiters, .. } => (State::Pending, users, waiters),
            Self::Ready { users, .. } => (State::Ready, users, 0),
            Self::Failed { users } => (State::Failed, users, 0),
        };
        Snapshot { state, users, waiters }
    }

    /// A load arrives. Every step but [`Step::Alone`] counts it as a user.
    pub(super) fn enter(&mut self, key: K) -> Step<T> {
        match self {
            Self::Uninit => {
                *self = Self::Pending { key, users: 1, waiters: 0 };
                Step::Create
            }
            Self::Pending { key: held, users, waiters } if *held == key => {
                *users += 1;
                *waiters += 1;
                Step::Wait
            }
            Self::Ready { key: held, users, record } if *held == key => {
                *users += 1;
                Step::Share(Arc::clone(record))
            }
            Self::Pending { .. } | Self::Ready { .. } | Self::Failed { .. } => Step::Alone,
        }
    }

    /// A waiter looks again. Its count keeps the slot from being freed, so the state it sees belongs to
    /// the creator it waited for. After a failure it gives the count back (container.md §12, Open Q6).
    pub(super) fn settle(&mut self) -> Step<T> {
        match self {
            Self::Pending { .. } => Step::Wait,
            Self::Ready { record, .. } => Step::Share(Arc::clone(record)),
            Self::Failed { .. } | Self::Uninit => {
                self.release();
                Step::Alone
            }
        }
    }

    /// The creator has a record; nobody waits any longer.
    pub(super) fn publish(&mut self, record: Arc<T>) {
        *self = match mem::replace(self, Self::Uninit) {
            Self::Pending { key, users, .. } => Self::Ready { key, users, record },
            other => unexpected(other),
        };
    }

    /// The creator has none; nobody waits any longer, and its own count is given back.
    pub(super) fn fail(&mut self) {
        *self = match mem::replace(self, Self::Uninit) {
            Self::Pending { users, .. } => Self::Failed { users },
            other => unexpected(other),
        };
        self.release();
    }

    /// Gives one count back. The last one frees the slot and takes the record out, for the caller to drop
    /// it when the lock is open again.
    pub(super) fn release(&mut self) -> Option<Arc<T>> {
        let users = match self {
            Self::Uninit => return None,
            Self::Pending { users, .. } | Self::Ready { users, .. } | Self::Failed { users } => users,
        };
        *users -= 1;
        if *users > 0 {
            return None;
        }
        match mem::replace(self, Self::Uninit) {
            Self::Ready { record, .. } => Some(record),
            _ => None,
        }
    }
}

/// The guards of [`super::shared`] allow no such call; a release build leaves the slot as it was.
fn unexpected<S>(slot: S) -> S {
    debug_assert!(false, "only a creator settles the slot, and only once");
    slot
}
