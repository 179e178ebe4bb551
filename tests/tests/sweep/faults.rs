//! The k-th operation fails: reported with stage, core and status; nothing is left; a second load succeeds.

use crate::case::{Case, Point, cases, memory, mix, options, paged, sample};
use loader_core::error::{Error, Stage};
use loader_std::{LoadOptions, Loader};
use neffload_tests::full;
use neuron_drivers::sim::{Claims, Content, Fault, Faults, HostSim};

/// The device and the loader are as before any load, and no invariant is broken.
fn clean(loader: &Loader<HostSim>, at: &str) {
    let idle = loader.device().judge_idle(&Claims::default());
    idle.unwrap_or_else(|violation| panic!("{at}: {violation}"));
    assert!(loader.models().is_empty() && loader.scratchpad().is_empty(), "{at}");
}

/// A refusal names stage, core and status of the operation that failed.
fn reported(error: &Error, point: Point, status: u32, at: &str) {
    let stage = if point.alloc { Stage::Plan } else { Stage::Stage };
    assert_eq!(error.stage(), stage, "{at}: {error}");
    assert_eq!(error.at().subgraph.map(usize::from), Some(point.core), "{at}: {error}");
    assert_eq!(error.status().number(), status, "{at}: {error}");
}

/// Every operation in turn; returns how many failed.
fn sweep(case: &Case, content: Content, options: &LoadOptions, some: u64) -> usize {
    let (points, loaded) = case.points(options);
    let (loader, mut memory) = (case.loader(content), memory());
    let before = loader.device().checkpoint();
    let chosen = sample(points.len() as u64, some);
    for &k in &chosen {
        let at = format!("{} operation {k} of {}", case.name, points.len());
        loader.device().set_faults(Faults::one(Fault::Operation(k)));
        let error =
            case.load(&loader, &mut memory, options).err().unwrap_or_else(|| panic!("{at}: no error"));
        reported(&error, points[k as usize - 1], 1, &at);
        loader.device().judge_unchanged(&before).unwrap_or_else(|violation| panic!("{at}: {violation}"));
        clean(&loader, &at);
        let model =
            case.load(&loader, &mut memory, options).unwrap_or_else(|error| panic!("{at}: then {error}"));
        if content == Content::Digest {
            assert_eq!(loader.device().hash(), loaded, "{at}: the second load");
        }
        drop(model);
        clean(&loader, &at);
    }
    chosen.len()
}

#[test]
fn every_operation_of_every_file_may_fail() {
    let (mut total, cases) = (0, cases());
    for case in &cases {
        total += sweep(case, Content::Digest, &options(1), 10);
    }
    println!("{total} failed operations over {} files", cases.len());
    assert!(cases.len() >= 4 && total >= 40);
}

#[test]
fn every_operation_may_fail_with_other_pages_and_with_bytes_kept() {
    let mut total = 0;
    for case in cases().iter().filter(|case| full() || case.name.ends_with("gather")) {
        total += sweep(case, Content::Full, &paged(1), 6);
    }
    println!("{total} failed operations with separate pages, bytes kept");
    assert!(total > 6);
}

#[test]
fn every_allocation_may_find_no_memory() {
    let mut total = 0;
    for case in cases() {
        for options in [options(1), paged(1)] {
            let (points, _) = case.points(&options);
            let allocations: Vec<Point> = points.into_iter().filter(|point| point.alloc).collect();
            let (loader, mut memory) = (case.loader(Content::Digest), memory());
            let before = loader.device().checkpoint();
            for k in sample(allocations.len() as u64, 5) {
                let at = format!("{} allocation {k}", case.name);
                loader.device().set_faults(Faults::one(Fault::Alloc(k)));
                let outcome = case.load(&loader, &mut memory, &options);
                // A page of one range that finds no memory is a ceiling and no failure (staging.md §13.2, F7).
                let Err(error) = outcome else {
                    assert!(options.policy.contiguous_scratchpad, "{at}");
                    continue;
                };
                reported(&error, allocations[k as usize - 1], 4, &at);
                loader.device().judge_unchanged(&before).unwrap();
                total += 1;
            }
            clean(&loader, &case.name);
        }
    }
    println!("{total} allocations without memory");
    assert!(total > 20);
}

/// Two failures: one in this load and one in the next, in all the ways that follow one another; or one in this load, and one
/// of the frees that undo it. Pairs are sampled: `some` first ones, each with seven second ones.
fn twice(case: &Case, some: u64) -> usize {
    let options = options(1);
    let (points, loaded) = case.points(&options);
    let all = points.len() as u64;
    let (loader, mut memory) = (case.loader(Content::Digest), memory());
    let before = loader.device().checkpoint();
    let firsts: Vec<u64> = (0..some).map(|at| 1 + mix(at ^ all) % all).collect();
    let mut pairs = 0;
    for &first in &firsts {
        let later = [1, all / 2, all].map(|more| Fault::Operation(first + more.max(1)));
        let drawn = Fault::Operation(first + 1 + mix(first) % all);
        let undone = points[..first as usize - 1].iter().filter(|point| point.alloc).count() as u64;
        let frees = [1, undone.max(1), 1 + mix(first) % undone.max(1)].map(Fault::Free);
        for second in later.into_iter().chain([drawn]).chain(frees) {
            let at = format!("{} operation {first}, then {second:?}", case.name);
            loader.device().set_faults(Faults::one(Fault::Operation(first)).and(second));
            let error = case.load(&loader, &mut memory, &options).err().unwrap();
            reported(&error, points[first as usize - 1], 1, &at);
            loader.device().judge_unchanged(&before).unwrap_or_else(|violation| panic!("{at}: {violation}"));
            if let Fault::Operation(next) = second {
                let error = case.load(&loader, &mut memory, &options).err().unwrap();
                reported(&error, points[(next - first) as usize - 1], 1, &at);
                loader.device().judge_unchanged(&before).unwrap();
            }
            let model = case.load(&loader, &mut memory, &options).unwrap();
            assert_eq!(loader.device().hash(), loaded, "{at}");
            drop(model);
            clean(&loader, &at);
            pairs += 1;
        }
    }
    pairs
}

#[test]
fn two_operations_may_fail() {
    let some = if full() { 60 } else { 2 };
    let pairs: usize = cases().iter().map(|case| twice(case, some)).sum();
    println!("{pairs} pairs of failures");
    assert!(pairs >= 50);
}
