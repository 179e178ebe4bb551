//! The reader/writer lock of a core, keyed by a model's id (driver-abi.md §7.13).

use super::dispatch::{Call, Fail, Reply, fail};
use super::memory::Memory;
use crate::abi::errno::{EALREADY, EBUSY, EINVAL, ENOENT};
use crate::abi::record::Crwl;
use crate::abi::value::MAX_CORES_PER_DEVICE;

/// How long a writer waits at most.
const WRITER: u64 = 2_000_000;
/// How long a reader waits at most.
const READER: u64 = 500_000;

/// A core's lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelLock {
    writer: bool,
    tgid: u32,
    id: [u8; 32],
    readers: u32,
}

impl ModelLock {
    pub(super) const FREE: Self = Self { writer: false, tgid: 0, id: [0; 32], readers: 0 };

    /// Clears the lock if it belongs to the process.
    pub(super) fn forget(&mut self, tgid: u32) {
        if self.tgid == tgid {
            *self = Self::FREE;
        }
    }

    fn is(&self, tgid: u32, id: &[u8; 32]) -> bool {
        self.tgid == tgid && self.id == *id
    }
}

impl<M: Memory> Call<'_, M> {
    /// The model id and the core of the argument, and whether the device has that core.
    fn crwl(&mut self) -> Result<(u32, [u8; 32]), Fail> {
        let raw: Crwl = self.arg()?;
        let core = raw.nc_id.get();
        if core >= MAX_CORES_PER_DEVICE || core as usize >= self.device().cores.len() {
            return fail(EINVAL);
        }
        Ok((core, raw.uuid.value))
    }

    fn lock(&mut self, core: u32) -> &mut ModelLock {
        &mut self.device_mut().cores[core as usize].lock
    }

    /// Sleeps until the patience is over, then EBUSY.
    fn starve(&mut self, patience: u64) -> Reply {
        if self.driver.slept(self.caller.tid, self.request, patience) {
            fail(EBUSY)
        } else {
            Err(Fail::Blocked)
        }
    }

    pub(super) fn writer_enter(&mut self) -> Reply {
        let (core, id) = self.crwl()?;
        let (tgid, tid, request) = (self.caller.tgid, self.caller.tid, self.request);
        let lock = self.lock(core);
        if lock.writer || lock.readers > 0 {
            return self.starve(WRITER);
        }
        let current = lock.is(tgid, &id);
        *lock = ModelLock { writer: true, tgid, id, readers: 0 };
        self.driver.awake(tid, request);
        if current { fail(EALREADY) } else { Ok(0) }
    }

    pub(super) fn writer_downgrade(&mut self) -> Reply {
        let (core, id) = self.crwl()?;
        let tgid = self.caller.tgid;
        let lock = self.lock(core);
        if !lock.writer {
            return fail(EINVAL);
        }
        if !lock.is(tgid, &id) {
            return fail(ENOENT);
        }
        lock.writer = false;
        lock.readers = 1;
        self.device_mut().cores[core as usize].started += 1;
        Ok(0)
    }

    pub(super) fn reader_enter(&mut self) -> Reply {
        let (core, id) = self.crwl()?;
        let (tgid, tid, request) = (self.caller.tgid, self.caller.tid, self.request);
        let lock = self.lock(core);
        if lock.writer {
            return self.starve(READER);
        }
        let mine = lock.is(tgid, &id);
        lock.readers += u32::from(mine);
        self.driver.awake(tid, request);
        if mine { Ok(0) } else { fail(ENOENT) }
    }

    pub(super) fn reader_exit(&mut self) -> Reply {
        let (core, id) = self.crwl()?;
        let tgid = self.caller.tgid;
        let lock = self.lock(core);
        if !lock.is(tgid, &id) {
            return fail(ENOENT);
        }
        if lock.readers == 0 {
            return fail(EINVAL);
        }
        lock.readers -= 1;
        Ok(0)
    }
}
