//! Loading for hosts: a device, the models on it, and guards that unload (staging.md §6, §13, §14).
//!
//! ```no_run
//! use loader_core::arch::Arch;
//! use loader_std::{LoadOptions, Loader, Memory};
//! use neuron_drivers::sim::{Config, Growing, HostSim};
//!
//! let loader = Loader::new(HostSim::new(Config::flat(Arch::Cayman), Growing::new(false)));
//! let file = std::fs::read("model.neff").unwrap();
//! let mut memory = Memory::new();
//! let model = loader.load(&file, &mut memory, &LoadOptions::default()).unwrap();
//! println!("h_nn {} on {} cores", model.h_nn(), model.plan().len());
//! ```

mod fan_out;
mod model;
mod registry;

pub use fan_out::fill;
pub use model::{LoadTimes, Model, Use};

use crate::container::VecStore;
use crate::file::Buffers;
use loader_core::arena::Arena;
use loader_core::container::{Resident, guard, unpack};
use loader_core::device::{CoreId, Device};
use loader_core::error::{Error, NoteList, Stage, StageCode};
use loader_core::limits::Limits;
use loader_core::lower::lower;
use loader_core::lower::scratchpad::Paging;
use loader_core::manifest;
use loader_core::plan::pages::{Page, PageTable};
use loader_core::plan::record::LoadParams;
use loader_core::plan::{Plan, Request, place};
use loader_core::policy::Policy;
use loader_core::stage::unload;
use registry::{Entry, Registry};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Scratchpad pages that a device's table holds: 1024 per core of the largest device (staging.md §8.4).
const MOST_PAGES: usize = 8 * 1024;
/// Remarks that a load keeps.
const MOST_NOTES: usize = 64;

/// What a load is asked to do, beside the file.
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
    /// Execution timeout in seconds, for the load parameters.
    pub timeout: u64,
    /// Ring-cache entries, for the load parameters.
    pub ring_cache: u64,
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
            timeout: 0,
            ring_cache: 0,
            h_model: None,
        }
    }
}

/// The host memory of one load. The system commits it as it is touched.
#[derive(Debug)]
pub struct Memory {
    arena: Vec<u8>,
}

impl Memory {
    /// Room for an arena of 1 GiB, more than any known file needs.
    const ROOM: usize = 1 << 30;

    /// Memory for any known file.
    #[must_use]
    pub fn new() -> Self {
        Self::with_arena(Self::ROOM)
    }

