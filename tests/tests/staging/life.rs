//! Conformance cases of staging.md §21: fan-out, rollback, lifecycle and log (T60 to T82).

use loader_core::arch::Arch;
use loader_core::device::{CoreId, Usage};
use loader_core::lower::record::RingType;
use loader_core::manifest::VarClass;
use loader_core::plan::{Breakdown, BreakdownLog, CoreView, ShowBytes};
use loader_std::{LoadOptions, Loader, Memory};
use neffload_tests::staging::model::{Hand, copy, join, pattern, side};
use neffload_tests::staging::{Loaded, Rig, audit, edited, kbins};
use neffload_tests::{fixture, fixture_files};
use neuron_drivers::sim::{Config, Fault, Faults, Growing, HostSim};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn load(rig: &mut Rig, hands: Vec<Hand>) -> Result<Loaded, loader_core::error::Error> {
    let (sets, members) = join(hands);
    rig.load(sets, members)
}

fn simple(seed: u8) -> Hand {
    let row = |from, to| vec![copy(side(from, 0, &[64, 1], &[1, 64]), side(to, 0, &[64, 1], &[1, 64]))];
    Hand::cayman()
        .constant("w", &pattern(40_000, seed), 64)
        .var("out", VarClass::Output, 4)
        .scratch("v", 0, 4096)
        .pointer("w-ADDR", 1)
        .queue("q", RingType::DATA, 2)
        .block(0, 0, Some(8), row(1, 0))
}

#[test]
fn staging_t60() {
    let mut rig = Rig::new(Arch::Cayman);
    rig.vcore_size = 1;
    let error = load(&mut rig, vec![simple(1), simple(2)]).unwrap_err();
    assert_eq!(error.status().number(), 9, "{error}");
    assert!(rig.log().is_empty());
    // Two cores are needed from core 7 of 8 on; an h_model is consumed, an h_nn is not.
    let file = std::fs::read(fixture("cayman-2core")).unwrap();
    let loader = Loader::new(HostSim::new(Config::flat(Arch::Cayman), Growing::new(false)));
    let mut memory = Memory::with_arena(16 << 20);
    let last = LoadOptions { core: 7, ..LoadOptions::default() };
    assert_eq!(loader.load(&file, &mut memory, &last).unwrap_err().status().number(), 9);
    assert_eq!(loader.device().operations(), 0);
    let model = loader.load(&file, &mut memory, &LoadOptions::default()).unwrap();
    assert_eq!((model.h_nn(), model.h_model()), (1, 2));
}

#[test]
fn staging_t61() {
    let mut rig = Rig::new(Arch::Cayman);
    rig.vcore_size = 2;
    assert!(load(&mut rig, vec![simple(1), simple(2), simple(3)]).is_err());
    assert!(rig.log().is_empty());
    let loaded = load(&mut rig, vec![simple(1)]).unwrap();
    assert_eq!(loaded.plan.core(0).unwrap().core().0, 0);
    audit::check(&rig, &[&loaded]);
}

#[test]
fn staging_t62() {
    let mut rig = Rig::new(Arch::Cayman);
    let total = {
        let loaded = load(&mut rig, vec![simple(1), simple(2)]).unwrap();
        rig.unload(&loaded);
        rig.sim.counters().allocs
    };
    for n in 1..=total {
        rig.sim.set_faults(Faults::one(Fault::Alloc(n)));
        let error = load(&mut rig, vec![simple(1), simple(2)]).unwrap_err();
        assert_eq!(error.status().number(), 4, "allocation {n}: {error}");
        audit::empty(&rig);
    }
}

#[test]
fn staging_t63() {
    let mut rig = Rig::new(Arch::Cayman);
    let errors = rig.sweep(|rig| load(rig, vec![simple(1), simple(2)]));
    assert!(errors.len() > 40);
    assert!(errors.iter().all(|error| error.status().number() == 1), "{errors:?}");
    let by_core = |core| errors.iter().filter(|error| error.at().subgraph == Some(core)).count();
    assert!(by_core(0) > 10 && by_core(1) > 10);
}

