//! The device of a session, shared by its loader and its tensors.

use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, DevAddr, Device, DeviceError, Granted, MemHandle};
use neuron_drivers::sim::{Config, Growing, HostSim};
use std::sync::Arc;

/// A device with several owners: a tensor may outlive the loader.
#[derive(Clone, Debug)]
pub(crate) struct Shared(Arc<HostSim>);

impl Shared {
    pub(crate) fn open(config: Config) -> Self {
        Self(Arc::new(HostSim::new(config, Growing::new(false))))
    }

    /// One number for everything live on it.
    #[cfg(test)]
    pub(crate) fn hash(&self) -> u64 {
        self.0.hash()
    }
}

impl Device for Shared {
    fn arch(&self) -> Arch {
        self.0.arch()
    }

    fn cores(&self) -> u16 {
        self.0.cores()
    }

    fn is_simulated(&self) -> bool {
        self.0.is_simulated()
    }

    fn home_channel(&self, core: CoreId) -> u8 {
        self.0.home_channel(core)
    }

    fn state_buffer(&self, core: CoreId) -> (DevAddr, u64) {
        self.0.state_buffer(core)
    }

    fn semaphore_increment(&self, core: CoreId, index: u32) -> DevAddr {
        self.0.semaphore_increment(core, index)
    }

    fn alloc(&self, spec: &AllocSpec<'_>) -> Result<Granted, DeviceError> {
        self.0.alloc(spec)
    }

    fn free(&self, handle: MemHandle) -> Result<(), DeviceError> {
        self.0.free(handle)
    }

    fn write(&self, handle: MemHandle, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.0.write(handle, at, bytes)
    }

    fn read(&self, handle: MemHandle, at: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        self.0.read(handle, at, out)
    }
}
