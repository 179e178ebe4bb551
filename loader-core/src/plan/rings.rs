//! How many entries every ring gets, and what every block amounts to (staging.md §10.6; R9, R32).

use super::expand::{End, Pair, PairSink, expand_block, touched};
use super::item::{item_mut, narrow, reserve};
use super::record::{BlockFlags, BlockRec, QueueCount, RING_RX, RING_TX, RingRec};
use super::ring::{MOST_ENTRIES, template};
use super::vars::{Access, access, is_placed, name_of};
use crate::arch::Arch;
use crate::arena::{Arena, ArenaRef};
use crate::bytes::split_mut;
use crate::error::{Error, Stage, StageCode};
use crate::limits::Budget;
use crate::lower::record::{Ap, Desc, DescFlags, RingType};
use crate::lower::{InstanceView, KbinView, QueueView};
use core::cmp::Ordering;
use zerocopy::little_endian::{U16, U32};

/// The rings and blocks of one core, counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct CoreRings {
    /// [`RingRec`]s by queue, instance, side.
    pub rings: ArenaRef,
    /// [`BlockRec`]s by queue, instance, id, function name.
    pub blocks: ArenaRef,
    /// Ring entries that name a placed variable.
    pub placed: u64,
    /// Blocks whose effect is not encoded in full.
    pub approximate: u32,
}

/// What counting needs to know about a core.
#[derive(Clone, Copy, Debug)]
pub struct RingRules {
    /// Architecture.
    pub arch: Arch,
    /// Subgraph number.
    pub core: u8,
    /// Allowance for entries of this core.
    pub entries: u64,
}

/// Hardware instances of a queue (staging.md §5.9: as many increments of each side; manifests.md §8.3).
const HARDWARE_MOST: usize = 16;
/// Semaphores of a core (driver-abi.md §7.9, Confirmed).
const SEMAPHORES: u32 = 256;
/// Name of function 0.
const MAIN: &[u8] = b"main";

fn fault(code: StageCode) -> Error {
    Error::new(Stage::Plan, code)
}

fn internal() -> Error {
    Error::internal(Stage::Plan, "ring and block records")
}

/// Ring rows of a kbin's instance: tx and rx per hardware instance.
fn rows_of(queue: &QueueView<'_>) -> u32 {
    queue.rings().saturating_mul(2)
}

/// True if the ring's IO side is bound at execution (staging.md §10.6).
pub(super) const fn is_io_ring(kind: RingType) -> bool {
    matches!(kind, RingType::IN | RingType::OUT)
}

/// Every ring instance of a kbin, queue by queue.
#[inline(never)]
pub(crate) fn each_instance<'m>(
    kbin: &KbinView<'m>,
    action: &mut dyn FnMut(&QueueView<'m>, &InstanceView<'m>) -> Result<(), Error>,
) -> Result<(), Error> {
    for queue in kbin.queues() {
        for instance in queue.instances() {
            action(&queue, &instance)?;
        }
    }
    Ok(())
}

/// Counts the rings and blocks of a kbin into the arena's head. Every descriptor end is checked.
///
/// # Errors
/// A descriptor that leaves its variable or has an unknown form, a ring that is too long, no room.
#[inline(never)]
pub fn count(
    kbin: &KbinView<'_>,
    rules: &RingRules,
    arena: &mut Arena<'_>,
    out: &mut CoreRings,
) -> Result<(), Error> {
    let (mut rows, mut blocks) = (0u32, 0u32);
    each_instance(kbin, &mut |queue, instance| {
        rows = rows.saturating_add(rows_of(queue));
        blocks = blocks.saturating_add(narrow(instance.blocks().count()));
        Ok(())
    })?;
    reserve::<RingRec>(arena, rows, &mut out.rings)?;
    reserve::<BlockRec>(arena, blocks, &mut out.blocks)?;
    let mut counting =
        Counting { kbin, rules, out, budget: Budget::new(rules.entries), row: 0, block: 0, first: 0 };
    each_instance(kbin, &mut |queue, instance| counting.instance(arena, queue, instance))?;
    sort_blocks(kbin, rules.core, arena.slice_mut::<BlockRec>(out.blocks).unwrap_or(&mut []))
}

