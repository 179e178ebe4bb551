//! Time against the number of constants: placing, filling and unloading grow with it and not with its square.

use crate::case::mix;
use loader_core::arch::Arch;
use loader_core::arena::Arena;
use loader_core::error::NoteList;
use loader_core::limits::Limits;
use loader_core::lower::{Kbins, lower_from};
use loader_core::plan::Request;
use loader_core::plan::pages::PageTable;
use loader_core::plan::record::LoadParams;
use loader_core::policy::Policy;
use loader_core::stage::{SCRATCH_BYTES, stage, unload};
use neffload_tests::full;
use neffload_tests::lowering::handmade::Working;
use neffload_tests::lowering::memory;
use neffload_tests::staging::Members;
use neffload_tests::staging::model::{Hand, join};
use neuron_drivers::sim::{Config, Content, Growing, HostSim};
use std::time::Instant;

/// Bytes of arena for so many constants.
const fn room(count: u64) -> usize {
    (4 << 20) + count as usize * 768
}

/// A model with so many constants of mixed sizes.
fn constants(count: u64) -> (Kbins<'static>, Members) {
    let mut hand = Hand::cayman().var("y", loader_core::manifest::VarClass::Output, 64);
    for at in 0..count {
        let bytes = vec![at as u8; 1 + (mix(at) % 700) as usize];
        hand = hand.constant(&format!("w{at}"), &bytes, 1 << (mix(at) >> 20 & 7));
    }
    let (sets, members) = join(vec![hand]);
    let mut working = Working::new(sets);
    let input = working.clone();
    let mut arena = Arena::new(memory(room(count))).unwrap();
    let mut notes = NoteList::<16>::new();
    let kbins = lower_from(&input, &mut working, &mut arena, &Limits::DEFAULT, &Policy::DEFAULT, &mut notes);
    (kbins.unwrap_or_else(|error| panic!("{error}")), members)
}

/// Seconds to place, to fill and to unload it.
fn seconds(kbins: &Kbins<'static>, members: &mut Members) -> [f64; 3] {
    let sim =
        HostSim::new(Config { content: Content::Digest, ..Config::flat(Arch::Cayman) }, Growing::new(false));
    let mut pages = vec![None; 64];
    let mut pages = PageTable::new(&mut pages);
    let mut arena = Arena::new(memory(room(kbins.kbin(0).unwrap().mem_refs().len() as u64))).unwrap();
    let request = Request {
        name: b"constants",
        core: loader_core::device::CoreId(0),
        vcore_size: 1,
        h_model: 1,
        params: LoadParams::default(),
        owned: (0, 8),
        policy: &Policy::DEFAULT,
        limits: &Limits::DEFAULT,
    };
    let start = Instant::now();
    let plan = loader_core::plan::place(members, kbins, &sim, &request, &mut pages, &mut arena).unwrap();
    let placed = start.elapsed();
    stage(members, &plan, &sim, &Policy::DEFAULT, &mut vec![0; SCRATCH_BYTES]).unwrap();
    let filled = start.elapsed();
    unload(&plan, &sim, &mut pages);
    [placed, filled - placed, start.elapsed() - filled].map(|time| time.as_secs_f64())
}

/// The best of three.
fn best(count: u64) -> [f64; 3] {
    let (kbins, mut members) = constants(count);
    let runs = [0; 3].map(|_| seconds(&kbins, &mut members));
    [0, 1, 2].map(|part| runs.iter().map(|run| run[part]).fold(f64::INFINITY, f64::min))
}

#[test]
fn time_grows_with_the_number_of_constants() {
    let (few, many) = if full() { (20_000, 100_000) } else { (2_000, 20_000) };
    let (small, large) = (best(few), best(many));
    let times = (many / few) as f64;
    for (part, (small, large)) in ["place", "fill", "unload"].into_iter().zip(small.into_iter().zip(large)) {
        println!("{part}: {many} constants {large:.3} s, {few} constants {small:.3} s");
        // A square takes whole seconds here; caches and a busy machine cost some factor.
        let most = (small * times * 4.0).max(0.3);
        assert!(large < most, "{part}: {large:.3} s for {many} constants, {small:.3} s for {few}");
    }
}
