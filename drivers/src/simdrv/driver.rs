//! The driver as a whole: devices, claims, open files, time.

use super::caller::{Caller, OpenFlags, OpenId};
use super::config::{Config, Strictness};
use super::device::DeviceState;
use super::fault::Script;
use super::memory::Memory;
use super::trace::{Entry, Kind};
use super::violation::{Violation, What};
use crate::abi::value::{MAX_CORES, device_state};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// One open file description.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) device: usize,
    pub(super) flags: OpenFlags,
}

/// The simulated driver. See the module's page.
#[derive(Debug)]
pub struct Driver<M> {
    pub(super) config: Config,
    pub(super) now: u64,
    pub(super) devices: Vec<DeviceState<M>>,
    pub(super) claims: [u32; MAX_CORES],
    pub(super) opens: BTreeMap<OpenId, Open>,
    pub(super) next_open: u32,
    /// Deadlines of sleeping threads by thread and request.
    pub(super) sleeping: BTreeMap<(u32, u32), u64>,
    pub(super) elections: u32,
    pub(super) faults: Script,
    pub(super) injected: bool,
    pub(super) trace: Vec<Entry>,
    pub(super) sequence: u64,
    pub(super) violations: Vec<Violation>,
    pub(super) next_mapping: u32,
}

impl<M: Memory> Driver<M> {
    /// Loads the driver on a host; `memory` makes the memory of each device.
    pub fn new(config: Config, mut memory: impl FnMut(u32) -> M) -> Self {
        let devices = (0..config.devices).map(|at| DeviceState::new(&config, memory(at))).collect();
        let mut driver = Self {
            config,
            now: 0,
            devices,
            claims: [0; MAX_CORES],
            opens: BTreeMap::new(),
            next_open: 1,
            sleeping: BTreeMap::new(),
            elections: 0,
            faults: Script::default(),
            injected: false,
            trace: Vec::new(),
            sequence: 0,
            violations: Vec::new(),
            next_mapping: 1,
        };
        for at in 0..driver.devices.len() {
            driver.reserve_own_chunks(at);
        }
        driver
    }

    /// What is simulated.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// What is simulated, to change in the middle of a test.
    pub const fn config_mut(&mut self) -> &mut Config {
        &mut self.config
    }

    /// A device.
    pub fn device(&self, index: u32) -> &DeviceState<M> {
        &self.devices[index as usize]
    }

    /// A device, to change.
    pub fn device_mut(&mut self, index: u32) -> &mut DeviceState<M> {
        &mut self.devices[index as usize]
    }

    /// Virtual microseconds since the driver was loaded.
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// The owner of a core of the claim table, 0 for none.
    pub fn claim(&self, slot: usize) -> u32 {
        self.claims.get(slot).copied().unwrap_or(0)
    }

    /// The faults that will be injected, to change.
    pub const fn faults_mut(&mut self) -> &mut Script {
        &mut self.faults
    }

    /// Events so far.
    pub fn trace(&self) -> &[Entry] {
        &self.trace
    }

    /// Takes the trace away.
    pub fn take_trace(&mut self) -> Vec<Entry> {
        core::mem::take(&mut self.trace)
    }

    /// Violations so far.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Takes the violations away.
    pub fn take_violations(&mut self) -> Vec<Violation> {
        core::mem::take(&mut self.violations)
    }

    /// Events counted so far, also those whose trace was taken.
    pub const fn events(&self) -> u64 {
        self.sequence
    }

    pub(super) fn record(&mut self, caller: Caller, open: u32, kind: Kind, result: i64) {
        let injected = core::mem::take(&mut self.injected);
        let sequence = self.sequence;
        self.sequence += 1;
        let Caller { tgid, tid, .. } = caller;
        self.trace.push(Entry { sequence, tgid, tid, open, kind, result, injected });
    }

    /// Records a violation unless the driver is simulated faithfully; true if the call must fail with EIO.
    pub(super) fn violate(&mut self, tgid: u32, request: u32, what: What) -> bool {
        if self.config.strictness != Strictness::Faithful {
            self.violations.push(Violation { tgid, request, what });
        }
        self.config.strictness == Strictness::Paranoid
    }

    /// Lets time pass: resets finish, queues run, sleepers wake.
    pub fn tick(&mut self, microseconds: u64) {
        self.now += microseconds;
        for at in 0..self.devices.len() {
            let device = &mut self.devices[at];
            if device.ready_at.is_some_and(|ready| ready <= self.now) {
                device.ready_at = None;
                device.state = device_state::READY;
            }
            self.finish_copies(at);
            self.collect_registers(at);
            self.run_queues(at);
        }
    }

    /// Marks a device as dead: later opens fail (fault point 28).
    pub fn invalidate(&mut self, index: u32) {
        let device = &mut self.devices[index as usize];
        device.state = device_state::INVALID;
        device.ready_at = None;
    }
}
