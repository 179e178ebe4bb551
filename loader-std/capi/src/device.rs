//! The device of a session, shared by its loader and its tensors.

use crate::failure::{Answer, Failure};
use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, DevAddr, Device, DeviceError, Granted, MemHandle};
use loader_core::error::Error;
use loader_std::device::{Name, Node, Taken};
use neuron_drivers::neuron::Libc;
use neuron_drivers::sim::Config;
use std::fmt;
use std::sync::Arc;

/// A device as the environment names it, and what is known of it before it is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DeviceSpec {
    /// A simulated one.
    Sim(Config),
    /// One behind the kernel driver.
    Node {
        /// Its path.
        node: Node,
        /// What it says it is.
        arch: Arch,
        /// Its physical cores.
        cores: u16,
    },
}

impl DeviceSpec {
    /// Reads `sim`, `sim:ARCH`, `sim:ARCH:CORES`, or the path of a device node, which is asked who it is.
    pub(crate) fn parse(text: &str) -> Answer<Self> {
        let wrong = |what: String| {
            Failure::invalid(format_args!(
                "NEFFLOAD_DEVICE is `{text}`: {what}; write sim, sim:ARCH, sim:ARCH:CORES, or the path of a device node"
            ))
        };
        match Name::parse(text).map_err(wrong)? {
            Name::Sim(sim) => {
                let flat = Config::flat(sim.arch.unwrap_or(Arch::Cayman));
                Ok(Self::Sim(Config { cores: sim.cores.unwrap_or(flat.cores), ..flat }))
            }
            Name::Node(node) => {
                let refused = |error: Error| {
                    Failure::new(error.status(), format_args!("NEFFLOAD_DEVICE is `{text}`: {error}"))
                };
                let identity = node.identify(Libc).map_err(refused)?;
                Ok(Self::Node { node, arch: identity.arch, cores: identity.cores() })
            }
        }
    }

    pub(crate) const fn arch(&self) -> Arch {
        match self {
            Self::Sim(config) => config.arch,
            Self::Node { arch, .. } => *arch,
        }
    }

    /// Physical cores.
    pub(crate) const fn cores(&self) -> u16 {
        match self {
            Self::Sim(config) => config.cores,
            Self::Node { cores, .. } => *cores,
        }
    }

    /// Takes the device for `count` physical cores from `first` on.
    pub(crate) fn open(&self, first: u16, count: u16) -> Answer<Shared> {
        Ok(Shared(Arc::new(match self {
            Self::Sim(config) => Taken::sim(*config, false),
            Self::Node { node, arch, .. } => Taken::node(node, Libc, *arch, first, count)?,
        })))
    }
}

impl fmt::Display for DeviceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sim(_) => f.write_str("simulated device"),
            Self::Node { node, .. } => node.fmt(f),
        }
    }
}

/// A device with several owners: a tensor may outlive the loader. It is given back with the last one.
#[derive(Clone, Debug)]
pub(crate) struct Shared(Arc<Taken<Libc>>);

impl Shared {
    /// One number for everything live on it.
    #[cfg(test)]
    pub(crate) fn hash(&self) -> u64 {
        self.0.state()
    }

    /// Refuses if the driver did not take blocks back; told once.
    pub(crate) fn returned(&self) -> Answer {
        self.0.kept().map_or(Ok(()), |error| Err(Failure::call(&error)))
    }
}

impl Device for Shared {
    fn arch(&self) -> Arch {
        self.0.arch()
    }

    fn cores(&self) -> u16 {
        self.0.cores()
    }

    fn owned(&self) -> (u16, u16) {
        self.0.owned()
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
