//! Loading for hosts: a device, the models on it, and guards that unload (staging.md §6, §13, §14).
//!
//! [`Loader`] has an example.
//!
//! # Locks
//!
//! | rank | lock | guards |
//! |---:|---|---|
//! | 1 | the parse cache's | its slot |
//! | 2 | registry | models by `h_nn`, counters, open handles |
//! | 4 | microcode staging | that a shared library is filled before another model finds it |
//! | 5 | scratchpad | pages and shared libraries, and their references |
//! | 8 | datastore | model nodes |
//!
//! The ranks are those of staging.md §6.4. A thread takes a lock only while every lock that it holds has a lower rank,
//! and holds neither of the first two while it asks the device for anything; those of microcode and scratchpad may be held
//! meanwhile. A device's own locks (6 allocator, 9 bounce buffer) come after all of these. The count of a model's uses is a leaf: nothing is
//! taken under it. In debug builds every acquisition is checked.
//!
//! Who must know the file's architecture before there is a device calls [`prepare`] and [`Loader::place`], the
//! two halves of [`Loader::load`].

mod facts;
mod fan_out;
mod io;
mod memory;
mod model;
mod place;
mod prepared;
mod ranked;
mod refused;
mod registry;
mod shared;
mod state;
#[cfg(test)]
mod tests;
mod usage;

pub use facts::{Facts, LoadTimes, Usage};
pub use fan_out::{Worker, fill, worker};
pub use io::IoEntry;
pub use memory::{Memory, StreamMemory};
pub use model::{Model, Use};
pub use prepared::{Prepared, PreparedResident, prepare, prepare_from, prepare_streamed, prepare_surveyed};
pub use refused::LoadError;
pub use shared::{Parse, ParseKey, parse_key};
pub use state::State;
pub use usage::{CoreMemory, MemoryLog};

use crate::cache::ParseCache;
use loader_core::device::{CoreId, Device};
use loader_core::error::{Error, Stage, StageCode};
use loader_core::limits::Limits;
use loader_core::lower::scratchpad::Paging;
use loader_core::plan::libraries::Library;
use loader_core::plan::pages::{Page, PageTable};
use loader_core::plan::record::NodeTable;
use loader_core::policy::Policy;
use loader_core::stage::collectives::Membership;
use ranked::Ranked;
use registry::{Entry, Registry};
use std::time::Duration;

/// Scratchpad pages that a device's table holds: 1024 per core of the largest device (staging.md §8.4).
const MOST_PAGES: usize = 8 * 1024;

/// What a load is asked to do, beside the file.
///
/// ```
/// use loader_core::policy::Policy;
/// use loader_std::LoadOptions;
///
/// // For a host whose logical cores are two physical ones, from core 4 on, refusing what is not understood.
/// let policy = Policy { lnc: Some(2), strict: true, ..Policy::DEFAULT };
/// let options = LoadOptions { core: 4, policy, threads: 1, ..LoadOptions::default() };
/// assert!(options.policy.verify_digest && options.h_model.is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// First physical core (R24).
    pub core: u16,
    /// Rulings; `lnc` in it is the logical-core size, `None` for the file's own (R24).
    pub policy: Policy,
    /// What the input may cost.
    pub limits: Limits,
    /// Threads that fill cores; 1 fills them one after the other, 0 is one per core.
    pub threads: usize,
    /// How the thread of a core is made.
    pub worker: Worker,
    /// Execution timeout in seconds, for the load parameters; [`Policy::EXEC_TIMEOUT`] by default.
    pub timeout: u64,
    /// Ring-cache entries, for the load parameters; 0 by default: no source names a default, or a variable that sets it.
    pub ring_cache: u64,
    /// The place among all devices that communicate; `None` for a load without collectives.
    pub collective: Option<Membership>,
    /// Key in the model tables; `None` takes the next one. A key that is resident on a core is refused.
    pub h_model: Option<u32>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            core: 0,
            policy: Policy::DEFAULT,
            limits: Limits::DEFAULT,
            threads: 0,
            timeout: Policy::EXEC_TIMEOUT,
            ring_cache: 0,
            worker,
            collective: None,
            h_model: None,
        }
    }
}

/// Shared microcode libraries that a device's table holds: more than its cores have use for at a time.
const MOST_LIBRARIES: usize = 64;

/// Scratchpad pages and shared libraries of the device; behind a lock of their own (staging.md §6.4, lock 5).
#[derive(Debug)]
struct Scratchpads {
    pages: Vec<Option<Page>>,
    paging: Option<Paging>,
    libraries: Vec<Option<Library>>,
}

