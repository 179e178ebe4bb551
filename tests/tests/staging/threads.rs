//! Conformance cases of staging.md §21 that need threads: T31, T64 to T67, and loads from several threads at once.

use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, Device, DeviceError, Place, Usage};
use loader_core::error::Error;
use loader_std::loader::{Worker, worker};
use loader_std::{LoadOptions, Loader, Memory};
use neffload_tests::fixture;
use neffload_tests::staging::hooked::{Call, Hooked};
use neffload_tests::staging::model::pattern;
use neuron_drivers::sim::{Config, Content, Growing, HostSim};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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

const FIXTURE: &str = "cayman-2core";

fn sim() -> HostSim {
    HostSim::new(Config::flat(Arch::Cayman), Growing::new(false))
}

fn on_thread(name: &str) -> bool {
    thread::current().name() == Some(name)
}

/// Loads the fixture with a hook before every write; the device must be as before after a refusal, and a
/// load without trouble must work then. Gives the refusal.
fn refused_by(hook: impl Fn() -> Result<(), DeviceError> + Sync, options: LoadOptions) -> Error {
    let file = std::fs::read(fixture(FIXTURE)).unwrap();
    let quiet = AtomicBool::new(false);
    let before = |call| match call {
        Call::Write if !quiet.load(Ordering::SeqCst) => hook(),
        _ => Ok(()),
    };
    let loader = Loader::new(Hooked::new(sim(), before));
    let state = loader.device().sim.hash();
    let mut memory = Memory::with_arena(16 << 20);
    let error = loader.load(&file, &mut memory, &options).err().unwrap();
    assert_eq!(loader.device().sim.hash(), state, "the other core is removed too");
    assert!(loader.models().is_empty());
    quiet.store(true, Ordering::SeqCst);
    drop(loader.load(&file, &mut memory, &LoadOptions::default()).ok().unwrap());
    assert_eq!(loader.device().sim.hash(), state);
    loader.device().sim.audit().unwrap();
    error.into()
}

/// Waits for another thread.
fn until(flag: &AtomicBool) {
    while !flag.load(Ordering::SeqCst) {
        thread::yield_now();
    }
}

#[test]
fn staging_t64() {
    let failed = AtomicBool::new(false);
    let slow_writes = AtomicU64::new(0);
    let hook = || {
        if on_thread("stage-1") {
            failed.store(true, Ordering::SeqCst);
            return Err(DeviceError::Io(5));
        }
        // Core 0 succeeds, but only after core 1 has failed.
        until(&failed);
        slow_writes.fetch_add(1, Ordering::SeqCst);
        Ok(())
    };
    let error = refused_by(hook, LoadOptions::default());
    assert_eq!((error.id().to_string().as_str(), error.at().subgraph), ("D106", Some(1)));
    assert!(slow_writes.load(Ordering::SeqCst) > 5, "core 0 was built to its end");
}

#[test]
fn staging_t65() {
    let failed = AtomicBool::new(false);
    let hook = || {
        if on_thread("stage-1") {
            failed.store(true, Ordering::SeqCst);
        } else {
            until(&failed);
        }
        Err(DeviceError::Io(5))
    };
    let error = refused_by(hook, LoadOptions::default());
    assert_eq!((error.status().number(), error.at().subgraph), (1, Some(0)), "by core, not by time");
}

#[test]
fn staging_t66() {
    let left = AtomicU64::new(3);
    let hook = || {
        assert!(!on_thread("stage-1") || left.fetch_sub(1, Ordering::SeqCst) != 1, "on purpose");
        Ok(())
    };
    let error = refused_by(hook, LoadOptions::default());
    assert_eq!((error.id().to_string().as_str(), error.at().subgraph), ("S604", Some(1)));
}

#[test]
fn staging_t67() {
    // No address space has room for such a stack, so the thread of core 1 cannot be made.
    let impossible: Worker = |index| {
        let builder = worker(index);
        if index == 1 { builder.stack_size(1 << 60) } else { builder }
    };
    let writes = AtomicU64::new(0);
    let hook = || {
        assert!(on_thread("stage-0"));
        writes.fetch_add(1, Ordering::SeqCst);
        Ok(())
    };
    let error = refused_by(hook, LoadOptions { worker: impossible, ..LoadOptions::default() });
    assert_eq!((error.id().to_string().as_str(), error.at().subgraph), ("S604", Some(1)));
    assert!(writes.load(Ordering::SeqCst) > 5, "core 0 was built all the same");
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
