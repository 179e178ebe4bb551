//! The std side of S0: the state of the runtime in this process and its logical cores (container.md §6).
//!
//! The checks themselves are pure and live in [`loader_core::container::guard`]; here is what they look
//! at. A load is admitted once, gets a [`CoreClaim`], and gives the core back by dropping it.
//!
//! ```
//! use loader_core::container::{Header, guard};
//! use loader_std::runtime::Runtime;
//!
//! let runtime = Runtime::new(8);
//! runtime.init()?;
//! let header = || Ok(Header::new(b"resnet"));
//! let first = runtime.admit(-1, -1, header)?;
//! let second = runtime.admit(-1, -1, header)?;
//! assert_eq!((first.core.index(), second.core.index()), (0, 1));
//! drop(first);
//! assert_eq!(runtime.admit(-1, -1, header)?.core.index(), 0);
//! # Ok::<(), loader_core::error::Error>(())
//! ```

mod cores;
mod process;

pub use cores::{Busy, CoreClaim};

use cores::Cores;
use loader_core::container::Header;
use loader_core::container::guard::{self, RuntimeState};
use loader_core::error::Error;
use loader_core::policy::Policy;
use process::Home;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The runtime of one process: its state and its logical cores.
#[derive(Debug)]
pub struct Runtime {
    home: Home,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: RuntimeState,
    cores: Cores,
}

/// A load that passed S0.
#[derive(Debug)]
pub struct Admission {
    /// The file's header.
    pub header: Header,
    /// The logical core of the load.
    pub core: CoreClaim,
}

impl Runtime {
    /// A runtime in state START over `cores` logical cores (at most 128), with [`Busy::Share`].
    #[must_use]
    pub fn new(cores: u8) -> Arc<Self> {
        Self::with_policy(cores, Busy::default())
    }

    /// As [`Self::new`], with a choice for an index that another load holds.
    #[must_use]
    pub fn with_policy(cores: u8, busy: Busy) -> Arc<Self> {
        let inner = Inner { state: RuntimeState::Start, cores: Cores::new(cores, busy) };
        Arc::new(Self { home: Home::default(), inner: Mutex::new(inner) })
    }

    /// A poisoned lock is taken like any other: nothing here panics while it holds one.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state as seen from the calling process.
    #[must_use]
    pub fn state(&self) -> RuntimeState {
        // A thread that the child does not have may have held the lock when it was forked, so the
        // child must not ask for it.
        if self.home.is_elsewhere() { RuntimeState::Child } else { self.lock().state }
    }

    /// START to INIT (`nrt_init`). Does nothing in state INIT.
    ///
    /// # Errors
    /// C103 while a close is in progress, C104 in a forked process.
    pub fn init(&self) -> Result<(), Error> {
        if self.home.is_elsewhere() {
            return RuntimeState::Child.check();
        }
        let mut inner = self.lock();
        if inner.state == RuntimeState::Start {
            self.home.settle();
            inner.state = RuntimeState::Init;
        }
        inner.state.check()
    }

    /// INIT to CLOSED, `teardown`, then CLOSED to START (`nrt_close`). Loads that come meanwhile get
    /// status 14, later ones 13 (container.md §6.2, §14 item 15). A panic in `teardown` ends in START too.
    ///
    /// Claims that are still held stay valid and count until they are dropped.
    ///
    /// # Errors
    /// C102 to C104 if the state is not INIT; nothing is done then.
    pub fn close(&self, teardown: impl FnOnce()) -> Result<(), Error> {
        if self.home.is_elsewhere() {
            return RuntimeState::Child.check();
        }
        let mut inner = self.lock();
        inner.state.check()?;
        inner.state = RuntimeState::Closed;
        drop(inner);
        let closing = Closing { runtime: self };
        teardown();
        drop(closing);
        Ok(())
    }

    /// Checks 1 to 6 of S0 in the reference's order. `preflight` stands for checks 3 to 5: it reads the
    /// header and judges it with [`guard::preflight`] and [`guard::lnc`].
    ///
    /// `vnc` is a logical core's index, or -1 for the next free one.
    ///
    /// # Errors
    /// C101 to C104, what `preflight` returns, then as [`Self::claim`].
    pub fn admit(
        self: &Arc<Self>,
        vnc: i32,
        vnc_count: i32,
        preflight: impl FnOnce() -> Result<Header, Error>,
    ) -> Result<Admission, Error> {
        guard::vnc_count(vnc_count)?;
        self.state().check()?;
        let header = preflight()?;
        Ok(Admission { header, core: self.claim(vnc)? })
    }

    /// [`Self::admit`] for a file in memory, as `nrt_load` gets it.
    ///
    /// # Errors
    /// As [`guard::enter`], then as [`Self::claim`].
    pub fn admit_buffer(
        self: &Arc<Self>,
        vnc: i32,
        vnc_count: i32,
        bytes: Option<&[u8]>,
        policy: &Policy,
    ) -> Result<Admission, Error> {
        let header = guard::enter(vnc_count, self.state(), bytes, policy)?;
        Ok(Admission { header, core: self.claim(vnc)? })
    }

    /// Check 6: takes logical core `vnc`, or for -1 the lowest free one.
    ///
    /// The state is looked at again under the same lock, so that no load slips past a close.
    ///
    /// # Errors
    /// C102 to C104; C109 (status 9) if -1 finds none free; C110 (2) if there is no such core; C111 (9) if
    /// it is held and the runtime was made with [`Busy::Refuse`].
    pub fn claim(self: &Arc<Self>, vnc: i32) -> Result<CoreClaim, Error> {
        if self.home.is_elsewhere() {
            RuntimeState::Child.check()?;
        }
        let mut inner = self.lock();
        inner.state.check()?;
        let core = inner.cores.take(vnc)?;
        drop(inner);
        Ok(CoreClaim::new(Arc::clone(self), core))
    }

    /// Logical cores that at least one load holds.
    #[must_use]
    pub fn cores_in_use(&self) -> u32 {
        if self.home.is_elsewhere() { 0 } else { self.lock().cores.in_use() }
    }

    fn release(&self, core: u8) {
        // A child holds copies of its parent's claims; the cores are the parent's.
        if !self.home.is_elsewhere() {
            self.lock().cores.give_back(core);
        }
    }
}

/// Ends a close, by a panic too.
struct Closing<'r> {
    runtime: &'r Runtime,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.runtime.home.clear();
        self.runtime.lock().state = RuntimeState::Start;
    }
}

#[cfg(test)]
mod tests;
