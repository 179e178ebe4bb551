//! Processor time against the number of constants: placing, filling and unloading grow with it and not with its square.

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
use neuron_drivers::harness::thread_cpu;
use neuron_drivers::sim::{Config, Content, Growing, HostSim};

/// How many times larger the larger of two models is.
pub(crate) const TIMES: u64 = 16;
/// How many times longer it may take. A square takes 256 times as long; the smaller model fits the processor's caches and the
/// larger one does not, which costs up to three times.
pub(crate) const BOUND: f64 = 16.0 * 3.5;

/// Bytes of arena for so many constants.
const fn room(count: u64) -> usize {
    (4 << 20) + count as usize * 768
}

/// A model with so many constants of mixed sizes, and of mixed alignments up to 128 bytes or all of one large alignment.
fn constants(count: u64, align: Option<u32>) -> (Kbins<'static>, Members) {
    let mut hand = Hand::cayman().var("y", loader_core::manifest::VarClass::Output, 64);
    for at in 0..count {
        let bytes = vec![at as u8; 1 + (mix(at) % 700) as usize];
        let align = align.unwrap_or(1 << (mix(at) >> 20 & 7));
        hand = hand.constant(&format!("w{at}"), &bytes, align);
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
    let start = thread_cpu();
    let plan = loader_core::plan::place(members, kbins, &sim, &request, &mut pages, &mut arena).unwrap();
    let placed = thread_cpu() - start;
    stage(members, &plan, &sim, &Policy::DEFAULT, &mut vec![0; SCRATCH_BYTES]).unwrap();
    let filled = thread_cpu() - start;
    unload(&plan, &sim, &mut pages);
    [placed, filled - placed, thread_cpu() - start - filled].map(|time| time.as_secs_f64())
}

/// The best of three.
fn best(count: u64, align: Option<u32>) -> [f64; 3] {
    let (kbins, mut members) = constants(count, align);
    let runs = [0; 3].map(|_| seconds(&kbins, &mut members));
    [0, 1, 2].map(|part| runs.iter().map(|run| run[part]).fold(f64::INFINITY, f64::min))
}

#[test]
fn time_grows_with_the_number_of_constants() {
    let many = if full() { 96_000 } else { 24_000 };
    let few = many / TIMES;
    for align in [None, Some(1 << 16)] {
        let (small, large) = (best(few, align), best(many, align));
        for (part, (small, large)) in
            ["place", "fill", "unload"].into_iter().zip(small.into_iter().zip(large))
        {
            println!(
                "{part}, alignment {align:?}: {many} constants {large:.4} s, {few} constants {small:.4} s"
            );
            let most = small * BOUND;
            assert!(large < most, "{part}: {large:.4} s for {many} constants, {small:.4} s for {few}");
        }
    }
}
