//! 1,000 loads and unloads of a mix of files on 8 cores from 8 threads, judged at every step.

use crate::case::{Case, cases, memory, mix};
use loader_core::arch::Arch;
use loader_core::policy::Policy;
use loader_core::source::{MemberId, Payload};
use loader_std::{LoadOptions, Loader};
use neffload_tests::full;
use neffload_tests::lowering::package::parse_neff;
use neffload_tests::staging::claims::{self, Model};
use neuron_drivers::sim::{Config, Content, Growing, HostSim};
use std::collections::BTreeMap;
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

const THREADS: usize = 8;

/// A file with its members.
pub(crate) struct Mixed {
    pub(crate) case: Case,
    pub(crate) members: Vec<Vec<u8>>,
}

/// The files for one architecture; the simulated device has 8 cores of it.
pub(crate) fn mixed(arch: Arch) -> Vec<Mixed> {
    let of_arch = cases().into_iter().filter(|case| case.arch == arch);
    of_arch
        .map(|case| {
            let payload = parse_neff(&case.file, &Policy::DEFAULT, 32 << 20).unwrap().payload;
            let ids = (0..payload.table().len()).map(MemberId);
            let members = ids.map(|id| payload.bytes(id).unwrap_or_default().to_vec()).collect();
            Mixed { case, members }
        })
        .collect()
}

/// Everything that is loaded, as the loader would say it.
type Resident = Mutex<BTreeMap<u32, Model>>;

fn judge(loader: &Loader<HostSim>, resident: &Resident) {
    let resident = resident.lock().unwrap();
    assert_eq!(loader.models(), resident.keys().copied().collect::<Vec<_>>());
    let pages: Vec<_> = loader.scratchpad().iter().map(claims::page).collect();
    let shared: Vec<_> = loader.libraries().iter().map(claims::library).collect();
    let models: Vec<&Model> = resident.values().collect();
    let judged = claims::with((&pages, &shared), &models, |claims| loader.device().judge(claims));
    judged.unwrap_or_else(|violation| panic!("{violation}"));
}

/// Ends the test when its thread panics: the others would wait for it at the barrier.
struct Together;

impl Drop for Together {
    fn drop(&mut self) {
        if thread::panicking() {
            std::process::abort();
        }
    }
}

/// What one thread does in a round: a load on a pair of cores that four threads share two by two; it stays loaded for one
/// or two rounds.
fn work(
    worker: usize,
    rounds: u64,
    loader: &Loader<HostSim>,
    files: &[Mixed],
    resident: &Resident,
    step: &Barrier,
) {
    let _together = Together;
    let mut kept: Vec<u32> = Vec::new();
    let mut memory = memory();
    for round in 0..rounds {
        let draw = mix(round << 8 | worker as u64);
        let Mixed { case, members } = &files[draw as usize % files.len()];
        let core = (draw >> 20) as u16 % 4 * 2;
        let options = LoadOptions { core, threads: 1 + worker % 2, ..LoadOptions::default() };
        let model = loader.load(&case.file, &mut memory, &options).unwrap();
        let claim = Model::of(model.plan(), members);
        let handle = model.keep();
        resident.lock().unwrap().insert(handle, claim);
        kept.push(handle);
        judged_by_one(step, || judge(loader, resident));
        let most = if round + 1 == rounds { 0 } else { draw as usize >> 30 & 1 };
        while kept.len() > most {
            let handle = kept.remove(0);
            loader.unload(handle, Duration::ZERO).unwrap();
            resident.lock().unwrap().remove(&handle);
        }
        judged_by_one(step, || judge(loader, resident));
    }
}

/// All threads wait while one of them judges.
fn judged_by_one(step: &Barrier, judge: impl FnOnce()) {
    if step.wait().is_leader() {
        judge();
    }
    step.wait();
}

#[test]
fn a_thousand_loads_from_eight_threads() {
    let loads = if full() { 1000 } else { 64 };
    let rounds = loads / THREADS as u64;
    for arch in [Arch::Cayman, Arch::Mariana] {
        let files = mixed(arch);
        let config = Config { cores: 8, content: Content::Full, ..Config::flat(arch) };
        let loader = Loader::new(HostSim::new(config, Growing::new(false)));
        let before = loader.device().checkpoint();
        let (resident, step) = (Resident::default(), Barrier::new(THREADS));
        thread::scope(|scope| {
            for worker in 0..THREADS {
                let (loader, files, resident, step) = (&loader, &files, &resident, &step);
                scope.spawn(move || work(worker, rounds, loader, files, resident, step));
            }
        });
        loader.device().judge_unchanged(&before).unwrap();
        claims::with((&[], &[]), &[], |claims| loader.device().judge_idle(claims)).unwrap();
        let count = loader.device().counters();
        assert_eq!(count.allocs, count.frees);
        println!("{}: {loads} loads of {} files", arch.name(), files.len());
    }
}