#[test]
fn a_core_that_fails_is_named() {
    let file = std::fs::read(fixture("cayman-2core")).unwrap();
    let loader = Loader::new(HostSim::new(Config::flat(Arch::Cayman), Growing::new(false)));
    let before = loader.device().hash();
    let mut memory = Memory::with_arena(16 << 20);
    for (core, threads) in [(1, 0), (0, 0), (1, 1)] {
        loader.device().set_faults(Faults::one(Fault::Core(core)));
        let error =
            loader.load(&file, &mut memory, &LoadOptions { threads, ..LoadOptions::default() }).unwrap_err();
        assert_eq!(error.at().subgraph, Some(core as u8), "{error}");
        assert_eq!(loader.device().hash(), before);
    }
    loader.device().set_faults(Faults::NONE);
    let model = loader.load(&file, &mut memory, &LoadOptions::default()).unwrap();
    assert_eq!((model.h_nn(), model.h_model()), (1, 4), "failed loads take an h_model, no h_nn");
}

#[test]
fn staging_t68() {
    let mut rig = Rig::new(Arch::Cayman);
    let other = Hand::cayman().remote("w{0}", 0, 1).var("out", VarClass::Output, 4);
    let loaded = load(&mut rig, vec![simple(1), other]).unwrap();
    let (first, second) = (loaded.plan.core(0).unwrap(), loaded.plan.core(1).unwrap());
    assert_eq!(second.resolve(1, 8, 8).unwrap(), first.resolve(1, 8, 8).unwrap());
    assert_eq!(rig.sim.ledger().core(1).get(Usage::Weight), 0);
    audit::check(&rig, &[&loaded]);
    rig.unload(&loaded);
    audit::empty(&rig);
}

/// staging.md §8.5: a remote variable leads to an address; an empty variable has none.
#[test]
fn a_remote_variable_of_an_empty_one_is_refused() {
    for (class, size, code) in [
        (VarClass::TmpBuf, 0, Some("S210")),
        (VarClass::TmpBuf, 1, None),
        (VarClass::Input, 0, Some("S210")),
        (VarClass::Input, 8, Some("S210")),
    ] {
        let owner = Hand::cayman().var("t", class, size).var("out", VarClass::Output, 4);
        let other = Hand::cayman().remote("r", 0, 1).var("out", VarClass::Output, 4);
        let mut rig = Rig::new(Arch::Cayman);
        let refused = load(&mut rig, vec![owner, other]).err();
        assert_eq!(refused.map(|error| error.id().to_string()).as_deref(), code, "{class:?} {size}");
        if code.is_some() {
            assert!(rig.log().is_empty(), "before any device call");
        }
    }
    // A state buffer has no size of its own.
    let other = Hand::cayman().remote("r", 0, 0).var("out", VarClass::Output, 4);
    load(&mut Rig::new(Arch::Cayman), vec![simple(1), other]).unwrap();
}

#[test]
fn staging_t69() {
    let remote = |subgraph, var| {
        let other = Hand::cayman().remote("r", subgraph, var).var("out", VarClass::Output, 4);
        join(vec![simple(1), other])
    };
    // Lowering refuses both; a product that names them all the same is refused here.
    for (subgraph, var, code) in [(2u32, 1u32, "S208"), (0, 99, "S209")] {
        assert!(kbins(remote(subgraph, var).0).is_err());
        let (sets, members) = remote(0, 1);
        let good = kbins(sets).unwrap();
        let wrong = edited(&good, &good.kbin(1).unwrap().mem_refs()[1], |record| {
            record.arm.0[..4].copy_from_slice(&subgraph.to_le_bytes());
            record.arm.0[4..8].copy_from_slice(&var.to_le_bytes());
        });
        let mut rig = Rig::new(Arch::Cayman);
        let error = rig.load_kbins(&wrong, members).unwrap_err();
        assert_eq!((error.id().to_string().as_str(), error.status().number()), (code, 1), "{error}");
        assert_eq!(error.at().subgraph, Some(1));
        assert!(rig.log().is_empty(), "before any device call");
        audit::empty(&rig);
    }
}

