//! The front end: the state machine behind a lock, as a `Device`.

use super::config::{Config, Content};
use super::fault::Faults;
use super::ledger::{Counters, Ledger};
use super::state::SimState;
use super::storage::{Fixed, Plain, Storage};
use super::violation::Violation;
use core::cell::RefCell;
use core::marker::PhantomData;
use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, DevAddr, Device, DeviceError, Granted, MemHandle};

/// Exclusive access to a value through a shared reference.
pub trait Lock<T> {
    /// Wraps a value.
    fn wrap(value: T) -> Self;

    /// Runs `action` alone with the value. Must not be called from within an action.
    fn with<R>(&self, action: impl FnOnce(&mut T) -> R) -> R;

    /// Lets other threads go first, the longer the more `turns`. Where there is one thread, nothing.
    fn pause(_turns: u32) {}
}

/// For one thread.
impl<T> Lock<T> for RefCell<T> {
    fn wrap(value: T) -> Self {
        Self::new(value)
    }

    fn with<R>(&self, action: impl FnOnce(&mut T) -> R) -> R {
        // A call from within an action is the caller's fault. Where nothing may panic it waits for ever, as it does for the
        // lock of several threads.
        #[cfg(feature = "std")]
        return action(&mut self.borrow_mut());
        #[cfg(not(feature = "std"))]
        loop {
            if let Ok(mut value) = self.try_borrow_mut() {
                return action(&mut value);
            }
            core::hint::spin_loop();
        }
    }
}

/// For several threads. A panic of another holder does not stop the device.
#[cfg(feature = "std")]
impl<T> Lock<T> for std::sync::Mutex<T> {
    fn wrap(value: T) -> Self {
        Self::new(value)
    }

    fn with<R>(&self, action: impl FnOnce(&mut T) -> R) -> R {
        action(&mut self.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    fn pause(turns: u32) {
        // Not a yield: on a busy machine that gives away a whole time slice.
        if turns > 0 {
            std::thread::sleep(std::time::Duration::from_micros(u64::from(turns) * 8));
        }
    }
}

/// The simulated accelerator.
#[derive(Debug)]
pub struct Sim<S, L> {
    lock: L,
    config: Config,
    storage: PhantomData<fn(S)>,
}

/// A simulated accelerator for one thread, in memory that the caller gives.
pub type LocalSim<'s> = Sim<Fixed<'s>, RefCell<SimState<Fixed<'s>>>>;

/// The same that only loads: without contents, log and deliberate failures.
pub type PlainSim<'s> = Sim<Plain<'s>, RefCell<SimState<Plain<'s>>>>;

impl<S: Storage, L: Lock<SimState<S>>> Sim<S, L> {
    /// Switches a device on, [within its profile](Config::within_profile).
    pub fn new(config: Config, storage: S) -> Self {
        let state = SimState::new(config, storage);
        Self { config: state.config, lock: L::wrap(state), storage: PhantomData }
    }

    /// Runs `action` alone with the machine.
    pub fn with<R>(&self, action: impl FnOnce(&mut SimState<S>) -> R) -> R {
        self.lock.with(action)
    }

    /// What was switched on.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// One number for everything live: blocks, contents, ledger.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.lock.with(|state| state.hash())
    }

    /// The usage ledger.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.lock.with(|state| *state.ledger())
    }

    /// What happened so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.lock.with(|state| *state.counters())
    }

    /// Sets the rules for failing and restarts their counting.
    pub fn set_faults(&self, faults: Faults) {
        self.lock.with(|state| state.set_faults(faults));
    }

    /// Makes operations wait, each as long as `seed` and its number on its core say, so that the threads of a load come
    /// in another order; `None` for no delays.
    pub fn set_delays(&self, seed: Option<u64>) {
        self.lock.with(|state| state.set_delays(seed));
    }

    /// Runs an operation for a core, and waits as the delays say.
    fn operate<R>(&self, action: impl FnOnce(&mut SimState<S>) -> (R, u16)) -> R {
        let (result, turns) = self.lock.with(|state| {
            let (result, core) = action(state);
            (result, state.turns(core))
        });
        L::pause(turns);
        result
    }

    /// Allocations, writes and reads since the rules were set.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.lock.with(|state| state.operations())
    }

    /// Checks the invariants that concern the device alone (staging.md §18.6: I1, I3, I4, I5, I6, I8).
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn audit(&self) -> Result<(), Violation> {
        self.lock.with(|state| state.audit())
    }
}

impl<S: Storage, L: Lock<SimState<S>>> Device for Sim<S, L> {
    fn arch(&self) -> Arch {
        self.config.arch
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn cores(&self) -> u16 {
        self.config.cores
    }

    fn home_channel(&self, core: CoreId) -> u8 {
        (core.0 / self.config.cores_per_stack()) as u8 % self.config.channels()
    }

    fn state_buffer(&self, core: CoreId) -> (DevAddr, u64) {
        super::region::state_buffer(&self.config, core.0)
    }

    fn semaphore_increment(&self, core: CoreId, index: u32) -> DevAddr {
        super::region::semaphore(&self.config, core.0, index)
    }

    fn alloc(&self, spec: &AllocSpec<'_>) -> Result<Granted, DeviceError> {
        self.operate(|state| (state.alloc(spec), spec.core.0))
    }

    fn free(&self, handle: MemHandle) -> Result<(), DeviceError> {
        self.lock.with(|state| state.free(handle))
    }

    fn write(&self, handle: MemHandle, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        if self.config.content != Content::Digest {
            return self.operate(|state| (state.write(handle, at, bytes), state.core_of(handle)));
        }
        // The bytes are hashed outside the lock, so that threads do not wait for each other.
        let address = self.operate(|state| (state.check_write(handle, at, bytes), state.core_of(handle)))?;
        let sum = super::digest::hash(address, bytes);
        self.lock.with(|state| state.add_digest(handle, sum))
    }

    fn read(&self, handle: MemHandle, at: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        self.lock.with(|state| state.read(handle, at, out))
    }
}
