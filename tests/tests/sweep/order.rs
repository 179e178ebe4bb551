//! Threads in other orders, by seeds: the same bytes, the same first error, nothing left.

use crate::case::{Point, memory, mix, options, pairs};
use neffload_tests::full;
use neuron_drivers::sim::{Claims, Content, EventKind, Fault, Faults};
use std::collections::BTreeSet;

fn seeds() -> u64 {
    if full() { 200 } else { 8 }
}

/// Operations of a core: those that take memory, and all of them.
fn counts(points: &[Point], core: usize) -> (u64, u64) {
    let own = || points.iter().filter(|point| point.core == core);
    (own().filter(|point| point.alloc).count() as u64, own().count() as u64)
}

#[test]
fn every_order_gives_the_same_bytes() {
    for case in pairs() {
        let (_, loaded) = case.points(&options(1));
        let (loader, mut memory) = (case.loader(Content::Digest), memory());
        let mut orders = BTreeSet::new();
        for seed in 0..seeds() {
            loader.device().set_delays(Some(seed));
            let model = case.load(&loader, &mut memory, &options(2)).unwrap();
            assert_eq!(loader.device().hash(), loaded, "{} seed {seed}", case.name);
            orders.insert(order(&loader));
            drop(model);
            loader.device().judge_idle(&Claims::default()).unwrap();
        }
        println!("{}: {} seeds, {} orders of the writes", case.name, seeds(), orders.len());
    }
}

/// The addresses that are written, in the order of the log.
fn order(loader: &loader_std::Loader<neuron_drivers::sim::HostSim>) -> Vec<u64> {
    loader.device().with(|state| {
        let writes = state.events().iter().filter(|event| matches!(event.kind, EventKind::Write { .. }));
        writes.map(|event| event.address).collect()
    })
}

/// Both cores fail, each at an operation of its own: the report is that of core 0, unless core 1 fails while memory is
/// still being taken, which happens before any thread starts.
fn both_fail(seed: u64, points: &[Point]) -> (Faults, usize) {
    let [(allocs, all), (other_allocs, other_all)] = [counts(points, 0), counts(points, 1)];
    let (a, b) = (1 + mix(seed) % all, 1 + mix(seed ^ 77) % other_all);
    let first = match (a <= allocs, b <= other_allocs) {
        (false, true) => 1,
        (true, true) => {
            let position = |core: usize, nth: u64| {
                let own = points.iter().enumerate().filter(|(_, point)| point.core == core);
                own.map(|(at, _)| at).nth(nth as usize - 1).unwrap()
            };
            usize::from(position(1, b) < position(0, a))
        }
        _ => 0,
    };
    (Faults::one(Fault::OnCore(0, a)).and(Fault::OnCore(1, b)), first)
}

#[test]
fn the_first_error_is_the_one_of_the_first_core_in_every_order() {
    let mut total = 0;
    for case in pairs() {
        let (points, _) = case.points(&options(1));
        let (loader, mut memory) = (case.loader(Content::Digest), memory());
        let before = loader.device().checkpoint();
        for seed in 0..seeds() {
            let (faults, first) = both_fail(seed, &points);
            loader.device().set_delays(Some(seed));
            loader.device().set_faults(faults);
            let error = case.load(&loader, &mut memory, &options(2)).err().unwrap();
            let at = format!("{} seed {seed}: {error}", case.name);
            assert_eq!(error.at().subgraph.map(usize::from), Some(first), "{at}");
            assert_eq!(error.status().number(), 1, "{at}");
            loader.device().judge_unchanged(&before).unwrap_or_else(|violation| panic!("{at}: {violation}"));
            loader.device().set_faults(Faults::NONE);
            drop(case.load(&loader, &mut memory, &options(2)).unwrap());
            loader.device().judge_unchanged(&before).unwrap();
            total += 1;
        }
    }
    println!("{total} loads in which both cores failed");
}

#[test]
fn one_failure_in_every_order_leaves_nothing() {
    let mut total = 0;
    for case in pairs() {
        let (points, _) = case.points(&options(1));
        let (loader, mut memory) = (case.loader(Content::Digest), memory());
        let before = loader.device().checkpoint();
        for seed in 0..seeds() {
            let k = 1 + mix(seed ^ 5) % points.len() as u64;
            loader.device().set_delays(Some(seed));
            loader.device().set_faults(Faults::one(Fault::Operation(k)));
            let error = case.load(&loader, &mut memory, &options(2)).err().unwrap();
            assert!(error.at().subgraph.is_some(), "{} seed {seed}: {error}", case.name);
            loader.device().judge_unchanged(&before).unwrap();
            loader.device().judge_idle(&Claims::default()).unwrap();
            total += 1;
        }
    }
    println!("{total} loads with one failure");
}
