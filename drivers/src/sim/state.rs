//! The machine: allocation, content, faults, and one number for all of it.

use super::config::{Config, Profile};
use super::delay::Delays;
use super::event::{Event, EventKind, Tag};
use super::fault::{Attempt, Count, Faults};
use super::fit::Wanted;
use super::index::Index;
use super::ledger::{Counters, Ledger};
use super::queue::Queues;
use super::region::{Freed, GRANULE, REGIONS, range_of, region_of};
use super::storage::{NIL, Slot, Storage};
use loader_core::device::{AllocSpec, CoreId, DevAddr, DeviceError, Granted, MemHandle, Place, Usage};

/// A live block, as a listing shows it.
#[derive(Clone, Copy, Debug)]
pub struct Live {
    /// Its handle.
    pub handle: MemHandle,
    /// The core it is for.
    pub core: CoreId,
    /// Where.
    pub place: Place,
    /// What for.
    pub usage: Usage,
    /// First address.
    pub base: DevAddr,
    /// Bytes asked for.
    pub size: u64,
    /// Bytes reserved.
    pub reserved: u64,
    /// Alignment asked for.
    pub align: u64,
    /// The start of its tag.
    pub tag: Tag,
}

/// The state machine. See the module's page.
#[derive(Debug)]
pub struct SimState<S> {
    pub(super) config: Config,
    pub(super) storage: S,
    pub(super) indexes: [Index; REGIONS],
    free_slots: u32,
    pub(super) freed: Freed,
    pub(super) ledger: Ledger,
    pub(super) counters: Counters,
    pub(super) faults: Faults,
    pub(super) count: Count,
    pub(super) queues: Queues,
    delays: Delays,
    /// Judgements so far: what [`Slot::claimed`] is compared with.
    pub(super) judged: u32,
}

impl<S: Storage> SimState<S> {
    /// Switches a machine on, [within its profile](Config::within_profile).
    pub fn new(config: Config, storage: S) -> Self {
        let config = config.within_profile();
        let guard = if config.profile == Profile::FlatGuard { GRANULE } else { 0 };
        let mut state = Self {
            config,
            storage,
            indexes: [Index::new(guard); REGIONS],
            free_slots: NIL,
            freed: Freed::NONE,
            ledger: Ledger::EMPTY,
            counters: Counters::default(),
            faults: Faults::NONE,
            count: Count::default(),
            queues: Queues::NONE,
            delays: Delays::NONE,
            judged: 0,
        };
        state.chain_free(0);
        state
    }

    /// Puts the slots from `first` on into the free list, lowest index first.
    fn chain_free(&mut self, first: usize) {
        let slots = self.storage.slots_mut();
        for at in (first..slots.len()).rev() {
            if let Some(slot) = slots.get_mut(at) {
                slot.next = self.free_slots;
                self.free_slots = at as u32;
            }
        }
    }

    /// The usage ledger.
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What happened so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The event log.
    pub fn events(&self) -> &[Event] {
        self.storage.events()
    }

    /// Empties the event log.
    pub fn clear_events(&mut self) {
        self.storage.clear_events();
    }