/// What a trigger finds a block by (staging.md §5.9, §11.7): queue, instance, id, function.
pub(super) type Key<'m> = (u16, u16, u32, &'m [u8]);

pub(super) fn key_of<'m>(kbin: &KbinView<'m>, block: &BlockRec) -> Key<'m> {
    (block.queue.get(), block.instance.get(), block.id.get(), kbin.text(block.function))
}

/// Whether a block's key is below another one, it, or above it.
#[inline(never)]
pub(super) fn compare(kbin: &KbinView<'_>, block: &BlockRec, key: &Key<'_>) -> Ordering {
    key_of(kbin, block).cmp(key)
}

/// Brings blocks into the order of their keys, each of which must be unique.
#[inline(never)]
fn sort_blocks(kbin: &KbinView<'_>, core: u8, blocks: &mut [BlockRec]) -> Result<(), Error> {
    crate::sort::sort(blocks, |a, b| compare(kbin, a, &key_of(kbin, b)));
    let mut pairs = blocks.iter().zip(blocks.iter().skip(1));
    match pairs.find(|(a, b)| compare(kbin, a, &key_of(kbin, b)).is_eq()) {
        Some((twice, _)) => Err(block_fault(kbin, core, StageCode::DuplicateBlock, twice)),
        None => Ok(()),
    }
}

/// A refusal of a block.
#[cold]
#[inline(never)]
pub(super) fn block_fault(kbin: &KbinView<'_>, core: u8, code: StageCode, block: &BlockRec) -> Error {
    let id = block.id.get();
    let error = fault(code).numbers(u64::from(id), 0).element(id).subgraph(core);
    let Some(queue) = queue_of(kbin, block.queue) else { return error };
    let instance = queue.instances().nth(usize::from(block.instance.get()));
    let of_block = kbin.text(block.function);
    let own = |desc: &&Desc| desc.block_id == block.id && function(kbin.function(desc)) == of_block;
    let desc = instance.and_then(|instance| instance.descs().iter().find(own));
    error.name(queue.name()).member_or(desc.and_then(|desc| kbin.block_file(desc)))
}

/// The queue in a slot.
#[inline(never)]
pub(super) fn queue_of<'m>(kbin: &KbinView<'m>, slot: U16) -> Option<QueueView<'m>> {
    kbin.queues().find(|queue| queue.slot == usize::from(slot.get()))
}

/// Name of a function to find its blocks by: empty for function 0, MAIN, which is also what a block starts that goes
/// back to the main code (staging.md §5.10, §11.2).
pub(super) fn function(name: &[u8]) -> &[u8] {
    if name == MAIN { &[] } else { name }
}

/// Every semaphore has a register of its core: the number becomes part of an address (I9).
#[cfg_attr(small, inline(never))]
fn check_semaphores(queue: &QueueView<'_>, one: Option<u32>, others: &[U32]) -> Result<(), Error> {
    let others = others.iter().map(|semaphore| semaphore.get());
    let Some(high) = one.into_iter().chain(others).find(|&semaphore| semaphore >= SEMAPHORES) else {
        return Ok(());
    };
    let (found, most) = (u64::from(high), u64::from(SEMAPHORES));
    Err(fault(StageCode::SemaphoreIndex).name(queue.name()).numbers(found, most))
}

/// The rings and blocks of a core while they are counted.
struct Counting<'a, 'm> {
    kbin: &'a KbinView<'m>,
    rules: &'a RingRules,
    out: &'a mut CoreRings,
    budget: Budget,
    /// Ring rows and block records that are filled, and the first row of the present instance.
    row: u32,
    block: u32,
    first: u32,
}

