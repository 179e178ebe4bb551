//! Guards: a loaded model that is unloaded when dropped, and a use that keeps one on the device.

use super::Loader;
use super::facts::{Facts, LoadTimes};
use super::io::IoEntry;
use super::registry::Entry;
use super::state::State;
use super::usage::MemoryLog;
use loader_core::device::Device;
use loader_core::error::Error;
use loader_core::plan::Plan;
use loader_core::plan::record::{Bridge, Handle, Registered};
use std::sync::Arc;
use std::time::Duration;

/// A loaded model. Dropping it unloads it, unless it is [kept](Model::keep).
///
/// ```
/// use loader_core::arch::{Arch, Engine};
/// use loader_std::{LoadOptions, Loader, Memory};
/// use neuron_drivers::sim::{Config, Growing, HostSim};
///
/// let file = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/cayman-2core.neff"))?;
/// let loader = Loader::new(HostSim::new(Config::flat(Arch::Cayman), Growing::new(false)));
/// let mut memory = Memory::new();
/// let model = loader.load(&file, &mut memory, &LoadOptions::default())?;
/// // What it reads and writes, and where its instructions lie.
/// let used = loader.acquire(model.h_nn())?;
/// let names = used.inputs().iter().map(|input| String::from_utf8_lossy(&input.name).into_owned());
/// assert_eq!(names.collect::<Vec<_>>(), ["x", "y"]);
/// drop(used);
/// for core in model.plan().cores() {
///     let (image, block) = core.image(Engine::Pe).unwrap();
///     println!("core {}: {} slots at {:#x}", core.core().0, image.slots(), block.address().0);
/// }
/// // Handed on without the guard, it stays until somebody unloads it by its handle.
/// let h_nn = model.keep();
/// loader.unload(h_nn, std::time::Duration::ZERO)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Model<'l, 'm, D: Device> {
    loader: &'l Loader<D>,
    handle: Handle,
    plan: Plan<'m>,
    facts: Facts,
    kept: bool,
}

impl<'l, 'm, D: Device> Model<'l, 'm, D> {
    pub(super) const fn new(loader: &'l Loader<D>, handle: Handle, plan: Plan<'m>, facts: Facts) -> Self {
        Self { loader, handle, plan, facts, kept: false }
    }

    /// Its public id.
    #[must_use]
    pub const fn h_nn(&self) -> u32 {
        self.handle.h_nn.get()
    }

    /// What a caller of the reference's public interface would get (staging.md §5.1).
    #[must_use]
    pub const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// The memory breakdown, one block of lines per core in core order, as it was when all cores were built.
    #[must_use]
    pub fn memory_log(&self) -> MemoryLog<'_> {
        MemoryLog { name: self.handle.name, cores: &self.facts.memory }
    }

    /// Its key in the model tables of its cores.
    #[must_use]
    pub fn h_model(&self) -> u32 {
        self.plan.models().first().map_or(0, |model| model.h_model.get())
    }

    /// Everything that was placed.
    #[must_use]
    pub const fn plan(&self) -> &Plan<'m> {
        &self.plan
    }

    /// What the load found, how long it took and what it used.
    #[must_use]
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// How long the load took.
    #[must_use]
    pub const fn times(&self) -> &LoadTimes {
        &self.facts.times
    }

    /// Remarks of the load.
    #[must_use]
    pub fn notes(&self) -> &[Error] {
        &self.facts.notes
    }

    /// Most bytes of arena that were in use.
    #[must_use]
    pub fn arena_bytes(&self) -> usize {
        self.facts.arena_bytes()
    }

    /// Leaves it on the device, without the memory it was loaded in; [`Loader::unload`] takes it off by this handle.
    #[must_use]
    pub fn keep(mut self) -> u32 {
        self.kept = true;
        self.h_nn()
    }

    /// Unloads it; waits for its uses until `deadline` has passed.
    ///
    /// # Errors
    /// As [`Loader::unload`].
    pub fn unload(self, deadline: Duration) -> Result<(), Error> {
        // The drop that follows finds nothing left to do.
        self.loader.unload(self.h_nn(), deadline)
    }
}

impl<D: Device> Drop for Model<'_, '_, D> {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // Already unloaded, or still in use by somebody who frees it at the end: both are fine here.
        let _ = self.loader.unload(self.h_nn(), Duration::ZERO);
    }
}

/// A use of a registered model: while it lives, the model stays on the device.
#[derive(Debug)]
pub struct Use<'l, D: Device> {
    loader: &'l Loader<D>,
    entry: Arc<Entry>,
}

impl<'l, D: Device> Use<'l, D> {
    pub(super) fn new(loader: &'l Loader<D>, entry: Arc<Entry>) -> Result<Self, Error> {
        entry.begin_use();
        let found = Self { loader, entry };
        // Between the look-up and now it may have been unloaded; then this use is one too many.
        let h_nn = found.entry.record().h_nn.get();
        let still = loader.registry.lock().get(h_nn);
        still.map(|_| found)
    }

    /// The registered record.
    #[must_use]
    pub fn record(&self) -> &Registered {
        self.entry.record()
    }

    /// Inputs by name.
    #[must_use]
    pub fn inputs(&self) -> &[IoEntry] {
        &self.entry.io().inputs
    }

    /// Outputs by name.
    #[must_use]
    pub fn outputs(&self) -> &[IoEntry] {
        &self.entry.io().outputs
    }

    /// Topologies of replica groups, kept for collectives (staging.md §3.5 R6).
    #[must_use]
    pub fn replica_groups(&self) -> &[Vec<Vec<u32>>] {
        self.entry.replica_groups()
    }

    /// Slots of the datastore that list it, by subgraph.
    #[must_use]
    pub fn nodes(&self) -> &[u8] {
        self.entry.nodes()
    }

    /// Where it is in its life: registered, or draining once somebody unloads it.
    #[must_use]
    pub fn state(&self) -> State {
        self.entry.life().state()
    }

    /// What its cores have in common.
    #[must_use]
    pub fn bridge(&self) -> &Bridge {
        self.entry.bridge()
    }
}

impl<D: Device> Drop for Use<'_, D> {
    fn drop(&mut self) {
        if self.entry.end_use() {
            self.loader.free(&self.entry);
        }
    }
}
