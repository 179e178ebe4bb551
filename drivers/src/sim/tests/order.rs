//! Delays, numbered faults, and the log that names them.

use super::{memory, spec, start, take};
use crate::sim::{Config, Content, EventKind, Fault, Faults, Growing, HostSim, Profile};
use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, Device, DeviceError};
use std::collections::BTreeSet;
use std::thread;
use std::vec::Vec;

/// The cores of the operations of two threads, in the order of the log.
fn order(seed: Option<u64>) -> Vec<u16> {
    let sim =
        HostSim::new(Config { content: Content::Discard, ..Config::flat(Arch::Cayman) }, Growing::new(true));
    sim.set_delays(seed);
    thread::scope(|scope| {
        for core in [0, 2] {
            let sim = &sim;
            scope.spawn(move || {
                for _ in 0..12 {
                    sim.alloc(&AllocSpec { core: CoreId(core), ..spec(1, 0) }).unwrap();
                }
            });
        }
    });
    let core = |kind: EventKind| if let EventKind::Alloc { core, .. } = kind { core } else { u16::MAX };
    sim.with(|state| state.events().iter().map(|event| core(event.kind)).collect())
}

#[test]
fn seeds_bring_threads_in_different_orders() {
    // A busy machine runs a thread to its end where an idle one lets them take turns: then it takes more seeds.
    let mut orders = BTreeSet::new();
    let mut seeds = 0..4000;
    while orders.len() < 10 {
        orders.insert(order(seeds.next()));
        assert!(!seeds.is_empty(), "{} orders", orders.len());
    }
    for order in orders {
        assert_eq!(order.iter().filter(|&&core| core == 2).count(), 12);
    }
}

#[test]
fn a_fault_on_a_core_hits_the_same_operation_in_every_order() {
    let mut memory = memory();
    let sim = start(&mut memory, Profile::Flat, Content::Discard);
    sim.set_faults(Faults::one(Fault::OnCore(1, 2)));
    let other = AllocSpec { core: CoreId(1), ..spec(1, 0) };
    take(&sim, 1, 0);
    let block = sim.alloc(&other).unwrap();
    take(&sim, 1, 0);
    assert_eq!(sim.write(block.handle, 0, &[1]), Err(DeviceError::Io(5)));
    sim.write(block.handle, 0, &[1]).unwrap();
}

#[test]
fn a_free_can_fail_once() {
    let mut memory = memory();
    let sim = start(&mut memory, Profile::Flat, Content::Discard);
    let (a, b) = (take(&sim, 1, 0), take(&sim, 1, 0));
    sim.set_faults(Faults::one(Fault::Free(2)));
    sim.free(a.handle).unwrap();
    assert_eq!(sim.free(b.handle), Err(DeviceError::Io(5)));
    sim.free(b.handle).unwrap();
    sim.audit().unwrap();
}

#[test]
fn the_log_numbers_every_fault_point() {
    let mut memory = memory();
    let sim = start(&mut memory, Profile::Flat, Content::Full);
    let block = take(&sim, 10, 0);
    sim.write(block.handle, 0, b"ab").unwrap();
    sim.read(block.handle, 0, &mut [0; 2]).unwrap();
    sim.free(block.handle).unwrap();
    let numbers: Vec<u64> = sim.with(|state| state.events().iter().map(|event| event.operation).collect());
    assert_eq!(numbers, [1, 2, 3, 0]);
    for k in 1..=3 {
        sim.set_faults(Faults::one(Fault::Operation(k)));
        let block = sim.alloc(&spec(10, 0));
        let rest = block
            .map(|block| (sim.write(block.handle, 0, b"ab"), sim.read(block.handle, 0, &mut [0; 2]), block));
        let failed = match rest {
            Err(_) => 1,
            Ok((Err(_), _, _)) => 2,
            Ok((_, Err(_), _)) => 3,
            Ok(_) => 0,
        };
        assert_eq!(failed, k);
        if let Ok((.., block)) = rest {
            sim.free(block.handle).unwrap();
        }
    }
}
