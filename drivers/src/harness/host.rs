//! The simulated host: the driver and what a front end needs to know about it.

use super::memfd::FileMemory;
use super::process::ProcessMemory;
use crate::abi::errno::EIO;
use crate::simdrv::{Caller, Config, Driver, OpenFlags, OpenId, Outcome};
use std::io;
use std::string::String;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::vec::Vec;

/// The driver of a host, shared between front ends and a test.
#[derive(Clone, Debug)]
pub struct Shared(Arc<Mutex<Host>>);

/// A call at which the real driver would stop the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Process.
    pub tgid: u32,
    /// Why.
    pub why: &'static str,
}

/// What a front end may decide.
#[derive(Clone, Debug)]
pub struct Options {
    /// Directory of the device nodes.
    pub device_dir: String,
    /// Root of the driver's class in sysfs.
    pub sysfs: String,
    /// Directory of the kernel module in sysfs.
    pub module: String,
    /// Whether callers have CAP_SYS_RAWIO. A test's own privileges would make results depend on who runs it.
    pub rawio: bool,
    /// Virtual microseconds that pass while callers sleep for one real millisecond; 0 lets time stand still.
    pub pace: u64,
    /// Ranges of this process that the driver may touch; empty for all. Only for calls from this process.
    pub fence: Vec<(u64, u64)>,
    /// A request that is answered with 0 at once, without asking the driver: for measuring what a caller costs.
    pub silent: Option<u32>,
    /// A launched program ends with the thread that launched it.
    pub bound: bool,
    /// Limit of descriptor numbers, soft and hard, that a launched program gets; `None` for this process's.
    pub descriptors: Option<(u64, u64)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            device_dir: String::from("/dev"),
            sysfs: String::from("/sys/class/neuron_device"),
            module: String::from("/sys/module/neuron"),
            rawio: false,
            pace: 1000,
            fence: Vec::new(),
            silent: None,
            bound: false,
            descriptors: None,
        }
    }
}

/// The state behind the lock.
#[derive(Debug)]
pub struct Host {
    /// The driver.
    pub driver: Driver<FileMemory>,
    /// Where the real driver would have stopped the kernel.
    pub stops: Vec<Stop>,
}

impl Host {
    /// Whether a descriptor, a message or a mapping anywhere still refers to an open file.
    pub(super) fn is_held(&self, open: OpenId) -> bool {
        self.driver
            .opened(open)
            .is_some_and(|(device, _)| self.driver.device(device).memory().is_held(open.0))
    }

    /// Inodes of the devices' memory, by device.
    pub(super) fn inodes(&self) -> Vec<(u64, u64)> {
        let inode = |at| self.driver.device(at).memory().inode().unwrap_or_default();
        (0..self.driver.config().devices).map(inode).collect()
    }

    /// The raw result of a call; `None` if its caller sleeps. Where the kernel would stop, it is noted.
    fn settle(&mut self, caller: Caller, outcome: Outcome) -> Option<i64> {
        match outcome {
            Outcome::Blocked => None,
            Outcome::Done(raw) => Some(raw),
            Outcome::KernelStop(why) => {
                self.stops.push(Stop { tgid: caller.tgid, why });
                Some(-i64::from(EIO))
            }
        }
    }
}

impl Shared {
    /// Loads the driver.
    ///
    /// # Errors
    /// If the kernel gives no memory file.
    pub fn new(config: Config) -> io::Result<Self> {
        let mut memories =
            (0..config.devices).map(FileMemory::new).collect::<io::Result<Vec<_>>>()?.into_iter();
        let driver =
            Driver::new(config, |_| memories.next().unwrap_or_else(|| unreachable!("one per device")));
        Ok(Self(Arc::new(Mutex::new(Host { driver, stops: Vec::new() }))))
    }

    /// Opens a device for a caller, whose calling thread `killed` says to have a deadly signal pending. `None` if
    /// the caller sleeps.
    pub(super) fn open(
        &self,
        caller: Caller,
        killed: impl FnOnce() -> bool,
        index: u32,
        mode: OpenFlags,
    ) -> Option<Result<OpenId, i64>> {
        let mut host = self.lock();
        let mut opened = host.driver.open(caller, index, mode);
        if opened == Err(Outcome::Blocked) && killed() {
            opened = host.driver.open(Caller { killed: true, ..caller }, index, mode);
        }
        match opened {
            Ok(open) => Some(Ok(open)),
            Err(outcome) => host.settle(caller, outcome).map(Err),
        }
    }

    /// Serves a request for a caller, as [`Self::open`]. `None` if the caller sleeps.
    pub(super) fn ioctl(
        &self,
        caller: Caller,
        killed: impl FnOnce() -> bool,
        (open, request, argument): (OpenId, u32, u64),
        memory: &mut ProcessMemory,
    ) -> Option<i64> {
        let mut host = self.lock();
        let mut outcome = host.driver.ioctl(caller, open, request, argument, memory);
        if outcome == Outcome::Blocked && killed() {
            outcome = host.driver.ioctl(Caller { killed: true, ..caller }, open, request, argument, memory);
        }
        host.settle(caller, outcome)
    }

    /// As [`Self::lock`], unless somebody has it.
    pub(super) fn try_lock(&self) -> Option<MutexGuard<'_, Host>> {
        match self.0.try_lock() {
            Ok(host) => Some(host),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Exclusive access. A panic of another holder does not stop the driver.
    pub fn lock(&self) -> MutexGuard<'_, Host> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
