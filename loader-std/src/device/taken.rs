//! A device of either kind, taken.

use super::Node;
use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, DevAddr, Device, DeviceError, Granted, MemHandle};
use loader_core::error::{DeviceCode, Error, Stage};
use neuron_drivers::neuron::{HostNeuron, Options, Sys};
use neuron_drivers::sim::{Config, Growing, HostSim};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A device of either kind; the system calls to a real one go through `S`.
#[derive(Debug)]
pub enum Taken<S: Sys + Copy> {
    /// A simulated one.
    Sim(Box<HostSim>),
    /// One behind the kernel driver.
    Neuron(Box<Held<S>>),
}

/// A device behind the kernel driver.
#[derive(Debug)]
pub struct Held<S: Sys + Copy> {
    /// The device itself.
    pub device: HostNeuron<S>,
    /// Blocks that the driver did not take back, and what it said last.
    kept: Mutex<Vec<(MemHandle, DeviceError)>>,
}

impl<S: Sys + Copy> Held<S> {
    fn kept(&self) -> MutexGuard<'_, Vec<(MemHandle, DeviceError)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a block back and remembers a refusal.
    fn free(&self, handle: MemHandle) -> Result<(), DeviceError> {
        let freed = self.device.free(handle);
        let mut kept = self.kept();
        kept.retain(|(other, _)| *other != handle);
        if let Err(error) = freed {
            kept.push((handle, error));
        }
        freed
    }
}

impl<S: Sys + Copy> Taken<S> {
    /// Switches a simulated device on; with `logs` every operation leaves a line.
    #[must_use]
    pub fn sim(config: Config, logs: bool) -> Self {
        Self::Sim(Box::new(HostSim::new(config, Growing::new(logs))))
    }

    /// Claims, resets and initialises `count` cores of a node from `core` on, and those that share their memory.
    ///
    /// # Errors
    /// The driver's refusal, or that the node has another architecture.
    pub fn node(node: &Node, sys: S, target: Arch, core: u16, count: u16) -> Result<Self, Error> {
        let options = Options::covering(target, core, count);
        let device = HostNeuron::open(sys, &node.paths(), node.index, options, Vec::new())?;
        Ok(Self::Neuron(Box::new(Held { device, kept: Mutex::default() })))
    }

    /// One number for everything that is on it, as far as the host knows.
    #[must_use]
    pub fn state(&self) -> u64 {
        match self {
            Self::Sim(sim) => sim.hash(),
            Self::Neuron(held) => held.device.live() as u64,
        }
    }

    /// Why blocks were not given back, if some were not; told once.
    #[must_use]
    pub fn kept(&self) -> Option<Error> {
        let Self::Neuron(held) = self else { return None };
        let kept = std::mem::take(&mut *held.kept());
        let (_, first) = kept.first()?;
        let error = Error::new(Stage::Register, DeviceCode::NotFreed);
        Some(error.numbers(kept.len() as u64, 0).name(first.to_string().as_bytes()))
    }
}

/// Passes a call on to whichever it is.
macro_rules! either {
    ($target:expr, $device:ident => $call:expr) => {
        match $target {
            Taken::Sim($device) => $call,
            Taken::Neuron(held) => {
                let $device = &held.device;
                $call
            }
        }
    };
}

impl<S: Sys + Copy> Device for Taken<S> {
    fn arch(&self) -> Arch {
        either!(self, device => device.arch())
    }

    fn is_simulated(&self) -> bool {
        either!(self, device => device.is_simulated())
    }

    fn cores(&self) -> u16 {
        either!(self, device => device.cores())
    }

    fn owned(&self) -> (u16, u16) {
        either!(self, device => device.owned())
    }

    fn home_channel(&self, core: CoreId) -> u8 {
        either!(self, device => device.home_channel(core))
    }

    fn state_buffer(&self, core: CoreId) -> (DevAddr, u64) {
        either!(self, device => device.state_buffer(core))
    }

    fn semaphore_increment(&self, core: CoreId, index: u32) -> DevAddr {
        either!(self, device => device.semaphore_increment(core, index))
    }

    fn alloc(&self, spec: &AllocSpec<'_>) -> Result<Granted, DeviceError> {
        either!(self, device => device.alloc(spec))
    }

    fn free(&self, handle: MemHandle) -> Result<(), DeviceError> {
        match self {
            Self::Sim(sim) => sim.free(handle),
            Self::Neuron(held) => held.free(handle),
        }
    }

    fn write(&self, handle: MemHandle, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        either!(self, device => device.write(handle, at, bytes))
    }

    fn read(&self, handle: MemHandle, at: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        either!(self, device => device.read(handle, at, out))
    }
}
