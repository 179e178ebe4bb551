//! The files that are loaded, and what a load of each does to the device.

use loader_core::arch::Arch;
use loader_core::policy::Policy;
use loader_std::loader::prepare;
use loader_std::{LoadError, LoadOptions, Loader, Memory, Model};
use neffload_tests::{fixture_files, full, real_files};
use neuron_drivers::sim::{Config, Content, Event, EventKind, Growing, HostSim};
use std::collections::BTreeMap;
use std::path::Path;

/// Arena of a load.
const ROOM: usize = 64 << 20;

/// A loadable file.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) file: Vec<u8>,
    pub(crate) arch: Arch,
    pub(crate) cores: usize,
}

/// The fixtures and the real files that load.
pub(crate) fn cases() -> Vec<Case> {
    fixture_files().iter().chain(&real_files()).filter_map(|path| case(path)).collect()
}

/// The files with two cores.
pub(crate) fn pairs() -> Vec<Case> {
    cases().into_iter().filter(|case| case.cores == 2).collect()
}

fn case(path: &Path) -> Option<Case> {
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let file = std::fs::read(path).unwrap();
    let mut memory = memory();
    let prepared = prepare(&file, &mut memory, &LoadOptions::default()).ok()?;
    let (arch, cores) = (prepared.arch(), prepared.kbins().len());
    Some(Case { name, file, arch, cores })
}

pub(crate) fn memory() -> Memory {
    Memory::with_arena(ROOM)
}

/// What a device does by itself, in the order of its operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// Subgraph that the operation is for.
    pub(crate) core: usize,
    pub(crate) alloc: bool,
}

impl Case {
    /// A device for it, with a log.
    pub(crate) fn loader(&self, content: Content) -> Loader<HostSim> {
        let config = Config { content, ..Config::flat(self.arch) };
        Loader::new(HostSim::new(config, Growing::new(true)))
    }

    pub(crate) fn load<'l, 'm>(
        &self,
        loader: &'l Loader<HostSim>,
        memory: &'m mut Memory,
        options: &LoadOptions,
    ) -> Result<Model<'l, 'm, HostSim>, LoadError> {
        loader.device().with(|state| state.clear_events());
        loader.load(&self.file, memory, options)
    }

    /// Every operation of a load without faults, and the device's state then.
    pub(crate) fn points(&self, options: &LoadOptions) -> (Vec<Point>, u64) {
        let (loader, mut memory) = (self.loader(Content::Digest), memory());
        let model = self.load(&loader, &mut memory, options).unwrap();
        let hash = loader.device().hash();
        let events: Vec<Event> = loader.device().with(|state| state.events().to_vec());
        let mut blocks: BTreeMap<u64, usize> = BTreeMap::new();
        let point = |event: &Event| match event.kind {
            EventKind::Alloc { core, .. } => {
                blocks.insert(event.address, usize::from(core));
                Point { core: usize::from(core), alloc: true }
            }
            _ => {
                let block = blocks.range(..=event.address).next_back();
                Point { core: *block.expect("a write into a block").1, alloc: false }
            }
        };
        let points = events.iter().map(point).collect();
        drop(model);
        (points, hash)
    }
}

/// One thread, or one per core.
pub(crate) fn options(threads: usize) -> LoadOptions {
    LoadOptions { threads, ..LoadOptions::default() }
}

/// Scratchpad pages anywhere instead of one range.
pub(crate) fn paged(threads: usize) -> LoadOptions {
    let policy = Policy { page_size: 512 << 20, contiguous_scratchpad: false, ..Policy::DEFAULT };
    LoadOptions { policy, ..options(threads) }
}

/// A well mixed number.
pub(crate) fn mix(seed: u64) -> u64 {
    let n = (seed.wrapping_add(0x9E37_79B9_7F4A_7C15) ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) ^ (n >> 31)
}

/// Numbers from 1 to `most`: all of them in the long form, else both ends and `some` between.
pub(crate) fn sample(most: u64, some: u64) -> Vec<u64> {
    if full() || most <= some + 4 {
        return (1..=most).collect();
    }
    let mut chosen: Vec<u64> = (0..some).map(|at| 3 + mix(at ^ most << 8) % (most - 4)).collect();
    chosen.extend([1, 2, most - 1, most]);
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}
