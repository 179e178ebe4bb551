//! Which process the runtime was initialised in: its forked children see state CHILD.

use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// No process has the number 0.
const NOWHERE: u32 = 0;

/// The process that initialised the runtime. Needs no lock, because a child may not wait for one.
#[derive(Debug, Default)]
pub(super) struct Home(AtomicU32);

impl Home {
    /// The calling process is the one.
    pub(super) fn settle(&self) {
        self.0.store(process::id(), Ordering::Relaxed);
    }

    /// Closed completely: any process may initialise the runtime again.
    pub(super) fn clear(&self) {
        self.0.store(NOWHERE, Ordering::Relaxed);
    }

    /// True in a process that was forked from the one that initialised the runtime.
    pub(super) fn is_elsewhere(&self) -> bool {
        let home = self.0.load(Ordering::Relaxed);
        home != NOWHERE && home != process::id()
    }
}
