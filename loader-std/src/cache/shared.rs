//! The slot behind its lock: waiting, waking, and guards that give back what a load holds.

use super::slot::{Role, Slot, Snapshot, Step};
use super::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::fmt;
use std::mem;
use std::ops::Deref;
use std::sync::PoisonError;

/// The single-slot cache of parse results.
///
/// No lock is held while a record is made, used or dropped, so this lock is the first of the order in
/// staging.md §6.4 and never meets a device call. Waiting has no time limit, as in the reference: a
/// parse must not load the same key on its own thread.
pub struct ParseCache<K, T> {
    slot: Mutex<Slot<K, T>>,
    settled: Condvar,
}

/// What [`ParseCache::enter`] answers.
#[derive(Debug)]
pub enum Entry<'c, K: Eq, T> {
    /// Parse, then publish.
    Creator(Creator<'c, K, T>),
    /// Use this record.
    Reuse(Parsed<'c, K, T>),
    /// Parse privately.
    Independent {
        /// A creator was waited for, and failed.
        waited: bool,
    },
}

impl<K: Eq, T> ParseCache<K, T> {
    /// A cache whose slot is free.
    #[must_use]
    pub fn new() -> Self {
        Self { slot: Mutex::new(Slot::Uninit), settled: Condvar::new() }
    }

    /// A poisoned lock is taken like any other: nothing below panics while it holds one.
    fn lock(&self) -> MutexGuard<'_, Slot<K, T>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The slot's state and counters, for reports and tests; old as soon as it is returned.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.lock().snapshot()
    }

    /// Takes part in the slot. Blocks while another load creates the record of the same key.
    #[must_use]
    pub fn enter(&self, key: K) -> Entry<'_, K, T> {
        let mut slot = self.lock();
        let mut step = slot.enter(key);
        let waited = matches!(step, Step::Wait);
        while matches!(step, Step::Wait) {
            slot = self.settled.wait(slot).unwrap_or_else(PoisonError::into_inner);
            step = slot.settle();
        }
        drop(slot);
        match step {
            Step::Create => Entry::Creator(Creator { cache: self }),
            Step::Share(record) => {
                let hold = Hold { cache: self };
                Entry::Reuse(Parsed { record, _hold: Some(hold), role: Role::Reuse { waited } })
            }
            Step::Wait | Step::Alone => Entry::Independent { waited },
        }
    }

    /// The record of `key`: shared if another load has or makes it, else from `parse` (S1 and S2).
    ///
    /// # Errors
    /// What `parse` returns, if this load had to parse. An error of another load is never passed on.
    pub fn load<E>(&self, key: K, parse: impl FnOnce() -> Result<T, E>) -> Result<Parsed<'_, K, T>, E> {
        match self.enter(key) {
            Entry::Creator(creator) => parse().map(|record| creator.publish(record)),
            Entry::Reuse(parsed) => Ok(parsed),
            Entry::Independent { waited } => parse().map(|record| Parsed::alone(record, waited)),
        }
    }
}

impl<K: Eq, T> Default for ParseCache<K, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Eq, T> fmt::Debug for ParseCache<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParseCache").field("slot", &self.snapshot()).finish_non_exhaustive()
    }
}

/// One count of the slot.
struct Hold<'c, K: Eq, T> {
    cache: &'c ParseCache<K, T>,
}

impl<K: Eq, T> Drop for Hold<'_, K, T> {
    fn drop(&mut self) {
        let last = self.cache.lock().release();
        // Two statements: a record may be large, or run code of its own, and the lock is open again here.
        drop(last);
    }
}

/// The duty to settle the slot. Dropping it, by an error or a panic too, counts as a failure: the
/// waiters wake and each parses for itself.
#[must_use = "dropping the creator fails the creation"]
pub struct Creator<'c, K: Eq, T> {
    cache: &'c ParseCache<K, T>,
}

impl<'c, K: Eq, T> Creator<'c, K, T> {
    /// Makes the record usable for every load with the same key. To be called after S2.
    pub fn publish(self, record: T) -> Parsed<'c, K, T> {
        let record = Arc::new(record);
        let cache = self.cache;
        // The slot is settled here instead of in `drop`; the creator's count passes to the hold.
        mem::forget(self);
        cache.lock().publish(Arc::clone(&record));
        cache.settled.notify_all();
        Parsed { record, _hold: Some(Hold { cache }), role: Role::Creator }
    }
}

impl<K: Eq, T> Drop for Creator<'_, K, T> {
    fn drop(&mut self) {
        self.cache.lock().fail();
        self.cache.settled.notify_all();
    }
}

impl<K: Eq, T> fmt::Debug for Creator<'_, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Creator").finish_non_exhaustive()
    }
}

/// A parse result that one load works with, until staging has returned (staging.md §3.5 R7, §15).
/// Dropping it gives the load's count back, whether the later stages succeeded or failed.
pub struct Parsed<'c, K: Eq, T> {
    // Before `hold`: this load's share of the record goes first, the slot's last.
    record: Arc<T>,
    _hold: Option<Hold<'c, K, T>>,
    role: Role,
}

impl<K: Eq, T> Parsed<'_, K, T> {
    /// A private record, with no part in the slot; `waited` as [`Entry::Independent`] said.
    #[must_use]
    pub fn alone(record: T, waited: bool) -> Self {
        Self { record: Arc::new(record), _hold: None, role: Role::Independent { waited } }
    }

    /// How this load came to the record.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }
}

impl<K: Eq, T> Deref for Parsed<'_, K, T> {
    type Target = Arc<T>;

    fn deref(&self) -> &Arc<T> {
        &self.record
    }
}

impl<K: Eq, T> fmt::Debug for Parsed<'_, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parsed").field("role", &self.role).finish_non_exhaustive()
    }
}