#[test]
fn staging_t70() {
    let mut rig = Rig::new(Arch::Cayman);
    let a = load(&mut rig, vec![simple(1)]).unwrap();
    let state = rig.state();
    let view = a.plan.core(0).unwrap();
    let addresses = |core: &CoreView<'_>| -> Vec<u64> {
        core.allocations().iter().map(|block| block.address().0).collect()
    };
    let before = addresses(&view);
    let mut big = simple(2);
    big.set.vars[3] = neffload_tests::lowering::handmade::Var::scratch(3, "v", 1 << 30, 4096);
    rig.clear_log();
    // Three pages are needed; the two that are missing are added, then the third block of B fails.
    rig.sim.set_faults(Faults::one(Fault::Alloc(5)));
    assert!(load(&mut rig, vec![big]).is_err());
    let added = rig.log().iter().filter(|line| line.contains("tag=scratchpad ->")).count();
    assert_eq!(added, 2);
    assert_eq!(rig.state(), state, "page references and all blocks of A");
    assert_eq!(addresses(&view), before);
    rig.sim.set_faults(Faults::NONE);
    audit::check(&rig, &[&a]);
}

#[test]
fn staging_t71() {
    let file = std::fs::read(fixture("cayman-2core")).unwrap();
    let loader = Loader::new(HostSim::new(Config::flat(Arch::Cayman), Growing::new(false)));
    let options = LoadOptions { h_model: Some(7), ..LoadOptions::default() };
    let (mut one, mut two) = (Memory::with_arena(16 << 20), Memory::with_arena(16 << 20));
    let first = loader.load(&file, &mut one, &options).unwrap();
    let state = loader.device().hash();
    let error = loader.load(&file, &mut two, &options).unwrap_err();
    assert_eq!((error.status().number(), error.id().to_string().as_str()), (3, "S601"));
    assert_eq!(loader.device().hash(), state);
    assert_eq!(loader.models(), [first.h_nn()]);
}

#[test]
fn staging_t76() {
    let file = std::fs::read(fixture("cayman-2core")).unwrap();
    let loader = Loader::new(HostSim::new(Config::flat(Arch::Cayman), Growing::new(false)));
    let before = loader.device().hash();
    for (deadline, in_time) in [(Duration::from_secs(10), true), (Duration::from_millis(10), false)] {
        let mut memory = Memory::with_arena(16 << 20);
        let model = loader.load(&file, &mut memory, &LoadOptions::default()).unwrap();
        let h_nn = model.h_nn();
        let (ready, wait) = mpsc::channel();
        thread::scope(|scope| {
            let loader = &loader;
            scope.spawn(move || {
                let _held = loader.acquire(h_nn).unwrap();
                ready.send(()).unwrap();
                thread::sleep(Duration::from_millis(if in_time { 50 } else { 300 }));
            });
            wait.recv().unwrap();
            let outcome = model.unload(deadline);
            assert_eq!(outcome.is_ok(), in_time);
            assert!(loader.models().is_empty());
        });
        assert_eq!(loader.device().hash(), before, "freed by the last user");
    }
}

#[test]
fn staging_t77() {
    let file = std::fs::read(fixture("sunda-1core")).unwrap();
    let loader = Loader::new(HostSim::new(Config::flat(Arch::Sunda), Growing::new(false)));
    let mut memory = Memory::with_arena(16 << 20);
    let model = loader.load(&file, &mut memory, &LoadOptions::default()).unwrap();
    let h_nn = model.h_nn();
    loader.unload(h_nn, Duration::ZERO).unwrap();
    for unknown in [h_nn, 99] {
        let error = loader.unload(unknown, Duration::ZERO).unwrap_err();
        assert_eq!(error.status().number(), 3);
    }
    drop(model);
    assert_eq!(loader.device().with(|state| state.live().count()), 0);
}

#[test]
fn staging_t78() {
    let file = std::fs::read(fixture("cayman-2core")).unwrap();
    let loader = Loader::new(HostSim::new(Config::flat(Arch::Cayman), Growing::new(false)));
    let (before, ledger) = (loader.device().hash(), loader.device().ledger());
    let mut memory = Memory::with_arena(4 << 20);
    for turn in 1..=1000 {
        let model = loader.load(&file, &mut memory, &LoadOptions::default()).unwrap();
        assert_eq!((model.h_nn(), model.h_model()), (turn, turn));
        drop(model);
        assert_eq!(loader.device().hash(), before);
    }
    assert_eq!(loader.device().ledger(), ledger);
    assert!(loader.pages(CoreId(0)).is_empty());
    assert_eq!(loader.datastore().count(), 0);
    loader.device().audit().unwrap();
}