impl Counting<'_, '_> {
    /// Labels the rows of an instance and expands its blocks.
    #[inline(never)]
    fn instance(
        &mut self,
        arena: &mut Arena<'_>,
        queue: &QueueView<'_>,
        instance: &InstanceView<'_>,
    ) -> Result<(), Error> {
        let core = self.rules.core;
        if instance.index == 0 {
            check_semaphores(queue, None, queue.semaphores())
                .map_err(|error| error.subgraph(core).element(narrow(queue.slot)))?;
        }
        let rings = queue.rings();
        self.first = self.row;
        for row in 0..rows_of(queue) {
            let ring: &mut RingRec = item_mut(arena, self.out.rings, self.row).ok_or_else(internal)?;
            ring.side = if row.is_multiple_of(2) { RING_TX } else { RING_RX }.into();
            ring.queue = small(queue.slot);
            let hardware = narrow(instance.index).saturating_mul(rings).saturating_add(row / 2);
            ring.instance = u16::try_from(hardware).unwrap_or(u16::MAX).into();
            self.row = self.row.wrapping_add(1);
        }
        for descs in instance.blocks() {
            let counted = self.expand(arena, queue, instance, descs);
            counted.map_err(|error| {
                let error = if error.at().name.is_empty() { error.name(queue.name()) } else { error };
                let error = error.subgraph(core);
                let Some(last) = descs.last() else { return error };
                error.element(last.block_id.get()).member_or(self.kbin.block_file(last))
            })?;
            self.block = self.block.wrapping_add(1);
        }
        Ok(())
    }

    /// Expands one block; its entries are counted in the rows of its instance.
    #[inline(never)]
    fn expand(
        &mut self,
        arena: &mut Arena<'_>,
        queue: &QueueView<'_>,
        instance: &InstanceView<'_>,
        descs: &[Desc],
    ) -> Result<(), Error> {
        let kbin = self.kbin;
        descs.iter().try_for_each(|desc| check_ends(kbin, queue, desc))?;
        let end = descs.last().and_then(|desc| kbin.block_end(desc));
        let (mut semaphore, mut more) = (None, false);
        if let Some(end) = end {
            check_semaphores(queue, end.semaphore, end.remote_semaphores)?;
            semaphore = end.semaphore;
            // Events and semaphores of the other core have no known register (Open).
            more = end.event.is_some() || !end.remote_semaphores.is_empty();
        }
        let (rings, arch) = (queue.rings(), self.rules.arch);
        let rows = arena.slice_mut::<RingRec>(self.out.rings).unwrap_or(&mut []);
        let (_, rows) = split_mut(rows, usize::try_from(self.first).unwrap_or(usize::MAX));
        let mut counter = Counter { counting: self, rows, counts: [QueueCount::default(); HARDWARE_MOST] };
        let totals = expand_block(kbin, descs, rings, arch, &mut counter)?;
        let instances = u32::try_from(totals.runs.min(u64::from(rings))).unwrap_or(u32::MAX);
        if semaphore.is_some() {
            (0..instances).try_for_each(|instance| counter.bump(instance, true))?;
        }
        let counts = counter.counts;
        // Of `section_start_desc` it is not known what goes to the first queue, where R9 has a run on each (Open).
        let section = descs.first().is_some_and(|desc| desc.flags.has(DescFlags::SECTION_START));
        let approximate = totals.approximate || more || section && rings > 1;
        let mut flags = if semaphore.is_some() { BlockFlags::SEMAPHORE } else { 0 };
        if approximate {
            flags |= BlockFlags::APPROXIMATE;
            self.out.approximate = self.out.approximate.wrapping_add(1);
        }
        let block: &mut BlockRec = item_mut(arena, self.out.blocks, self.block).ok_or_else(internal)?;
        (block.queue, block.instance) = (small(queue.slot), small(instance.index));
        (block.descriptors, block.instances) = (totals.descriptors.into(), instances.into());
        (block.runs, block.bytes) = (totals.runs.into(), totals.bytes.into());
        (block.semaphore, block.flags) = (semaphore.unwrap_or(0).into(), flags.into());
        if let Some(last) = descs.last() {
            block.id = last.block_id;
            let main = function(kbin.function(last)).is_empty();
            block.function = if main { ArenaRef::NULL } else { last.fname };
        }
        let block = *block;
        self.keep_counts(arena, &block, rings, &counts)
    }

