//! Microcode libraries on architecture 2: one is shared by the models of its core, several are a model's own
//! (staging.md §3.3 B12, §7.7, §14.3, §15).

use crate::memory::{core, load};
use loader_core::arch::Arch;
use loader_core::device::{CoreId, DeviceError, Usage};
use loader_core::manifest::VarClass;
use loader_core::plan::record::DMem;
use loader_std::{LoadOptions, Loader, Memory};
use neffload_tests::lowering::package::Package;
use neffload_tests::staging::hooked::{Call, Hooked};
use neffload_tests::staging::model::{Hand, pattern};
use neffload_tests::staging::{Rig, audit};
use neuron_drivers::sim::{Config, Content, Event, EventKind, Growing, HostSim};
use serde_json::json;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

fn sunda() -> Hand {
    Hand::new(2).state_buffer().constant("w", &pattern(100, 3), 64).var("y", VarClass::Output, 4)
}

fn one(seed: u8) -> Hand {
    sunda().library("lib.so", &pattern(5000, seed))
}

fn held(rig: &Rig) -> Vec<(u64, u32)> {
    rig.libraries.iter().flatten().map(|library| (library.taken.size, library.refs)).collect()
}

#[test]
fn models_of_a_core_share_the_library_that_both_have() {
    let mut rig = Rig::new(Arch::Sunda);
    let first = load(&mut rig, vec![one(1)]).unwrap();
    assert_eq!(held(&rig), [(5000, 1)]);
    let library = core(&first, 0).libraries()[0];
    assert_eq!(library.what.get(), DMem::SHARED_UCODE);
    assert_eq!(rig.read(&library), pattern(5000, 1));
    rig.clear_log();
    let second = load(&mut rig, vec![one(1).var("more", VarClass::Output, 4)]).unwrap();
    assert_eq!(held(&rig), [(5000, 2)]);
    assert!(!rig.log().iter().any(|line| line.contains("UCODE_LIB")), "nothing more is taken");
    assert_eq!(core(&second, 0).libraries()[0].handle(), library.handle());
    assert_eq!(rig.sim.ledger().core(0).get(Usage::UcodeLib), 5000);
    audit::check(&rig, &[&first, &second]);
    // The one that brought it goes first.
    rig.unload(&first);
    assert_eq!(held(&rig), [(5000, 1)]);
    assert_eq!(rig.read(&library), pattern(5000, 1));
    audit::check(&rig, &[&second]);
    rig.unload(&second);
    audit::empty(&rig);
}

#[test]
fn memory_of_the_core_is_not_the_models() {
    let mut rig = Rig::new(Arch::Sunda);
    let shared = load(&mut rig, vec![one(1)]).unwrap();
    let own = load(&mut rig, vec![sunda().library("a.so", &pattern(64, 1)).library("b.so", &pattern(32, 2))])
        .unwrap();
    let code = |loaded| core(loaded, 0).breakdown().model_code;
    let images = |loaded: &_| -> u64 {
        let all = core(loaded, 0).allocations();
        all.iter().filter(|block| block.what.get() == DMem::IMAGE).map(|block| block.size.get()).sum()
    };
    assert_eq!(code(&shared), images(&shared), "GLOBAL memory is no item (staging.md §17.3)");
    assert_eq!(code(&own), images(&own) + 96);
    rig.unload(&shared);
    rig.unload(&own);
    audit::empty(&rig);
}

#[test]
fn other_bytes_other_cores_and_several_libraries_are_not_shared() {
    let mut rig = Rig::new(Arch::Sunda);
    let first = load(&mut rig, vec![one(1)]).unwrap();
    let other = load(&mut rig, vec![one(2)]).unwrap();
    let short = load(&mut rig, vec![sunda().library("lib.so", &pattern(4999, 1))]).unwrap();
    rig.core = 1;
    let elsewhere = load(&mut rig, vec![one(1)]).unwrap();
    rig.core = 0;
    assert_eq!(held(&rig), [(5000, 1), (5000, 1), (4999, 1), (5000, 1)]);
    // The table is full: a library more is its model's own.
    let own = load(&mut rig, vec![one(3)]).unwrap();
    let several =
        load(&mut rig, vec![sunda().library("a.so", &pattern(5000, 1)).library("b.so", &pattern(9, 1))])
            .unwrap();
    assert_eq!(held(&rig).len(), 4);
    for loaded in [&own, &several] {
        assert!(core(loaded, 0).libraries().iter().all(|block| block.what.get() == DMem::UCODE));
    }
    assert_eq!((core(&own, 0).libraries().len(), core(&several, 0).libraries().len()), (1, 2));
    let all = [&first, &other, &short, &elsewhere, &own, &several];
    audit::check(&rig, &all);
    all.into_iter().for_each(|loaded| rig.unload(loaded));
    audit::empty(&rig);
}

#[test]
fn newer_architectures_place_no_libraries() {
    let mut rig = Rig::new(Arch::Cayman);
    let hand = Hand::cayman().var("y", VarClass::Output, 4).library("lib.so", &pattern(64, 1));
    let loaded = load(&mut rig, vec![hand]).unwrap();
    assert!(core(&loaded, 0).libraries().is_empty() && held(&rig).is_empty());
}