#[test]
fn every_fixture_stands_every_failure() {
    for path in fixture_files() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let arch = match name.split('-').next() {
            Some("sunda") => Arch::Sunda,
            Some("cayman") => Arch::Cayman,
            Some("mariana") => Arch::Mariana,
            _ => continue,
        };
        let file = std::fs::read(&path).unwrap();
        let loader = Loader::new(HostSim::new(Config::flat(arch), Growing::new(false)));
        let before = loader.device().hash();
        let mut memory = Memory::with_arena(8 << 20);
        let options = LoadOptions { threads: 1, ..LoadOptions::default() };
        drop(loader.load(&file, &mut memory, &options).unwrap_or_else(|error| panic!("{name}: {error}")));
        loader.device().set_faults(Faults::NONE);
        drop(loader.load(&file, &mut memory, &options).unwrap());
        for k in 1..=loader.device().operations() {
            loader.device().set_faults(Faults::one(Fault::Operation(k)));
            let failed = loader.load(&file, &mut memory, &options).is_err();
            assert!(failed, "{name}: operation {k}");
            assert_eq!(loader.device().hash(), before, "{name}: operation {k}");
        }
        loader.device().set_faults(Faults::NONE);
        drop(loader.load(&file, &mut memory, &options).unwrap());
        assert_eq!(loader.device().hash(), before, "{name}");
    }
}

#[test]
fn staging_t81() {
    let shown = [0, 1023, 1024, 1 << 20, 1 << 30, 446_576, 461_832].map(|bytes| ShowBytes(bytes).to_string());
    let expected = ["0.000B", "1023.000B", "1.000KB", "1.000MB", "1.000GB", "436.109KB", "451.008KB"];
    assert_eq!(shown, expected);
}

#[test]
fn staging_t80() {
    let bytes = [
        (Usage::InstrPe, 31296),
        (Usage::Weight, 24576),
        (Usage::Generic, 97280),
        (Usage::DmaRingIo, 62464),
        (Usage::DmaRingSpill, 16384),
        (Usage::DmaRing, 4096),
    ];
    let of = |usage| bytes.iter().find(|(other, _)| *other == usage).map_or(0, |(_, bytes)| *bytes);
    let breakdown = Breakdown::from_usages(of);
    let log = BreakdownLog {
        device: 0,
        core: 3,
        core_total: 236_096,
        shared_scratchpad: 512 << 20,
        name: "model",
        breakdown,
    };
    let expected = "[ND 0:NC 3] Current Usage Total: 230.562KB
        shared scratchpad: 512.000MB
Per NEFF memory usage breakdown for [model]:
        Total: 230.562KB
        * model code: 30.562KB
        * model constants: 24.000KB
        * scratchpad: 0.000B
        * runtime: 95.000KB
        * dma rings io: 61.000KB
        * dma rings spill: 16.000KB
        * dma rings collectives: 0.000B
        * dma rings runtime: 4.000KB
        * collectives: 0.000B
";
    assert_eq!(log.to_string(), expected);
}

#[test]
fn staging_t82() {
    let file = std::fs::read(fixture("cayman-2core")).unwrap();
    let loader = Loader::new(HostSim::new(Config::flat(Arch::Cayman), Growing::new(false)));
    let mut memory = Memory::with_arena(16 << 20);
    let model = loader.load(&file, &mut memory, &LoadOptions::default()).unwrap();
    let log = model.memory_log().to_string();
    let heads: Vec<&str> = log.lines().filter(|line| line.starts_with("[ND ")).collect();
    assert_eq!(heads.len(), 2);
    for (index, core) in (0u16..).zip(model.plan().cores()) {
        let row = loader.device().ledger().core(index);
        let total = core.breakdown().total();
        assert_eq!(total + row.get(Usage::Scratchpad), row.total(), "pages are not in the total");
        let head = format!("[ND 0:NC {index}] Current Usage Total: {}", ShowBytes(row.total()));
        assert_eq!(heads[usize::from(index)], head, "by core, after all cores were built");
        assert!(log.contains(&format!("        Total: {}\n", ShowBytes(total))));
        assert_eq!(loader.usage(CoreId(index)).total(), row.total());
    }
    assert_eq!(log.lines().count(), 2 * 13);
}
