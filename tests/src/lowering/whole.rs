//! A file loaded to the end, in one of the ways: everything that must not depend on the way.

use crate::payload::{Chunked, with_buffers};
use loader_core::arch::Arch;
use loader_core::arena::Arena;
use loader_core::container::{Resident, unpack};
use loader_core::device::{CoreId, Device};
use loader_core::error::{Error, Ignored};
use loader_core::limits::Limits;
use loader_core::lower::lower;
use loader_core::manifest::parse;
use loader_core::plan::pages::PageTable;
use loader_core::plan::record::LoadParams;
use loader_core::plan::{Plan, Request, place};
use loader_core::policy::Policy;
use loader_core::stage::{SCRATCH_BYTES, stage};
use loader_std::container::VecStore;
use loader_std::file::Buffers;
use loader_std::loader::StreamMemory;
use loader_std::{LoadOptions, Loader, Memory};
use neuron_drivers::sim::{Config, Content, Growing, HostSim};

/// How a file is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From memory, its cores filled by so many threads.
    Threads(usize),
    /// From a stream.
    Streamed,
    /// From memory, its members in pieces of so many bytes.
    Pieces(usize),
}

/// What is left of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The arena's head with all records.
    pub product: Vec<u8>,
    /// The device, with every byte on it.
    pub device: u64,
}

fn sim(arch: Arch) -> HostSim {
    HostSim::new(Config { content: Content::Digest, ..Config::flat(arch) }, Growing::new(false))
}

fn whole(plan: &Plan<'_>, sim: &HostSim) -> Whole {
    let product = [plan.kbins().head().bytes(), plan.head().bytes()].concat();
    Whole { product, device: sim.hash() }
}

/// Loads a file for `arch` in one of the ways.
///
/// # Errors
/// The load's refusal.
pub fn load(neff: &[u8], arch: Arch, policy: &Policy, way: Way) -> Result<Whole, Error> {
    let options = LoadOptions { policy: *policy, ..LoadOptions::default() };
    let loader = Loader::new(sim(arch));
    match way {
        Way::Threads(threads) => {
            let mut memory = Memory::with_arena(64 << 20);
            let model = loader.load(neff, &mut memory, &LoadOptions { threads, ..options })?;
            Ok(whole(model.plan(), loader.device()))
        }
        Way::Streamed => Ok(StreamMemory::enough(64 << 20, |memory, _| {
            let mut source = neff;
            let model = loader.load_streamed(&mut source, memory, &options)?;
            Ok(whole(model.plan(), loader.device()))
        })?),
        Way::Pieces(bytes) => with_buffers(|buffers| in_pieces(buffers, neff, arch, policy, bytes)),
    }
}

/// What [`Loader::load`] does, with a payload that lends nothing.
fn in_pieces(
    buffers: &mut Buffers,
    neff: &[u8],
    arch: Arch,
    policy: &Policy,
    bytes: usize,
) -> Result<Whole, Error> {
    let (limits, sim) = (Limits::DEFAULT, sim(arch));
    let mut memory = vec![0; 64 << 20];
    let mut arena = Arena::new(&mut memory).expect("room");
    let (mut source, mut store, work) = (neff, VecStore::new(), buffers.workspace());
    let container = unpack(&mut source, work, &mut store, &mut arena, &limits, policy, &mut Ignored)?;
    let policy = &policy.of_file(container.header.lnc_size);
    let held = store.into_bytes();
    let mut payload = Chunked { inner: Resident::new(container, &held), bytes };
    let manifest = parse(&mut payload, &mut arena, &limits, policy, &mut Ignored)?;
    let kbins = lower(&mut payload, &manifest, &mut arena, &limits, policy, &mut Ignored)?;
    let params = LoadParams {
        timeout: Policy::EXEC_TIMEOUT.into(),
        verified: u8::from(policy.verify_digest),
        contiguous: u8::from(policy.contiguous_scratchpad),
        page_size: policy.page_size.into(),
        ..LoadParams::default()
    };
    let lnc = policy.lnc.unwrap_or(container.header.lnc_size).max(1);
    let request = Request {
        name: container.header.name.as_bytes(),
        core: CoreId(0),
        vcore_size: u16::try_from(lnc).unwrap_or(u16::MAX),
        h_model: 1,
        params,
        owned: (0, sim.cores()),
        policy,
        limits: &limits,
    };
    let mut slots = vec![None; 1024];
    let mut pages = PageTable::new(&mut slots);
    let plan = place(&mut payload, &kbins, &sim, &request, &mut pages, &mut arena)?;
    stage(&mut payload, &plan, &sim, policy, &mut vec![0; SCRATCH_BYTES])?;
    Ok(whole(&plan, &sim))
}
