//! The order of locks (staging.md §6.4), as far as it can be seen from inside only.

use super::ranked::{Ranked, may_call_device};
use super::{LoadOptions, Loader, Memory};
use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, DevAddr, Device, DeviceError, Granted, MemHandle};
use neuron_drivers::sim::{Config, Growing, HostSim};
use std::path::Path;

/// A simulated device that nobody may ask while holding a lock of rank 1 to 3.
struct Watching(HostSim);

impl Watching {
    fn ask(&self) -> &HostSim {
        assert!(may_call_device(), "the device is asked under a lock that may not be held");
        &self.0
    }
}

impl Device for Watching {
    fn arch(&self) -> Arch {
        self.0.arch()
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn cores(&self) -> u16 {
        self.0.cores()
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
        self.ask().alloc(spec)
    }

    fn free(&self, handle: MemHandle) -> Result<(), DeviceError> {
        self.ask().free(handle)
    }

    fn write(&self, handle: MemHandle, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.ask().write(handle, at, bytes)
    }

    fn read(&self, handle: MemHandle, at: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        self.ask().read(handle, at, out)
    }
}

#[test]
fn no_device_call_under_the_first_locks() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/cayman-2core.neff");
    let file = std::fs::read(path).unwrap();
    let loader = Loader::new(Watching(HostSim::new(Config::flat(Arch::Cayman), Growing::new(false))));
    let mut memory = Memory::with_arena(16 << 20);
    let model = loader.load(&file, &mut memory, &LoadOptions::default()).unwrap();
    let used = loader.acquire(model.h_nn()).unwrap();
    drop(model);
    drop(used);
    assert!(loader.models().is_empty());
}

#[test]
fn locks_are_taken_in_order() {
    let (early, late) = (Ranked::<_, 2>::new(1), Ranked::<_, 5>::new(2));
    let held = early.lock();
    assert_eq!(*held + *late.lock(), 3);
    drop(held);
    let outcome = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                let _held = late.lock();
                let _never = early.lock();
            })
            .join()
    });
    assert_eq!(outcome.is_err(), cfg!(debug_assertions));
    assert_eq!(*early.lock(), 1, "a lock whose holder panicked is taken all the same");
}
