//! Which models are loaded: `h_nn` to everything that unloading needs (staging.md §6).

use super::io::Io;
use super::state::{Life, State};
use crate::room::{self, Full};
use loader_core::container::Header;
use loader_core::device::{CoreId, MemHandle};
use loader_core::error::{Error, Stage, StageCode};
use loader_core::lower::record::Text;
use loader_core::plan::record::{Bridge, DMem, Handle, InfoMap, RankGroups, Registered, STATE_READY};
use loader_core::plan::{Plan, Request, UsageRow};
use loader_core::stage::register::fold_uuid;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zerocopy::little_endian::U32;

/// A registered model. Independent of the arena it was made in.
#[derive(Debug)]
pub(super) struct Entry {
    record: Registered,
    bridge: Bridge,
    global_id: u32,
    io: Io,
    groups: Vec<Vec<Vec<u32>>>,
    blocks: Vec<MemHandle>,
    /// Libraries that it shares with other models.
    libraries: Vec<MemHandle>,
    cores: Vec<(CoreId, UsageRow)>,
    nodes: Vec<u8>,
    sharing: CoreId,
    pages: u32,
    life: Life,
    uses: Mutex<Uses>,
    idle: Condvar,
}

#[derive(Debug, Default)]
struct Uses {
    count: u32,
    /// Unloaded while in use: the last use frees it.
    orphaned: bool,
}

/// What a load knows of its file beside the plan.
pub(super) struct Origin<'a> {
    pub(super) header: &'a Header,
    pub(super) io: Io,
    pub(super) mac_count: u64,
    pub(super) global_id: u32,
    pub(super) life: Life,
}