    /// Keeps what a block adds to each hardware instance (staging.md §3.3, B5) where its runs do not say it.
    fn keep_counts(
        &self,
        arena: &mut Arena<'_>,
        block: &BlockRec,
        rings: u32,
        counts: &[QueueCount],
    ) -> Result<(), Error> {
        if (0..rings).zip(counts).all(|(instance, count)| block.even_count(instance, rings) == *count) {
            return Ok(());
        }
        let mut place = ArenaRef::NULL;
        reserve::<QueueCount>(arena, rings, &mut place)?;
        crate::bytes::copy(arena.slice_mut(place).unwrap_or(&mut []), counts);
        item_mut::<BlockRec>(arena, self.out.blocks, self.block).ok_or_else(internal)?.counts = place;
        Ok(())
    }
}

/// Every end lies in its variable, and inputs and outputs only where they can be bound (I9, I10).
fn check_ends(kbin: &KbinView<'_>, queue: &QueueView<'_>, desc: &Desc) -> Result<(), Error> {
    if let Some(to) = kbin.to(desc) {
        check_end(kbin, queue, to)?;
    }
    kbin.from(desc).iter().try_for_each(|end| check_end(kbin, queue, end))
}

#[inline(never)]
fn check_end(kbin: &KbinView<'_>, queue: &QueueView<'_>, ap: &Ap) -> Result<(), Error> {
    let var = ap.var_id.get();
    let name = || name_of(kbin, var);
    let Some((low, end)) = touched(kbin, ap) else {
        return Err(fault(StageCode::OutOfRange).name(name()).numbers(ap.off.get(), 0));
    };
    if let Access::Bound(_) = access(kbin, var, low, end.saturating_sub(low).max(1))? {
        if !is_io_ring(queue.record.ring_type) {
            return Err(fault(StageCode::IoInDataRing).name(queue.name()).name2(name()));
        }
        let last = end.saturating_sub(1);
        if template(var, last).is_none() {
            return Err(fault(StageCode::TemplateLimit).numbers(u64::from(var), last));
        }
    }
    Ok(())
}

fn small(n: usize) -> U16 {
    u16::try_from(n).unwrap_or(u16::MAX).into()
}

/// Counts the pairs of a block in the rows from its instance's first on.
struct Counter<'c, 'a, 'm, 'r> {
    counting: &'c mut Counting<'a, 'm>,
    rows: &'r mut [RingRec],
    /// What the block adds to each hardware instance.
    counts: [QueueCount; HARDWARE_MOST],
}

impl Counter<'_, '_, '_, '_> {
    /// One pair more on an instance, the first of its packet or a later one.
    fn bump(&mut self, instance: u32, first: bool) -> Result<(), Error> {
        let slot = usize::try_from(instance).ok();
        if let Some(count) = slot.and_then(|slot| self.counts.get_mut(slot)) {
            count.pairs = count.pairs.get().saturating_add(1).into();
            count.packets = count.packets.get().saturating_add(u32::from(first)).into();
        }
        let most = self.counting.rules.entries;
        self.counting.budget.take(1).map_err(|_| fault(StageCode::ExpansionLimit).numbers(most, 0))?;
        let tx = usize::try_from(instance).unwrap_or(usize::MAX).saturating_mul(2);
        for row in self.rows.get_mut(tx..tx.saturating_add(2)).unwrap_or(&mut []) {
            let used = row.used.get().saturating_add(1);
            if used > MOST_ENTRIES {
                return Err(fault(StageCode::RingFull).numbers(0, u64::from(MOST_ENTRIES)));
            }
            row.used = used.into();
        }
        Ok(())
    }

    fn names_placed(&self, end: End) -> u64 {
        u64::from(self.counting.kbin.mem_ref(end.var).is_some_and(|var| is_placed(var.mr_type)))
    }
}

impl PairSink for Counter<'_, '_, '_, '_> {
    fn pair(&mut self, pair: &Pair) -> Result<(), Error> {
        let placed = self.names_placed(pair.from).saturating_add(self.names_placed(pair.to));
        self.counting.out.placed = self.counting.out.placed.saturating_add(placed);
        self.bump(pair.instance, pair.first)
    }
}
