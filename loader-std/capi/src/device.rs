//! The device of a session, shared by its loader and its tensors.

use crate::failure::{Answer, Failure};
use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, DevAddr, Device, DeviceError, Granted, MemHandle};
use neuron_drivers::abi::value::MAX_DEVICES;
use neuron_drivers::neuron::{HostNeuron, Libc, Options, Paths, identify};
use neuron_drivers::sim::{Config, Growing, HostSim};
use std::fmt;
use std::sync::Arc;

/// Logical cores that a process can have: the claims are bits of one number.
const MOST_CORES: u16 = 128;

/// A device as the environment names it, and what is known of it before it is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DeviceSpec {
    /// A simulated one.
    Sim(Config),
    /// One behind the kernel driver.
    Node {
        /// Folder of its node.
        folder: String,
        /// Its number.
        index: u32,
        /// What it says it is.
        arch: Arch,
        /// Its physical cores.
        cores: u16,
    },
}

impl DeviceSpec {
    /// Reads `sim`, `sim:ARCH`, `sim:ARCH:CORES`, or the path of a device node, which is asked who it is.
    pub(crate) fn parse(text: &str) -> Answer<Self> {
        match node(text) {
            Some((folder, index)) => {
                let paths = Paths { device_dir: folder, ..Paths::LINUX };
                let refused = |error: loader_core::error::Error| {
                    Failure::new(error.status(), format_args!("NEFFLOAD_DEVICE is `{text}`: {error}"))
                };
                let identity = identify(Libc, &paths, index).map_err(refused)?;
                let (arch, cores) = (identity.arch, identity.cores());
                Ok(Self::Node { folder: folder.to_owned(), index, arch, cores })
            }
            None => simulated(text).map(Self::Sim),
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
            Self::Sim(config) => Taken::Sim(Box::new(HostSim::new(*config, Growing::new(false)))),
            Self::Node { folder, index, arch, .. } => {
                let paths = Paths { device_dir: folder, ..Paths::LINUX };
                let options = Options::covering(*arch, first, count);
                Taken::Neuron(HostNeuron::open(Libc, &paths, *index, options, Vec::new())?)
            }
        })))
    }
}

impl fmt::Display for DeviceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sim(_) => f.write_str("simulated device"),
            Self::Node { folder, index, .. } => write!(f, "{folder}/neuron{index}"),
        }
    }
}

/// Folder and number in the path of a device node.
fn node(text: &str) -> Option<(&str, u32)> {
    let (folder, name) = text.rsplit_once('/')?;
    let number = name.strip_prefix("neuron")?;
    let plain = number.bytes().all(|byte| byte.is_ascii_digit());
    Some((folder, number.parse().ok().filter(|index| plain && *index < MAX_DEVICES)?))
}

/// `sim[:ARCH[:CORES]]`.
fn simulated(text: &str) -> Answer<Config> {
    let wrong = |what: &str| {
        Failure::invalid(format_args!(
            "NEFFLOAD_DEVICE is `{text}`: {what}; write sim, sim:ARCH, sim:ARCH:CORES, or the path of a device node"
        ))
    };
    let mut parts = text.split(':');
    if parts.next() != Some("sim") {
        return Err(wrong("that names no device"));
    }
    let name = parts.next().unwrap_or("cayman");
    let arch = Arch::ALL.into_iter().find(|arch| arch.name() == name);
    let mut config = Config::flat(arch.ok_or_else(|| wrong("ARCH is sunda, cayman or mariana"))?);
    if let Some(cores) = parts.next() {
        let cores = cores.parse().ok().filter(|cores| (1..=MOST_CORES).contains(cores));
        config.cores = cores.ok_or_else(|| wrong("CORES is a number from 1 to 128"))?;
    }
    match parts.next() {
        Some(_) => Err(wrong("something follows CORES")),
        None => Ok(config),
    }
}

/// A device that was taken, of either kind.
#[derive(Debug)]
enum Taken {
    Sim(Box<HostSim>),
    Neuron(HostNeuron<Libc>),
}

/// A device with several owners: a tensor may outlive the loader. It is given back with the last one.
#[derive(Clone, Debug)]
pub(crate) struct Shared(Arc<Taken>);

impl Shared {
    /// One number for everything live on it.
    #[cfg(test)]
    pub(crate) fn hash(&self) -> u64 {
        match &*self.0 {
            Taken::Sim(sim) => sim.hash(),
            Taken::Neuron(device) => device.live() as u64,
        }
    }
}

/// Passes a call on to whichever it is.
macro_rules! either {
    ($target:expr, $device:ident => $call:expr) => {
        match &*$target.0 {
            Taken::Sim($device) => $call,
            Taken::Neuron($device) => $call,
        }
    };
}

impl Device for Shared {
    fn arch(&self) -> Arch {
        either!(self, device => device.arch())
    }

    fn cores(&self) -> u16 {
        either!(self, device => device.cores())
    }

    fn owned(&self) -> (u16, u16) {
        either!(self, device => device.owned())
    }

    fn is_simulated(&self) -> bool {
        either!(self, device => device.is_simulated())
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
        either!(self, device => device.free(handle))
    }

    fn write(&self, handle: MemHandle, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        either!(self, device => device.write(handle, at, bytes))
    }

    fn read(&self, handle: MemHandle, at: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        either!(self, device => device.read(handle, at, out))
    }
}

#[cfg(test)]
mod tests {
    use super::node;

    #[test]
    fn paths_of_nodes() {
        assert_eq!(node("/dev/neuron0"), Some(("/dev", 0)));
        assert_eq!(node("./some where/neuron63"), Some(("./some where", 63)));
        for bad in ["sim", "neuron0", "/dev/neuron", "/dev/neuron+1", "/dev/neuron64", "/dev/null"] {
            assert_eq!(node(bad), None, "{bad}");
        }
    }
}
