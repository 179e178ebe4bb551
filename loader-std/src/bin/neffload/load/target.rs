//! The device that a load goes to: a simulated one, or one behind the kernel driver.

use super::watch::{self, Watched};
use crate::output::shown;
use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, DevAddr, Device, DeviceError, Granted, MemHandle};
use loader_core::error::{DeviceCode, Error, Stage};
use neuron_drivers::abi::value::MAX_DEVICES;
use neuron_drivers::neuron::{HostNeuron, Libc, Options, Paths, driver_version};
use neuron_drivers::sim::HostSim;
use serde_json::{Value, json};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A device node by its path.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    folder: String,
    index: u32,
}

impl Node {
    /// Takes a path apart; `None` if it is not one of a device node.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (folder, name) = text.rsplit_once('/')?;
        let number = name.strip_prefix("neuron")?;
        let plain = number.bytes().all(|byte| byte.is_ascii_digit());
        let index = number.parse().ok().filter(|index| plain && *index < MAX_DEVICES)?;
        Some(Self { folder: folder.to_owned(), index })
    }

    /// Claims, resets and initialises `count` cores from `core` on, and those that share their memory.
    pub(super) fn open(&self, target: Arch, core: u16, count: u16, trace: bool) -> Result<Held, Error> {
        let paths = Paths { device_dir: &self.folder, ..Paths::LINUX };
        let options = Options::covering(target, core, count);
        let device = HostNeuron::open(watch::watched(trace), &paths, self.index, options, Vec::new())?;
        let driver = driver_version(&Libc, &paths).map(|version| version.as_str().to_owned());
        Ok(Held { device, path: self.to_string(), driver, kept: Mutex::default() })
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/neuron{}", self.folder, self.index)
    }
}

/// A device behind the kernel driver, taken.
#[derive(Debug)]
pub(super) struct Held {
    device: HostNeuron<Watched>,
    path: String,
    driver: Option<String>,
    /// Blocks that the driver did not take back, and what it said last.
    kept: Mutex<Vec<(MemHandle, DeviceError)>>,
}

impl Held {
    fn kept(&self) -> MutexGuard<'_, Vec<(MemHandle, DeviceError)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a block back and remembers a refusal, because whoever releases memory has nobody to tell.
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

/// Either kind of device.
#[derive(Debug)]
pub(super) enum Target {
    Sim(Box<HostSim>),
    Neuron(Box<Held>),
}

impl Target {
    /// One number for everything that is on it, as far as the host knows.
    pub(super) fn state(&self) -> u64 {
        match self {
            Self::Sim(sim) => sim.hash(),
            Self::Neuron(held) => held.device.live() as u64,
        }
    }

    /// Why blocks were not given back, if some were not; told once.
    pub(super) fn kept(&self) -> Option<Error> {
        let Self::Neuron(held) = self else { return None };
        let kept = core::mem::take(&mut *held.kept());
        let (_, first) = kept.first()?;
        let error = Error::new(Stage::Register, DeviceCode::NotFreed);
        Some(error.numbers(kept.len() as u64, 0).name(said(*first).as_bytes()))
    }

    /// What a real device is, as in `load --json`; the command line says all about a simulated one.
    pub(super) fn describe(&self) -> Option<Value> {
        let Self::Neuron(held) = self else { return None };
        let (identity, options) = (held.device.identity(), held.device.options());
        Some(json!({
            "kind": "neuron",
            "arch": identity.arch.name(),
            "cores": self.cores(),
            "path": held.path,
            "driver": held.driver,
            "features": format!("{:#x}", identity.features),
            "claimed": {"first": options.first_core, "count": options.cores},
        }))
    }

    /// The operations of a simulated device, one line each; a real one's were printed when they happened.
    pub(super) fn print_operations(&self) {
        if let Self::Sim(sim) = self {
            sim.with(|state| state.events().iter().for_each(shown::complain));
        }
    }
}

/// The driver's answer in a few words.
fn said(error: DeviceError) -> String {
    match error {
        DeviceError::Io(errno) => format!("errno {errno}"),
        DeviceError::Positive(number) => format!("{number}"),
        DeviceError::BadHandle => "no such handle".to_owned(),
        DeviceError::OutOfMemory => "errno 12".to_owned(),
        DeviceError::TimeoutOrRing => "errno 1".to_owned(),
        DeviceError::OutOfRange => "errno 7".to_owned(),
        _ => "errno 22".to_owned(),
    }
}

/// Passes a call on to whichever it is.
macro_rules! either {
    ($target:expr, $device:ident => $call:expr) => {
        match $target {
            Target::Sim($device) => $call,
            Target::Neuron(held) => {
                let $device = &held.device;
                $call
            }
        }
    };
}

impl Device for Target {
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