/// A device with the models on it. All methods take `&self` and may be called from several threads.
///
/// ```
/// use loader_core::arch::Arch;
/// use loader_std::{LoadOptions, Loader, Memory};
/// use neuron_drivers::sim::{Config, Growing, HostSim};
///
/// let file = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/cayman-2core.neff"))?;
/// let loader = Loader::new(HostSim::new(Config::flat(Arch::Cayman), Growing::new(false)));
/// let empty = loader.device().hash();
/// let mut memory = Memory::new();
/// let model = loader.load(&file, &mut memory, &LoadOptions::default())?;
/// assert_eq!((model.h_nn(), model.plan().len()), (1, 2));
/// assert_eq!(loader.models(), [1]);
/// drop(model);
/// assert_eq!(loader.device().hash(), empty);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Loader<D> {
    device: D,
    parses: ParseCache<ParseKey, Parse>,
    registry: Ranked<Registry, 2>,
    /// Held from the placement of a shared library until it is filled.
    microcode: Ranked<(), 4>,
    scratchpads: Ranked<Scratchpads, 5>,
    datastore: Ranked<Box<NodeTable>, 8>,
}

impl<D> Loader<D> {
    /// No models yet.
    pub fn new(device: D) -> Self {
        let libraries = vec![None; MOST_LIBRARIES];
        let scratchpads = Scratchpads { pages: vec![None; MOST_PAGES], paging: None, libraries };
        Self {
            device,
            parses: ParseCache::new(),
            registry: Ranked::new(Registry::new()),
            microcode: Ranked::new(()),
            scratchpads: Ranked::new(scratchpads),
            datastore: Ranked::new(Box::default()),
        }
    }

    /// The cache of parses that loads of one file at the same time share (staging.md §15).
    pub const fn parses(&self) -> &ParseCache<ParseKey, Parse> {
        &self.parses
    }

    /// No more than `most` model handles may be open at once.
    pub fn limit_handles(&self, most: usize) {
        self.registry.lock().limit_handles(most);
    }

    /// A copy of the datastore: one node for every loaded subgraph (staging.md §16).
    pub fn datastore(&self) -> Box<NodeTable> {
        self.datastore.lock().clone()
    }

    /// The device.
    pub const fn device(&self) -> &D {
        &self.device
    }

    /// The device, without its loader. Models that are still loaded stay on it.
    pub fn into_device(self) -> D {
        self.device
    }

    /// Handles of all loaded models, the oldest first.
    #[must_use]
    pub fn models(&self) -> Vec<u32> {
        self.registry.lock().handles()
    }
}

impl<D: Device> Loader<D> {
    /// Runs `action` with the page table; the lock is held meanwhile.
    fn with_pages<R>(&self, action: impl FnOnce(&mut PageTable<'_>) -> R) -> R {
        let mut scratchpads = self.scratchpads.lock();
        let Scratchpads { pages, paging, libraries } = &mut *scratchpads;
        let mut table = PageTable::resume(pages, *paging).with_libraries(libraries);
        let result = action(&mut table);
        *paging = table.paging();
        result
    }

    /// Pages of a core, and the models that use each.
    #[must_use]
    pub fn pages(&self, core: CoreId) -> Vec<u32> {
        self.with_pages(|table| {
            let of_core = |page: &&Page| page.core == core;
            let mut pages: Vec<_> =
                table.iter().filter(of_core).map(|page| (page.index, page.refs)).collect();
            pages.sort_unstable();
            pages.into_iter().map(|(_, refs)| refs).collect()
        })
    }

    /// All scratchpad pages, with their blocks and references.
    #[must_use]
    pub fn scratchpad(&self) -> Vec<Page> {
        self.with_pages(|table| table.iter().copied().collect())
    }

    /// Microcode libraries that models share, with their blocks and references.
    #[must_use]
    pub fn libraries(&self) -> Vec<Library> {
        self.with_pages(|table| table.libraries.iter().copied().collect())
    }

    /// Takes a use of a model, which holds it on the device until it is dropped.
    ///
    /// # Errors
    /// `UnknownModel`.
    pub fn acquire(&self, h_nn: u32) -> Result<Use<'_, D>, Error> {
        let entry = self.registry.lock().get(h_nn)?;
        Use::new(self, entry)
    }

    /// Unloads a model: out of the registry at once, off the device when its last use ends. Waits for that
    /// until `deadline` has passed.
    ///
    /// # Errors
    /// `UnknownModel`; `Busy` if it is still in use at the deadline, the last use frees it then.
    pub fn unload(&self, h_nn: u32, deadline: Duration) -> Result<(), Error> {
        let entry = self.registry.lock().remove(h_nn)?;
        if !entry.close(deadline) {
            return Err(Error::new(Stage::Register, StageCode::Busy).numbers(u64::from(h_nn), 0));
        }
        self.free(&entry);
        Ok(())
    }

    /// Gives a closed entry's memory back.
    fn free(&self, entry: &Entry) {
        for &handle in entry.blocks() {
            loader_core::plan::block::give_back(&self.device, handle);
        }
        let (core, pages) = entry.scratchpad();
        self.with_pages(|table| {
            for &handle in entry.libraries() {
                table.libraries.release(&self.device, handle);
            }
            table.release(&self.device, core, pages);
        });
        {
            let mut datastore = self.datastore.lock();
            entry.nodes().iter().for_each(|&slot| datastore.remove(slot));
        }
        self.registry.lock().forget(entry);
    }
}
