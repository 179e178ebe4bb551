//! Locks that know their place in the order, which the page of [`super`] states.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

thread_local! {
    /// One bit for every rank that this thread holds.
    static HELD: Cell<u16> = const { Cell::new(0) };
}

/// A mutex with a rank.
#[derive(Debug, Default)]
pub(super) struct Ranked<T, const RANK: u8> {
    inner: Mutex<T>,
}

/// A held [`Ranked`] lock.
#[derive(Debug)]
pub(super) struct Held<'l, T, const RANK: u8> {
    guard: MutexGuard<'l, T>,
}

impl<T, const RANK: u8> Ranked<T, RANK> {
    pub(super) const fn new(value: T) -> Self {
        Self { inner: Mutex::new(value) }
    }

    /// Takes the lock. One whose holder panicked still guards sound data: every change is one assignment or one
    /// insertion.
    ///
    /// # Panics
    /// In a debug build, if this thread holds a lock that comes later.
    pub(super) fn lock(&self) -> Held<'_, T, RANK> {
        let held = HELD.get();
        debug_assert!(held >> RANK == 0, "lock {RANK} is taken while {held:#b} are held");
        HELD.set(held | 1 << RANK);
        Held { guard: self.inner.lock().unwrap_or_else(PoisonError::into_inner) }
    }
}

impl<T, const RANK: u8> Deref for Held<'_, T, RANK> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T, const RANK: u8> DerefMut for Held<'_, T, RANK> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T, const RANK: u8> Drop for Held<'_, T, RANK> {
    fn drop(&mut self) {
        HELD.set(HELD.get() & !(1 << RANK));
    }
}

/// True if this thread may ask the device: it holds neither the parse cache's lock nor the registry's.
#[cfg(test)]
pub(super) fn may_call_device() -> bool {
    HELD.get() & 0b110 == 0
}
