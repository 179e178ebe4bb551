//! Conformance cases of staging.md §21 that need threads: T31, T66, and loads from several threads at once.

use loader_core::arch::Arch;
use loader_core::device::{
    AllocSpec, CoreId, DevAddr, Device, DeviceError, Granted, MemHandle, Place, Usage,
};
use loader_std::{LoadOptions, Loader, Memory};
use neffload_tests::fixture;
use neffload_tests::staging::model::pattern;
use neuron_drivers::sim::{Config, Content, Growing, HostSim};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

#[test]
fn staging_t31() {
    let sim = HostSim::new(Config::flat(Arch::Cayman), Growing::new(false));
    let data = pattern(64 << 20, 5);
    thread::scope(|scope| {
        for core in [0, 2] {
            let (sim, data) = (&sim, &data);
            scope.spawn(move || {
                let (core, place) = (CoreId(core), Place::Hbm(sim.home_channel(CoreId(core))));
                let (size, usage, tag) = (data.len() as u64, Usage::Weight, "t31");
                let spec = AllocSpec { core, place, size, align: 0, usage, tag, contiguous: false };
                let block = sim.alloc(&spec).unwrap();
                for (number, piece) in data.chunks(1 << 20).enumerate() {
                    sim.write(block.handle, (number as u64) << 20, piece).unwrap();
                }
                let mut back = vec![0; data.len()];
                sim.read(block.handle, 0, &mut back).unwrap();
                assert!(back == *data);
            });
        }
    });
    sim.audit().unwrap();
}

/// A device on which the n-th write of a core panics.
struct Panicking {
    sim: HostSim,
    left: AtomicU64,
}

impl Device for Panicking {
    fn arch(&self) -> Arch {
        self.sim.arch()
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
        self.sim.free(handle)
    }

    fn write(&self, handle: MemHandle, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        if thread::current().name() == Some("stage-1") && self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            panic!("on purpose");
        }
        self.sim.write(handle, at, bytes)
    }

    fn read(&self, handle: MemHandle, at: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        self.sim.read(handle, at, out)
    }
}

#[test]
fn staging_t66() {
    let file = std::fs::read(fixture("cayman-2core")).unwrap();
    let sim = HostSim::new(Config::flat(Arch::Cayman), Growing::new(false));
    let loader = Loader::new(Panicking { sim, left: AtomicU64::new(3) });
    let before = loader.device().sim.hash();
    let mut memory = Memory::with_arena(16 << 20);
    let error = loader.load(&file, &mut memory, &LoadOptions::default()).err().unwrap();
    assert_eq!((error.id().to_string().as_str(), error.at.subgraph), ("S604", Some(1)));
    assert_eq!(loader.device().sim.hash(), before, "the other core is removed too");
    loader.device().left.store(0, Ordering::SeqCst);
    let model = loader.load(&file, &mut memory, &LoadOptions::default()).ok().unwrap();
    drop(model);
    assert_eq!(loader.device().sim.hash(), before);
}

#[test]
fn many_threads_load_and_unload() {
    let files: Vec<Vec<u8>> = ["cayman-2core", "cayman-registers"]
        .iter()
        .map(|name| std::fs::read(fixture(name)).unwrap())
        .collect();
    let config = Config { content: Content::Digest, ..Config::flat(Arch::Cayman) };
    let loader = Loader::new(HostSim::new(config, Growing::new(false)));
    let before = loader.device().hash();
    thread::scope(|scope| {
        for worker in 0..8usize {
            let (loader, files) = (&loader, &files);
            scope.spawn(move || {
                let mut memory = Memory::with_arena(4 << 20);
                for turn in 0..25 {
                    let options = LoadOptions { core: (worker as u16 % 4) * 2, ..LoadOptions::default() };
                    let file = &files[(worker + turn) % files.len()];
                    let model = loader.load(file, &mut memory, &options).unwrap();
                    let held = loader.acquire(model.h_nn()).unwrap();
                    loader.device().audit().unwrap();
                    drop(model);
                    drop(held);
                }
            });
        }
    });
    assert!(loader.models().is_empty());
    assert_eq!(loader.device().hash(), before);
}