#[test]
fn every_operation_may_fail_with_and_without_a_model_that_holds_it() {
    let mut rig = Rig::new(Arch::Sunda);
    let errors = rig.sweep(|rig| load(rig, vec![one(1)]));
    assert!(errors.len() > 10);
    let kept = load(&mut rig, vec![one(1)]).unwrap();
    let fewer = rig.sweep(|rig| load(rig, vec![one(1)]));
    assert_eq!(errors.len() - fewer.len(), 2, "the library is neither taken nor written");
    audit::check(&rig, &[&kept]);
    rig.unload(&kept);
    audit::empty(&rig);
}

/// A file for sunda with that library.
fn file(seed: u8) -> Vec<u8> {
    let library = json!({"library": "lib.so", "ulib_to_ucode_version": "1.21.1.0", "opcode": 0x40});
    let package = Package::base().member("sg00/lib.so", &pattern(70_000, seed));
    package.key("ucode_lib", json!([library])).neff()
}

fn sim(content: Content) -> HostSim {
    HostSim::new(Config { content, ..Config::flat(Arch::Sunda) }, Growing::new(true))
}

#[test]
fn a_loader_counts_it_for_the_core_and_frees_it_with_the_last_model() {
    let loader = Loader::new(sim(Content::Full));
    let before = loader.device().hash();
    let (mut a, mut b) = (Memory::with_arena(1 << 20), Memory::with_arena(1 << 20));
    let first = loader.load(&file(1), &mut a, &LoadOptions::default()).unwrap();
    let usage = loader.usage(CoreId(0));
    assert_eq!(usage.get(Usage::UcodeLib), 70_000);
    assert_eq!(usage.total(), loader.device().ledger().core(0).total(), "as the device's own ledger");
    let second = loader.load(&file(1), &mut b, &LoadOptions::default()).unwrap();
    assert_eq!(loader.libraries().iter().map(|library| library.refs).collect::<Vec<_>>(), [2]);
    assert_eq!(loader.usage(CoreId(0)).total(), loader.device().ledger().core(0).total());
    drop(first);
    assert_eq!(loader.usage(CoreId(0)).get(Usage::UcodeLib), 70_000);
    drop(second);
    assert!(loader.libraries().is_empty());
    assert_eq!(loader.device().hash(), before);
}

#[test]
fn loads_at_the_same_time_fill_it_once() {
    const THREADS: usize = 4;
    for seed in 0..20 {
        let loader = Loader::new(sim(Content::Digest));
        loader.device().set_delays(Some(seed));
        let (start, loaded) = (Barrier::new(THREADS), Barrier::new(THREADS));
        thread::scope(|scope| {
            for worker in 0..THREADS {
                let (loader, start, loaded) = (&loader, &start, &loaded);
                scope.spawn(move || {
                    let mut memory = Memory::with_arena(1 << 20);
                    start.wait();
                    let model = loader.load(&file(1), &mut memory, &LoadOptions::default()).unwrap();
                    loaded.wait();
                    let h_nn = model.keep();
                    if worker > 0 {
                        loader.unload(h_nn, Duration::ZERO).unwrap();
                    }
                });
            }
        });
        let written = loader.device().with(|state| written(state.events()));
        assert_eq!(written, 70_000, "seed {seed}");
        assert_eq!(loader.libraries().len(), 1);
    }
}

/// Bytes that were written into the one library.
fn written(events: &[Event]) -> u64 {
    let taken = |event: &&Event| matches!(event.kind, EventKind::Alloc { usage: Usage::UcodeLib, .. });
    let mut libraries = events.iter().filter(taken).map(|event| event.address);
    let first = libraries.next().expect("a library");
    assert_eq!(libraries.next(), None, "one library");
    let inside = |event: &&Event| {
        let write = matches!(event.kind, EventKind::Write { .. });
        write && (first..first + 70_000).contains(&event.address)
    };
    events.iter().filter(inside).map(|event| event.size).sum()
}

#[test]
fn a_load_that_fails_while_another_waits_for_its_library_leaves_that_one_whole() {
    let failing = Barrier::new(2);
    let device = Hooked::new(sim(Content::Full), |call| match call {
        Call::Write if thread::current().name() == Some("failing") => {
            failing.wait();
            // The other load is on its way by now; it must not find what is not filled.
            thread::sleep(Duration::from_millis(50));
            Err(DeviceError::Io(5))
        }
        _ => Ok(()),
    });
    let loader = Loader::new(device);
    thread::scope(|scope| {
        let failed = thread::Builder::new().name("failing".into()).spawn_scoped(scope, || {
            let mut memory = Memory::with_arena(1 << 20);
            let options = LoadOptions { threads: 1, ..LoadOptions::default() };
            loader.load(&file(1), &mut memory, &options).map(drop).unwrap_err()
        });
        failing.wait();
        let mut memory = Memory::with_arena(1 << 20);
        let model = loader.load(&file(1), &mut memory, &LoadOptions::default()).unwrap();
        assert_eq!(failed.unwrap().join().unwrap().error().status().number(), 1);
        let library = loader.libraries()[0];
        let mut found = vec![0; 70_000];
        loader.device().sim.with(|state| state.read(library.taken.handle, 0, &mut found)).unwrap();
        assert!(found == pattern(70_000, 1), "filled by the load that found none");
        drop(model);
    });
    loader.device().sim.audit().unwrap();
}
