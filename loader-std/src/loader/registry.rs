//! Which models are loaded: `h_nn` to everything that unloading needs (staging.md §6).

use loader_core::container::Header;
use loader_core::device::{CoreId, MemHandle};
use loader_core::error::{Error, Stage, StageCode};
use loader_core::plan::record::{Bridge, DMem, Registered, STATE_READY};
use loader_core::plan::{Plan, Request};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A registered model. Independent of the arena it was made in.
#[derive(Debug)]
pub(super) struct Entry {
    record: Registered,
    bridge: Bridge,
    blocks: Vec<MemHandle>,
    cores: Vec<CoreId>,
    sharing: CoreId,
    pages: u32,
    uses: Mutex<Uses>,
    idle: Condvar,
}

#[derive(Debug, Default)]
struct Uses {
    count: u32,
    /// Unloaded while in use: the last use frees it.
    orphaned: bool,
}

impl Entry {
    /// A placed and filled model; its handle is given when it is registered.
    pub(super) fn new(plan: &Plan<'_>, header: &Header, request: &Request<'_>) -> Self {
        let sg_count = u32::try_from(plan.len()).unwrap_or(u32::MAX);
        let vcore = u64::from(request.core.0 / request.vcore_size.max(1)) + 1;
        let (sharing, pages) = plan.scratchpad();
        let own = |block: &&DMem| block.what.get() != DMem::PAGE;
        let blocks = plan.cores().flat_map(|core| {
            core.allocations().iter().rev().filter(own).map(DMem::handle).collect::<Vec<_>>()
        });
        let name = plan.models().first().map(|model| model.name).unwrap_or_default();
        Self {
            record: Registered {
                vcore: vcore.into(),
                sg_count: sg_count.into(),
                name,
                uuid: header.uuid,
                timeout: request.params.timeout,
                state: STATE_READY.into(),
                refs: 1.into(),
                ..Registered::default()
            },
            bridge: Bridge {
                h_model: request.h_model.into(),
                vcore: vcore.into(),
                sg_count: sg_count.into(),
                uuid: header.uuid,
                params: request.params,
                ..Bridge::default()
            },
            blocks: blocks.collect(),
            cores: plan.cores().map(|core| core.core()).collect(),
            sharing,
            pages,
            uses: Mutex::default(),
            idle: Condvar::new(),
        }
    }

    pub(super) const fn record(&self) -> &Registered {
        &self.record
    }

    pub(super) const fn bridge(&self) -> &Bridge {
        &self.bridge
    }

    /// Blocks in the order they are given back.
    pub(super) fn blocks(&self) -> &[MemHandle] {
        &self.blocks
    }

    /// Core of the scratchpad, and pages in use.
    pub(super) const fn scratchpad(&self) -> (CoreId, u32) {
        (self.sharing, self.pages)
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin_use(&self) {
        self.uses().count += 1;
    }

    /// Ends a use; true if the caller must free the model.
    pub(super) fn end_use(&self) -> bool {
        let mut uses = self.uses();
        uses.count -= 1;
        self.idle.notify_all();
        uses.count == 0 && uses.orphaned
    }

    /// Waits until nobody uses it; true if so, and the caller must free it. At the deadline that becomes
    /// the last user's task.
    pub(super) fn close(&self, deadline: Duration) -> bool {
        let end = Instant::now().checked_add(deadline);
        let mut uses = self.uses();
        while uses.count > 0 {
            let left =
                end.map_or(Duration::from_secs(3600), |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                uses.orphaned = true;
                return false;
            }
            uses = self.idle.wait_timeout(uses, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

/// The loaded models of a device, and the id counters.
#[derive(Debug)]
pub(super) struct Registry {
    entries: BTreeMap<u32, Arc<Entry>>,
    /// `h_model` keys that are resident on each core.
    resident: BTreeSet<(u16, u32)>,
    next_nn: u32,
    next_model: u32,
}

impl Registry {
    /// Both counters start at 1 (R24).
    pub(super) const fn new() -> Self {
        Self { entries: BTreeMap::new(), resident: BTreeSet::new(), next_nn: 1, next_model: 1 }
    }

    fn exhausted() -> Error {
        Error::new(Stage::Register, StageCode::IdsExhausted)
    }

    fn unknown(h_nn: u32) -> Error {
        Error::new(Stage::Register, StageCode::UnknownModel).numbers(u64::from(h_nn), 0)
    }

    /// The next `h_model`; a failed load consumes it (staging.md §6.1).
    pub(super) fn next_model(&mut self) -> Result<u32, Error> {
        let key = self.next_model;
        self.next_model = key.checked_add(1).ok_or_else(Self::exhausted)?;
        Ok(key)
    }

    /// Registers a model and gives its `h_nn`.
    pub(super) fn insert(&mut self, mut entry: Entry) -> Result<u32, Error> {
        let key = entry.bridge.h_model.get();
        if let Some(core) = entry.cores.iter().find(|core| self.resident.contains(&(core.0, key))) {
            let taken = Error::new(Stage::Register, StageCode::DuplicateModel);
            return Err(taken.numbers(u64::from(key), u64::from(core.0)));
        }
        let h_nn = self.next_nn;
        self.next_nn = h_nn.checked_add(1).ok_or_else(Self::exhausted)?;
        entry.record.h_nn = h_nn.into();
        self.resident.extend(entry.cores.iter().map(|core| (core.0, key)));
        self.entries.insert(h_nn, Arc::new(entry));
        Ok(h_nn)
    }

    pub(super) fn get(&self, h_nn: u32) -> Result<Arc<Entry>, Error> {
        self.entries.get(&h_nn).cloned().ok_or_else(|| Self::unknown(h_nn))
    }

    /// Takes a model out: it can no longer be found, its keys stay taken until it is freed.
    pub(super) fn remove(&mut self, h_nn: u32) -> Result<Arc<Entry>, Error> {
        self.entries.remove(&h_nn).ok_or_else(|| Self::unknown(h_nn))
    }

    /// A removed model was freed.
    pub(super) fn forget(&mut self, entry: &Entry) {
        let key = entry.bridge.h_model.get();
        for core in &entry.cores {
            self.resident.remove(&(core.0, key));
        }
    }

    pub(super) fn handles(&self) -> Vec<u32> {
        self.entries.keys().copied().collect()
    }
}
