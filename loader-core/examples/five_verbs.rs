//! A whole load with the five verbs of `loader_core`, in memory that this program gives: no file, no thread and no
//! allocation below `main`.
//!
//! ```text
//! cargo run --package loader-core --example five_verbs -- tests/fixtures/cayman-2core.neff
//! ```
#![allow(clippy::indexing_slicing, clippy::panic, reason = "a program, not the loader")]

use loader_core::arch::Arch;
use loader_core::arena::Arena;
use loader_core::container::{Extent, Layer, Resident, SliceStore, Store, Workspace, unpack};
use loader_core::device::{CoreId, Device};
use loader_core::error::{Error, NoteList};
use loader_core::limits::Limits;
use loader_core::lower::lower;
use loader_core::manifest;
use loader_core::plan::pages::PageTable;
use loader_core::plan::record::LoadParams;
use loader_core::plan::{Plan, Request, place};
use loader_core::policy::Policy;
use loader_core::stage::{SCRATCH_BYTES, stage, unload};
use neuron_drivers::sim::{Config, Growing, HostSim};

/// Everything a load needs besides the file and the device, at sizes that hold the project's fixtures.
struct Memory {
    arena: Vec<u8>,
    members: Vec<u8>,
    input: Vec<u8>,
    layers: [Layer; 1],
    names: Vec<u8>,
    scratch: Vec<u8>,
}

fn load(file: &[u8], device: &impl Device, memory: &mut Memory) -> Result<(), Error> {
    let (limits, policy) = (Limits::DEFAULT, Policy::DEFAULT);
    let mut notes = NoteList::<16>::new();
    let Memory { arena, members, input, layers, names, scratch } = memory;
    let full = |full| Error::arena(loader_core::error::Stage::Unpack, full);
    let mut arena = Arena::new(arena).map_err(full)?;
    let mut store = SliceStore::new(members);
    let mut extents = [Extent::default(); 16];
    let work = Workspace { input, layers, names, extents: &mut extents };

    // S0, S1: the file becomes a header, a digest verdict and a table of members.
    let container = unpack(&mut &file[..], work, &mut store, &mut arena, &limits, &policy, &mut notes)?;
    let mut payload = Resident::new(container, store.bytes());
    // S2: the members become a graph, a descriptor and definitions.
    let manifest = manifest::parse(&mut payload, &mut arena, &limits, &policy, &mut notes)?;
    // S3: every definition becomes a kbin of records.
    let kbins = lower(&mut payload, &manifest, &mut arena, &limits, &policy, &mut notes)?;
    // S4: every record gets its place in device memory.
    let mut slots = [None; 64];
    let mut pages = PageTable::new(&mut slots);
    let request = Request {
        name: container.header.name.as_bytes(),
        core: CoreId(0),
        vcore_size: u16::try_from(container.header.lnc_size.max(1)).unwrap_or(1),
        h_model: 1,
        params: LoadParams::default(),
        owned: (0, device.cores()),
        policy: &policy,
        limits: &limits,
    };
    let plan = place(&mut payload, &kbins, device, &request, &mut pages, &mut arena)?;
    // S5: the places are filled.
    let outcome = stage(&mut payload, &plan, device, &policy, scratch);
    if outcome.is_ok() {
        describe(&plan, arena.high_water());
    }
    unload(&plan, device, &mut pages);
    outcome
}

fn describe(plan: &Plan<'_>, arena: usize) {
    for core in plan.cores() {
        let bytes: u64 = core.allocations().iter().map(|block| block.size.get()).sum();
        let (variables, blocks) = (core.variables().len(), core.allocations().len());
        println!("core {}: {variables} variables, {bytes} bytes in {blocks} blocks", core.core().0);
    }
    println!("arena: {arena} bytes at most");
}

fn main() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/cayman-2core.neff");
    let path = std::env::args().nth(1).unwrap_or_else(|| fixture.to_owned());
    let file = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let device = HostSim::new(Config::flat(Arch::Cayman), Growing::new(false));
    let before = device.hash();
    let mut memory = Memory {
        arena: vec![0; 1 << 20],
        members: vec![0; 4 << 20],
        input: vec![0; 64 << 10],
        layers: [Layer::new()],
        names: vec![0; 3 * 512],
        scratch: vec![0; SCRATCH_BYTES],
    };
    if let Err(error) = load(&file, &device, &mut memory) {
        eprintln!("{path}: {error}");
        std::process::exit(1);
    }
    assert_eq!(device.hash(), before, "everything was given back");
}
