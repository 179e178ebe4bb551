//! A simulated device with something to say before every allocation and write.

use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, DevAddr, Device, DeviceError, Granted, MemHandle};
use neuron_drivers::sim::HostSim;

/// What is about to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// A block is asked for.
    Alloc,
    /// Bytes are written.
    Write,
}

/// The device: `before` may refuse, wait or panic.
#[derive(Debug)]
pub struct Hooked<F> {
    /// The device behind it.
    pub sim: HostSim,
    /// Asked first.
    pub before: F,
    /// Start of every core's state-buffer window, instead of the device's own.
    pub window: Option<u64>,
    /// Whether it calls itself simulated.
    pub simulated: bool,
}

impl<F: Fn(Call) -> Result<(), DeviceError>> Hooked<F> {
    /// `sim` behind `before`.
    pub const fn new(sim: HostSim, before: F) -> Self {
        Self { sim, before, window: None, simulated: true }
    }
}

impl<F: Fn(Call) -> Result<(), DeviceError>> Device for Hooked<F> {
    fn arch(&self) -> Arch {
        self.sim.arch()
    }

    fn is_simulated(&self) -> bool {
        self.simulated
    }

    fn cores(&self) -> u16 {
        self.sim.cores()
    }

    fn home_channel(&self, core: CoreId) -> u8 {
        self.sim.home_channel(core)
    }

    fn state_buffer(&self, core: CoreId) -> (DevAddr, u64) {
        let (start, len) = self.sim.state_buffer(core);
        (self.window.map_or(start, DevAddr), len)
    }

    fn semaphore_increment(&self, core: CoreId, index: u32) -> DevAddr {
        self.sim.semaphore_increment(core, index)
    }

    fn alloc(&self, spec: &AllocSpec<'_>) -> Result<Granted, DeviceError> {
        (self.before)(Call::Alloc)?;
        self.sim.alloc(spec)
    }

    fn free(&self, handle: MemHandle) -> Result<(), DeviceError> {
        self.sim.free(handle)
    }

    fn write(&self, handle: MemHandle, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        (self.before)(Call::Write)?;
        self.sim.write(handle, at, bytes)
    }

    fn read(&self, handle: MemHandle, at: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        self.sim.read(handle, at, out)
    }
}
