//! A simulated device that notes what is written to each block: proof for a store that keeps a digest alone.

use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, DevAddr, Device, DeviceError, Granted, MemHandle};
use neuron_drivers::sim::HostSim;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes by slot and generation of the handle.
type Written = BTreeMap<(u32, u32), Vec<u8>>;

/// The device.
#[derive(Debug)]
pub struct Recorder {
    /// The device behind it.
    pub sim: HostSim,
    written: Mutex<Written>,
}

impl Recorder {
    /// `sim` with nothing noted yet.
    #[must_use]
    pub const fn new(sim: HostSim) -> Self {
        Self { sim, written: Mutex::new(BTreeMap::new()) }
    }

    /// What was written to a live block, up to its last written byte.
    #[must_use]
    pub fn written(&self, handle: MemHandle) -> Vec<u8> {
        self.notes().get(&key(handle)).cloned().unwrap_or_default()
    }

    fn notes(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const fn key(handle: MemHandle) -> (u32, u32) {
    (handle.slot, handle.generation)
}

impl Device for Recorder {
    fn arch(&self) -> Arch {
        self.sim.arch()
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn cores(&self) -> u16 {
        self.sim.cores()
    }

    fn home_channel(&self, core: CoreId) -> u8 {
        self.sim.home_channel(core)
    }

    fn state_buffer(&self, core: CoreId) -> (DevAddr, u64) {
        self.sim.state_buffer(core)
    }

    fn semaphore_increment(&self, core: CoreId, index: u32) -> DevAddr {
        self.sim.semaphore_increment(core, index)
    }

    fn alloc(&self, spec: &AllocSpec<'_>) -> Result<Granted, DeviceError> {
        self.sim.alloc(spec)
    }

    fn free(&self, handle: MemHandle) -> Result<(), DeviceError> {
        self.notes().remove(&key(handle));
        self.sim.free(handle)
    }

    fn write(&self, handle: MemHandle, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.sim.write(handle, at, bytes)?;
        let mut notes = self.notes();
        let all = notes.entry(key(handle)).or_default();
        let at = usize::try_from(at).map_err(|_| DeviceError::OutOfRange)?;
        all.resize(all.len().max(at + bytes.len()), 0);
        all[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn read(&self, handle: MemHandle, at: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        self.sim.read(handle, at, out)
    }
}
