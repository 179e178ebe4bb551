//! Who initialises a core (driver-abi.md §7.13).

use super::dispatch::{Call, Fail, Reply, fail};
use super::driver::Driver;
use super::fault::{Action, When};
use super::memory::Memory;
use crate::abi::errno::E2BIG;
use crate::abi::record::{CinitSet, NcModelStartedCount};
use crate::abi::value::cinit::{COMPLETED, INVALID, STARTED};

/// How long a second caller waits for the initialiser: 10 times 500 ms.
const PATIENCE: u64 = 5_000_000;

impl<M: Memory> Driver<M> {
    /// Puts a thread to sleep in a request for at most `patience`; true once that is over.
    pub(super) fn slept(&mut self, tid: u32, request: u32, patience: u64) -> bool {
        let now = self.now;
        let deadline = *self.sleeping.entry((tid, request)).or_insert(now + patience);
        if now >= deadline {
            self.sleeping.remove(&(tid, request));
        }
        now >= deadline
    }

    /// The thread got what it waited for.
    pub(super) fn awake(&mut self, tid: u32, request: u32) {
        self.sleeping.remove(&(tid, request));
    }
}

impl<M: Memory> Call<'_, M> {
    pub(super) fn cinit_set_state(&mut self) -> Reply {
        let mut raw: CinitSet = self.arg()?;
        let core = raw.nc_id.get() as usize;
        if core >= self.device().cores.len() {
            return fail(E2BIG);
        }
        self.note("core", core as u64);
        self.note("state", u64::from(raw.state.get()));
        let state = self.device().cores[core].init;
        let new = match (raw.state.get(), state) {
            (STARTED, INVALID) => self.start_core(core)?,
            (STARTED, STARTED) => self.wait_core()?,
            (COMPLETED, STARTED) => COMPLETED,
            (_, state) => state,
        };
        self.driver.awake(self.caller.tid, self.request);
        self.device_mut().cores[core].init = new;
        raw.new_state.set(new);
        self.put(&raw)
    }

    /// The caller becomes the initialiser, or finds one that never completes.
    fn start_core(&mut self, core: usize) -> Result<u32, Fail> {
        let hangs = self.driver.faults.hit(When::Request(91), |action| action == Action::InitialiserHangs);
        if hangs.is_none() {
            return Ok(STARTED);
        }
        self.driver.injected = true;
        self.device_mut().cores[core].init = STARTED;
        self.wait_core()
    }

    /// Sleeps while somebody else initialises; the state afterwards.
    fn wait_core(&mut self) -> Result<u32, Fail> {
        if self.driver.slept(self.caller.tid, self.request, PATIENCE) {
            Ok(STARTED)
        } else {
            Err(Fail::Blocked)
        }
    }

    pub(super) fn model_started_count(&mut self) -> Reply {
        let mut raw: NcModelStartedCount = self.arg()?;
        let count = self.device().cores.get(raw.nc_id.get() as usize).map(|core| core.started);
        let Some(count) = count else { return fail(E2BIG) };
        raw.started_count.set(count);
        self.put(&raw)
    }
}
