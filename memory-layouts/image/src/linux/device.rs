//! The simulated or the real device, behind one type: one copy of the stages serves both.

use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, DevAddr, Device, DeviceError, Granted, MemHandle};
use neuron_drivers::neuron::{Bare, LocalNeuron};
use neuron_drivers::sim::LocalSim;

/// A device of either kind.
pub enum Either<'t> {
    Simulated(LocalSim<'t>),
    Real(LocalNeuron<'t, Bare>),
}

impl Either<'_> {
    fn get(&self) -> &dyn Device {
        match self {
            Self::Simulated(device) => device,
            Self::Real(device) => device,
        }
    }
}

impl Device for Either<'_> {
    fn arch(&self) -> Arch {
        self.get().arch()
    }

    fn cores(&self) -> u16 {
        self.get().cores()
    }

    fn home_channel(&self, core: CoreId) -> u8 {
        self.get().home_channel(core)
    }

    fn state_buffer(&self, core: CoreId) -> (DevAddr, u64) {
        self.get().state_buffer(core)
    }

    fn semaphore_increment(&self, core: CoreId, index: u32) -> DevAddr {
        self.get().semaphore_increment(core, index)
    }

    fn alloc(&self, spec: &AllocSpec<'_>) -> Result<Granted, DeviceError> {
        self.get().alloc(spec)
    }

    fn free(&self, handle: MemHandle) -> Result<(), DeviceError> {
        self.get().free(handle)
    }

    fn write(&self, handle: MemHandle, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.get().write(handle, at, bytes)
    }

    fn read(&self, handle: MemHandle, at: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        self.get().read(handle, at, out)
    }
}
