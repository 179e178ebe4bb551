//! Resets of cores and of the device (driver-abi.md §7.3).

use super::device::ResetRequest;
use super::dispatch::{Call, Fail, Reply};
use super::driver::Driver;
use super::fault::{Action, When};
use super::memory::Memory;
use crate::abi::errno::EINTR;
use crate::abi::record::{DeviceReady, DeviceReset};
use crate::abi::value::{cinit, device_state};
use loader_core::arch::Arch;

/// `nc_map` of a whole-device reset.
const WHOLE: u32 = u32::MAX;

impl<M: Memory> Driver<M> {
    /// The longest a reset may take before it counts as failed, in microseconds.
    const fn reset_limit(&self) -> u64 {
        match self.config.arch {
            Arch::Sunda => 120_000_000,
            Arch::Cayman | Arch::Mariana => 480_000_000,
        }
    }

    /// Destroys what a reset of the cores in `nc_map` destroys.
    fn wipe(&mut self, device: usize, nc_map: u32) {
        let per_core = self.devices[device].top_sp_queues.len() / self.devices[device].cores.len();
        for core in 0..self.devices[device].cores.len() {
            if nc_map != WHOLE && nc_map >> core & 1 == 0 {
                continue;
            }
            self.devices[device].cores[core].init = cinit::INVALID;
            self.devices[device].copies[core] = Default::default();
            self.drop_core_queues(device, core);
            (core * per_core..(core + 1) * per_core).for_each(|at| self.drop_top_sp_queues(device, at));
            let engines = &mut self.devices[device].engines[core * 16..(core + 1) * 16];
            engines.iter_mut().for_each(super::queue::Engine::forget);
        }
    }

    fn queue_reset(&mut self, device: usize, tgid: u32, nc_map: u32) {
        let fault = self
            .faults
            .hit(When::Request(104), |action| matches!(action, Action::ResetFails | Action::ResetHangs));
        self.injected |= fault.is_some();
        let failed = fault.is_some();
        let takes = match fault {
            Some(Action::ResetHangs) => self.reset_limit(),
            _ if self.config.no_reset => 0,
            _ => self.config.reset_us,
        };
        if !self.config.no_reset {
            self.wipe(device, nc_map);
        }
        let request = ResetRequest { tgid, whole: nc_map == WHOLE, done_at: self.now + takes, failed };
        self.devices[device].resets.push(request);
    }

    /// A reset that nobody in this process asked for (fault point 27).
    pub fn reset_by_other(&mut self, device: usize) {
        self.wipe(device, WHOLE);
    }

    /// Moves a device to the state RESET for that long, as the reset at bind or through sysfs does.
    pub fn reset_device(&mut self, index: u32, microseconds: u64) {
        let device = &mut self.devices[index as usize];
        device.state = device_state::RESET;
        device.ready_at = Some(self.now + microseconds);
        self.wipe(index as usize, WHOLE);
    }

    /// Whether a process waits for a reset of its own.
    pub(super) fn reset_pending(&self, device: usize, tgid: u32) -> bool {
        self.devices[device].resets.iter().any(|reset| reset.tgid == tgid && reset.done_at > self.now)
    }

    /// Microseconds until the process's own reset is done.
    pub(super) fn until_reset(&self, device: usize, tgid: u32) -> u64 {
        let mine = self.devices[device].resets.iter().filter(|reset| reset.tgid == tgid);
        mine.map(|reset| reset.done_at.saturating_sub(self.now)).max().unwrap_or(0).max(1)
    }
}

impl<M: Memory> Call<'_, M> {
    pub(super) fn nc_reset(&mut self) -> Reply {
        let mut raw: DeviceReset = self.arg()?;
        let tgid = self.caller.tgid;
        if self.device().resets.iter().any(|reset| reset.tgid == tgid) {
            return Err(Fail::Raw(1));
        }
        self.note("nc_map", u64::from(raw.nc_map.get()));
        self.driver.queue_reset(self.open.device, tgid, raw.nc_map.get());
        raw.request_id.set(tgid);
        self.put(&raw)
    }

    /// Waits for a request; gives the `result` field.
    fn wait_reset(&mut self, id: u32) -> Result<i32, Fail> {
        let now = self.driver.now;
        let Some(at) = self.device().resets.iter().position(|reset| reset.tgid == id) else { return Ok(1) };
        let killed = self.driver.faults.hit(When::Request(104), |action| action == Action::ResetKilled);
        self.driver.injected |= killed.is_some();
        let reset = self.device().resets[at];
        if killed.is_some() || self.caller.killed && reset.done_at > now {
            return Ok(-EINTR);
        }
        if reset.done_at > now {
            return Err(Fail::Blocked);
        }
        self.device_mut().resets.remove(at);
        Ok(i32::from(reset.failed))
    }

    pub(super) fn nc_reset_ready(&mut self) -> Reply {
        let mut raw: DeviceReady = self.arg()?;
        let result = self.wait_reset(raw.request_id.get())?;
        self.note("result", u64::from(result.unsigned_abs()));
        raw.result.set(result);
        self.put(&raw)
    }

    pub(super) fn device_reset(&mut self) -> Reply {
        let (device, tgid) = (self.open.device, self.caller.tgid);
        let queued = self.device().resets.iter().any(|reset| reset.tgid == tgid && reset.whole);
        if !queued {
            self.driver.queue_reset(device, tgid, WHOLE);
        }
        Ok(0)
    }

    pub(super) fn device_ready(&mut self) -> Reply {
        let tgid = self.caller.tgid;
        let waits = self.device().resets.iter().any(|reset| reset.tgid == tgid);
        let ok = !waits || self.wait_reset(tgid)? == 0;
        self.put_bytes(self.arg, &[u8::from(ok)])
    }

    pub(super) fn device_reset_status(&mut self) -> Reply {
        self.put_bytes(self.arg, &[1])
    }
}