    /// Memory for an arena of that many bytes.
    #[must_use]
    pub fn with_arena(bytes: usize) -> Self {
        Self { arena: vec![0; bytes] }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// Scratchpad pages of the device; behind a lock of their own (staging.md §6.4, lock 5).
#[derive(Debug)]
struct Scratchpads {
    pages: Vec<Option<Page>>,
    paging: Option<Paging>,
}

/// A device with the models on it. All methods take `&self` and may be called from several threads.
#[derive(Debug)]
pub struct Loader<D> {
    device: D,
    registry: Mutex<Registry>,
    scratchpads: Mutex<Scratchpads>,
}

/// A lock whose holder panicked still guards sound data: every change is one assignment or one insertion.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<D> Loader<D> {
    /// No models yet.
    pub fn new(device: D) -> Self {
        let scratchpads = Scratchpads { pages: vec![None; MOST_PAGES], paging: None };
        Self { device, registry: Mutex::new(Registry::new()), scratchpads: Mutex::new(scratchpads) }
    }

    /// The device.
    pub const fn device(&self) -> &D {
        &self.device
    }

    /// Handles of all loaded models, the oldest first.
    #[must_use]
    pub fn models(&self) -> Vec<u32> {
        lock(&self.registry).handles()
    }
}

impl<D: Device> Loader<D> {
    /// Runs `action` with the page table; the lock is held meanwhile.
    fn with_pages<R>(&self, action: impl FnOnce(&mut PageTable<'_>) -> R) -> R {
        let mut scratchpads = lock(&self.scratchpads);
        let Scratchpads { pages, paging } = &mut *scratchpads;
        let mut table = PageTable::resume(pages, *paging);
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

    /// Takes a use of a model, which holds it on the device until it is dropped.
    ///
    /// # Errors
    /// `UnknownModel`.
    pub fn acquire(&self, h_nn: u32) -> Result<Use<'_, D>, Error> {
        Use::new(self, lock(&self.registry).get(h_nn)?)
    }

    /// Unloads a model: out of the registry at once, off the device when its last use ends. Waits for that
    /// until `deadline` has passed.
    ///
    /// # Errors
    /// `UnknownModel`; `Busy` if it is still in use at the deadline, the last use frees it then.
    pub fn unload(&self, h_nn: u32, deadline: Duration) -> Result<(), Error> {
        let entry = lock(&self.registry).remove(h_nn)?;
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
        self.with_pages(|table| table.release(&self.device, core, pages));
        lock(&self.registry).forget(entry);
    }
}

impl<D: Device + Sync> Loader<D> {
    /// Loads a file that is in memory: all stages, then registers the model.
    ///
    /// # Errors
    /// The first refusal; the device is as before then.
    pub fn load<'l, 'm>(
        &'l self,
        file: &[u8],
        memory: &'m mut Memory,
        options: &LoadOptions,
    ) -> Result<Model<'l, 'm, D>, Error> {
        let mut clock = Clock::new();
        let mut arena = Arena::new(&mut memory.arena).map_err(|full| Error::arena(Stage::Unpack, full))?;
        let mut notes = NoteList::<MOST_NOTES>::new();
        let LoadOptions { policy, limits, .. } = options;
        let header = guard::buffer(Some(file))?;
        guard::lnc(&header, policy)?;
        clock.lap(|times| &mut times.guard);
        let (mut store, mut buffers) = (VecStore::new(), Buffers::new());
        let mut source = file;
        let container =
            unpack(&mut source, buffers.workspace(), &mut store, &mut arena, limits, policy, &mut notes)?;
        let bytes = store.into_bytes();
        let mut payload = Resident::new(container, &bytes);
        clock.lap(|times| &mut times.unpack);
        let manifest = manifest::parse(&mut payload, &mut arena, limits, policy, &mut notes)?;
        clock.lap(|times| &mut times.manifest);
        let kbins = lower(&mut payload, &manifest, &mut arena, limits, policy, &mut notes)?;
        clock.lap(|times| &mut times.lower);
        let lnc = policy.lnc.unwrap_or(header.lnc_size).max(1);
        let h_model = match options.h_model {
            Some(key) => key,
            None => lock(&self.registry).next_model()?,
        };
        let request = Request {
            name: header.name.as_bytes(),
            core: CoreId(options.core),
            vcore_size: u16::try_from(lnc).unwrap_or(u16::MAX),
            h_model,
            params: params(options),
            owned: (0, self.device.cores()),
            policy,
            limits,
        };
        let plan =
            self.with_pages(|pages| place(&mut payload, &kbins, &self.device, &request, pages, &mut arena))?;
        clock.lap(|times| &mut times.plan);
        self.guarded(&plan, || fill(payload, &plan, &self.device, policy, options.threads))?;
        clock.lap(|times| &mut times.stage);
        let entry = Entry::new(&plan, &header, &request);
        let h_nn = self.guarded(&plan, || lock(&self.registry).insert(entry))?;
        clock.lap(|times| &mut times.register);
        Ok(Model::new(self, h_nn, plan, clock.finish(), notes.kept().to_vec(), arena.high_water()))
    }

    /// Runs the next step of a load; if it fails, the plan's memory is given back.
    fn guarded<R>(&self, plan: &Plan<'_>, step: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        step().inspect_err(|_| self.with_pages(|pages| unload(plan, &self.device, pages)))
    }
}

fn params(options: &LoadOptions) -> LoadParams {
    LoadParams {
        timeout: options.timeout.into(),
        ring_cache: options.ring_cache.into(),
        verified: u8::from(options.policy.verify_digest),
        contiguous: u8::from(options.policy.contiguous_scratchpad),
        page_size: options.policy.page_size.into(),
        ..LoadParams::default()
    }
}

/// Measures the stages.
struct Clock {
    start: Instant,
    last: Instant,
    times: LoadTimes,
}

impl Clock {
    fn new() -> Self {
        let now = Instant::now();
        Self { start: now, last: now, times: LoadTimes::default() }
    }

    /// What passed since the last lap belongs to `stage`.
    fn lap(&mut self, stage: impl FnOnce(&mut LoadTimes) -> &mut Duration) {
        let now = Instant::now();
        *stage(&mut self.times) = now - self.last;
        self.last = now;
    }

    fn finish(mut self) -> LoadTimes {
        self.times.total = self.start.elapsed();
        self.times
    }
}