    /// Sets the rules for failing and restarts their counting.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
        self.count = Count::default();
    }

    /// Allocations, writes and reads since the rules were set.
    pub const fn operations(&self) -> u64 {
        self.count.operations()
    }

    /// Makes operations wait, so that threads come in another order; `None` for no delays. Only front ends for several
    /// threads wait.
    pub fn set_delays(&mut self, seed: Option<u64>) {
        self.delays = seed.map_or(Delays::NONE, Delays::seeded);
    }

    /// Turns to wait after an operation for a core.
    pub(super) fn turns(&mut self, core: u16) -> u32 {
        if S::TRIALS { self.delays.next(core) } else { 0 }
    }

    /// The core that a block is for.
    pub(super) fn core_of(&self, handle: MemHandle) -> u16 {
        self.storage.slots().get(handle.slot as usize).map_or(u16::MAX, |slot| slot.core.0)
    }

    /// Live blocks by region and address.
    pub fn live(&self) -> impl Iterator<Item = Live> + '_ {
        self.indexes.iter().flat_map(|index| Chain { slots: self.storage.slots(), at: index.first })
    }

    pub(super) fn log(&mut self, kind: EventKind, address: u64, size: u64) {
        let operation = if matches!(kind, EventKind::Free) { 0 } else { self.count.operations() };
        if S::TRIALS
            && self.storage.logs()
            && !self.storage.push_event(Event { kind, address, size, operation })
        {
            self.counters.lost_events += 1;
        }
    }

    pub(super) fn fault(&mut self, attempt: Attempt) -> Result<(), DeviceError> {
        if !S::TRIALS {
            return Ok(());
        }
        self.count.attempt(&attempt);
        match self.faults.hits(attempt, &self.count) {
            Some(error) => {
                self.counters.faults += 1;
                Err(error)
            }
            None => Ok(()),
        }
    }

    /// As [`loader_core::device::Device::alloc`].
    ///
    /// # Errors
    /// Any [`DeviceError`].
    pub fn alloc(&mut self, spec: &AllocSpec<'_>) -> Result<Granted, DeviceError> {
        let result = self.try_alloc(spec);
        if !S::TRIALS {
            return result;
        }
        let (core, usage, align, tag) = (spec.core.0, spec.usage, spec.align, Tag::new(spec.tag));
        match &result {
            Ok(granted) => {
                self.log(EventKind::Alloc { core, usage, align, tag }, granted.base.0, spec.size);
            }
            Err(_) => self.log(EventKind::Refused { core, usage, align, tag }, 0, spec.size),
        }
        result
    }

    fn try_alloc(&mut self, spec: &AllocSpec<'_>) -> Result<Granted, DeviceError> {
        self.count.allocs += 1;
        self.fault(Attempt::Alloc { core: spec.core.0, usage: spec.usage })?;
        let region = self.check_spec(spec)?;
        let guard = self.indexes[region].guard();
        let reserved = spec.size.checked_next_multiple_of(GRANULE).ok_or(DeviceError::BadRequest)?;
        let wanted = Wanted { bytes: reserved, align: spec.align.max(GRANULE), guard };
        let (region, base, before) = self.find(region, spec, wanted).ok_or(DeviceError::OutOfMemory)?;
        let slot = self.take_slot()?;
        let entry = self.storage.slots_mut().get_mut(slot as usize).ok_or(DeviceError::OutOfMemory)?;
        *entry = Slot {
            live: true,
            generation: entry.generation.wrapping_add(1),
            region: region as u8,
            core: spec.core,
            place: spec.place,
            usage: spec.usage,
            base,
            size: spec.size,
            reserved,
            align: spec.align,
            tag: Tag::new(spec.tag),
            ..Slot::EMPTY
        };
        let handle = MemHandle { slot, generation: entry.generation };
        let start = range_of(&self.config, region).0;
        if let Some(index) = self.indexes.get_mut(region) {
            index.insert::<S>(self.storage.slots_mut(), start, slot, before);
        }
        self.book(spec.core, spec.place, spec.usage, spec.size, true);
        self.counters.allocs += 1;
        Ok(Granted { handle, base: DevAddr(base), bytes: reserved })
    }

    /// The driver's refusals (staging.md §7.2), then the region that serves the request.
    fn check_spec(&self, spec: &AllocSpec<'_>) -> Result<usize, DeviceError> {
        let aligned = spec.align == 0 || spec.align.is_power_of_two();
        let host = spec.place == Place::Host;
        if spec.size == 0 || spec.size > i64::MAX as u64 || !aligned || spec.core.0 >= self.config.cores {
            return Err(DeviceError::BadRequest);
        }
        if host && spec.align > 1 {
            return Err(DeviceError::BadRequest);
        }
        if self.config.profile == Profile::NoAlign && spec.align > 1 {
            return Err(DeviceError::AlignmentUnsupported);
        }
        region_of(&self.config, spec.place, spec.size, spec.contiguous).ok_or(DeviceError::BadRequest)
    }

    fn take_slot(&mut self) -> Result<u32, DeviceError> {
        if self.free_slots == NIL {
            let len = self.storage.slots().len();
            if !self.storage.grow_slots() {
                return Err(DeviceError::HostMemory);
            }
            self.chain_free(len);
        }
        let slot = self.free_slots;
        self.free_slots = self.storage.slots().get(slot as usize).map_or(NIL, |slot| slot.next);
        Ok(slot)
    }

    /// The region, the address and the slot after which it lies. The driver's pools stand in for each other
    /// (driver-abi.md §7.4).
    fn find(&self, region: usize, spec: &AllocSpec<'_>, wanted: Wanted) -> Option<(usize, u64, u32)> {
        let paired = self.config.profile == Profile::Driver && region > 0 && !spec.contiguous;
        let other = if paired { ((region - 1) ^ 1) + 1 } else { region };
        for region in [region, other] {
            let range = range_of(&self.config, region);
            let index = self.indexes.get(region)?;
            let joined = if spec.contiguous { self.joined(index, spec, range.0, wanted) } else { None };
            let slots = self.storage.slots();
            let found = joined.or_else(|| index.find::<S>(slots, range, wanted, spec.contiguous));
            if let Some((base, before)) = found {
                return Some((region, base, before));
            }
        }
        None
    }

    /// The place below the core's lowest page. The pages of a contiguous scratchpad are one adjacent range on every
    /// profile (R41), so guards lie around the range and not between its pages.
    fn joined(&self, index: &Index, spec: &AllocSpec<'_>, start: u64, wanted: Wanted) -> Option<(u64, u32)> {
        // Without guards the highest place is that one anyhow; an image has none.
        if !cfg!(feature = "std") || wanted.guard == 0 || spec.usage != Usage::Scratchpad {
            return None;
        }
        let slots = self.storage.slots();
        let own = |live: &Live| live.usage == spec.usage && live.core == spec.core;
        let page = Chain { slots, at: index.first }.find(own)?;
        index.below_block(slots, start, page.handle.slot, wanted)
    }

    /// The live block whose reserved bytes hold an address.
    pub(super) fn block_at(&self, address: u64) -> Option<Live> {
        let slots = self.storage.slots();
        let holds = |&region: &usize| {
            let (from, to) = range_of(&self.config, region);
            (from..to).contains(&address)
        };
        let region = (0..REGIONS).find(holds)?;
        let live = live_at(slots, self.indexes[region].below::<S>(slots, address)?)?;
        (address - live.base.0 < live.reserved).then_some(live)
    }

    fn book(&mut self, core: CoreId, place: Place, usage: Usage, bytes: u64, plus: bool) {
        let Place::Hbm(channel) = place else { return };
        let Ledger { cores, channels } = &mut self.ledger;
        let place = cores.get_mut(usize::from(core.0)).zip(channels.get_mut(usize::from(channel)));
        let Some((row, total)) = place else { return };
        if plus {
            row.add(usage, bytes);
            *total += bytes;
        } else {
            row.sub(usage, bytes);
            *total -= bytes;
        }
    }

    pub(super) fn slot_of(&mut self, handle: MemHandle) -> Result<Slot, DeviceError> {
        match self.storage.slots().get(handle.slot as usize) {
            Some(slot) if slot.live && slot.generation == handle.generation => Ok(*slot),
            _ => {
                self.counters.stale_handles += 1;
                Err(DeviceError::BadHandle)
            }
        }
    }

    /// As [`loader_core::device::Device::free`].
    ///
    /// # Errors
    /// [`DeviceError::BadHandle`].
    pub fn free(&mut self, handle: MemHandle) -> Result<(), DeviceError> {
        let slot = match self.storage.slots().get(handle.slot as usize) {
            Some(slot) if slot.live && slot.generation == handle.generation => *slot,
            _ => {
                self.counters.double_frees += 1;
                return Err(DeviceError::BadHandle);
            }
        };
        self.count.frees += 1;
        self.fault(Attempt::Free)?;
        let region = usize::from(slot.region);
        let start = range_of(&self.config, region).0;
        if let Some(index) = self.indexes.get_mut(region) {
            index.remove::<S>(self.storage.slots_mut(), start, handle.slot);
        }
        if let Some(entry) = self.storage.slots_mut().get_mut(handle.slot as usize) {
            entry.live = false;
            entry.next = self.free_slots;
        }
        self.free_slots = handle.slot;
        if S::PAGES {
            let pages = (slot.base / GRANULE, (slot.base + slot.reserved) / GRANULE);
            self.storage.drop_pages(pages.0, pages.1);
            self.freed.add(pages.0, pages.1);
        }
        self.book(slot.core, slot.place, slot.usage, slot.size, false);
        self.counters.frees += 1;
        self.log(EventKind::Free, slot.base, slot.size);
        Ok(())
    }
}

struct Chain<'a> {
    slots: &'a [Slot],
    at: u32,
}

impl Iterator for Chain<'_> {
    type Item = Live;

    fn next(&mut self) -> Option<Live> {
        let live = live_at(self.slots, self.at)?;
        self.at = self.slots.get(self.at as usize).map_or(NIL, |slot| slot.next);
        Some(live)
    }
}

/// The block of a slot.
fn live_at(slots: &[Slot], index: u32) -> Option<Live> {
    let slot = slots.get(index as usize)?;
    Some(Live {
        handle: MemHandle { slot: index, generation: slot.generation },
        core: slot.core,
        place: slot.place,
        usage: slot.usage,
        base: DevAddr(slot.base),
        size: slot.size,
        reserved: slot.reserved,
        align: slot.align,
        tag: slot.tag,
    })
}