impl Entry {
    /// A placed and filled model; its handle is given when it is registered.
    ///
    /// # Errors
    /// The host has no memory for it.
    pub(super) fn new(plan: &Plan<'_>, request: &Request<'_>, origin: Origin<'_>) -> Result<Self, Full> {
        let Origin { header, io, mac_count, global_id, life } = origin;
        let sg_count = u32::try_from(plan.len()).unwrap_or(u32::MAX);
        let vcore = u64::from(request.core.0 / request.vcore_size.max(1)) + 1;
        let (sharing, pages) = plan.scratchpad();
        let handles = |wanted: fn(&&DMem) -> bool| {
            let mut handles = Vec::new();
            for core in plan.cores() {
                let of_core = core.allocations().iter().rev().filter(wanted);
                room::grow(&mut handles, of_core.clone().count())?;
                handles.extend(of_core.map(DMem::handle));
            }
            Ok(handles)
        };
        let name = plan.models().first().map(|model| model.name).unwrap_or_default();
        let groups = replica_groups(plan)?;
        let counted = |count: usize| InfoMap { count: (count as u64).into(), ..InfoMap::default() };
        let ranks = RankGroups { count: (groups.len() as u64).into(), ..RankGroups::default() };
        Ok(Self {
            record: Registered {
                vcore: vcore.into(),
                sg_count: sg_count.into(),
                name,
                interned: fold_uuid(&header.uuid).into(),
                uuid: header.uuid,
                mac_count: mac_count.into(),
                timeout: request.params.timeout,
                inputs: counted(io.inputs.len()),
                outputs: counted(io.outputs.len()),
                state: STATE_READY.into(),
                refs: 1.into(),
                replica_groups: ranks,
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
            global_id,
            io,
            groups,
            blocks: handles(|block| !block.is_shared())?,
            libraries: handles(|block| block.what.get() == DMem::SHARED_UCODE)?,
            cores: plan.cores().map(|core| (core.core(), core.usage())).collect(),
            nodes: Vec::new(),
            sharing,
            pages,
            life,
            uses: Mutex::default(),
            idle: Condvar::new(),
        })
    }

    pub(super) const fn io(&self) -> &Io {
        &self.io
    }

    pub(super) fn replica_groups(&self) -> &[Vec<Vec<u32>>] {
        &self.groups
    }

    /// Slots of the datastore that speak of it.
    pub(super) fn nodes(&self) -> &[u8] {
        &self.nodes
    }

    pub(super) const fn life(&self) -> &Life {
        &self.life
    }

    /// The datastore lists it in these slots.
    pub(super) fn listed(&mut self, nodes: Vec<u8>) {
        self.record.datastore_count = u32::try_from(nodes.len()).unwrap_or(u32::MAX).into();
        self.nodes = nodes;
    }

    /// What the caller of the public interface gets.
    fn handle(&self) -> Handle {
        let vcore = u32::try_from(self.record.vcore.get() - 1).unwrap_or(u32::MAX);
        Handle {
            vcore: vcore.into(),
            name: self.record.name,
            uuid: self.record.uuid,
            h_nn: self.record.h_nn,
            global_id: self.global_id.into(),
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

    /// Libraries of which it holds a reference.
    pub(super) fn libraries(&self) -> &[MemHandle] {
        &self.libraries
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

/// Handles that may be open at once unless somebody says otherwise.
const MOST_HANDLES: usize = 1 << 20;

/// The loaded models of a device, the id counters, and the open handles.
#[derive(Debug)]
pub(super) struct Registry {
    entries: BTreeMap<u32, Arc<Entry>>,
    /// `h_model` keys that are resident on each core.
    resident: BTreeSet<(u16, u32)>,
    handles: Vec<Handle>,
    most_handles: usize,
    next_nn: u32,
    next_model: u32,
}

impl Registry {
    /// Both counters start at 1 (R24).
    pub(super) const fn new() -> Self {
        Self {
            entries: BTreeMap::new(),
            resident: BTreeSet::new(),
            handles: Vec::new(),
            most_handles: MOST_HANDLES,
            next_nn: 1,
            next_model: 1,
        }
    }

    pub(super) const fn limit_handles(&mut self, most: usize) {
        self.most_handles = most;
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

    /// Registers a model and gives its `h_nn`; `list` hears of it before anybody can find it.
    pub(super) fn insert(
        &mut self,
        mut entry: Entry,
        list: impl FnOnce(&mut Entry, u32),
    ) -> Result<u32, Error> {
        let key = entry.bridge.h_model.get();
        if let Some((core, _)) = entry.cores.iter().find(|(core, _)| self.resident.contains(&(core.0, key))) {
            let taken = Error::new(Stage::Register, StageCode::DuplicateModel);
            return Err(taken.numbers(u64::from(key), u64::from(core.0)));
        }
        let h_nn = self.next_nn;
        self.next_nn = h_nn.checked_add(1).ok_or_else(Self::exhausted)?;
        entry.record.h_nn = h_nn.into();
        list(&mut entry, h_nn);
        entry.life.reach(State::Registered);
        self.resident.extend(entry.cores.iter().map(|(core, _)| (core.0, key)));
        self.entries.insert(h_nn, Arc::new(entry));
        Ok(h_nn)
    }

    /// Opens the public handle of a registered model (R9).
    ///
    /// # Errors
    /// `HandleTable`; the model is registered still.
    pub(super) fn open(&mut self, h_nn: u32) -> Result<Handle, Error> {
        let handle = self.get(h_nn)?.handle();
        let room = self.handles.len() < self.most_handles && self.handles.try_reserve(1).is_ok();
        if !room {
            let full = Error::new(Stage::Register, StageCode::HandleTable);
            return Err(full.numbers(self.handles.len() as u64, 0));
        }
        self.handles.push(handle);
        Ok(handle)
    }

    pub(super) fn get(&self, h_nn: u32) -> Result<Arc<Entry>, Error> {
        self.entries.get(&h_nn).cloned().ok_or_else(|| Self::unknown(h_nn))
    }

    /// Takes a model out: it can no longer be found, its keys stay taken until it is freed.
    pub(super) fn remove(&mut self, h_nn: u32) -> Result<Arc<Entry>, Error> {
        let entry = self.entries.remove(&h_nn).ok_or_else(|| Self::unknown(h_nn))?;
        self.handles.retain(|handle| handle.h_nn.get() != h_nn);
        entry.life.reach(State::Draining);
        Ok(entry)
    }

    /// A removed model was freed.
    pub(super) fn forget(&mut self, entry: &Entry) {
        let key = entry.bridge.h_model.get();
        for (core, _) in &entry.cores {
            self.resident.remove(&(core.0, key));
        }
        entry.life.reach(State::Gone);
    }

    pub(super) fn handles(&self) -> Vec<u32> {
        self.entries.keys().copied().collect()
    }

    /// Names and memory of the models on a core.
    pub(super) fn rows(&self, core: CoreId) -> Vec<(Text<256>, UsageRow)> {
        let rows = self
            .entries
            .values()
            .flat_map(|entry| entry.cores.iter().map(move |(own, row)| (*own, entry.record.name, *row)));
        rows.filter(|(own, ..)| *own == core).map(|(_, name, row)| (name, row)).collect()
    }
}

fn replica_groups(plan: &Plan<'_>) -> Result<Vec<Vec<Vec<u32>>>, Full> {
    let ranks = |ranks: &[U32]| room::collect(ranks.iter().map(|rank| rank.get()));
    let topologies = plan.cores().next().into_iter().flat_map(|core| core.kbin.replica_groups());
    room::try_collect(topologies.map(|topology| room::try_collect(topology.subgroups().map(ranks))))
}
