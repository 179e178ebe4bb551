//! How many entries every ring gets, and what every block amounts to (staging.md §10.6; R9, R32).

use super::expand::{BlockTotals, End, Pair, PairSink, expand_block, touched};
use super::item::{item_mut, narrow};
use super::record::{BlockFlags, BlockRec, RING_RX, RING_TX, RingRec};
use super::ring::{MOST_ENTRIES, template};
use super::vars::{Access, access, is_placed};
use crate::arch::Arch;
use crate::arena::{Arena, ArenaRef};
use crate::error::{Error, Stage, StageCode};
use crate::limits::Budget;
use crate::lower::record::{Ap, Desc, DescFlags, RingType};
use crate::lower::{InstanceView, KbinView, QueueView};
use core::slice;
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

/// Semaphores of a core (driver-abi.md §7.9, Confirmed).
const SEMAPHORES: u32 = 256;
/// Name of function 0.
const MAIN: &[u8] = b"main";

fn fault(code: StageCode) -> Error {
    Error::new(Stage::Plan, code)
}

/// Ring rows of a kbin's instance: tx and rx per hardware instance.
pub(super) fn rows_of(queue: &QueueView<'_>) -> usize {
    usize::try_from(queue.rings()).unwrap_or(usize::MAX).saturating_mul(2)
}

/// True if the ring's IO side is bound at execution (staging.md §10.6).
pub(super) const fn is_io_ring(kind: RingType) -> bool {
    matches!(kind, RingType::IN | RingType::OUT)
}

/// Counts the rings and blocks of a kbin into the arena's head. Every descriptor end is checked.
///
/// # Errors
/// A descriptor that leaves its variable or has an unknown form, a ring that is too long, no room.
#[inline(never)]
pub fn count(kbin: &KbinView<'_>, rules: &RingRules, arena: &mut Arena<'_>) -> Result<CoreRings, Error> {
    let full = |error| Error::arena(Stage::Plan, error);
    let (mut rows, mut blocks) = (0usize, 0usize);
    for queue in kbin.queues() {
        for instance in queue.instances() {
            rows = rows.saturating_add(rows_of(&queue));
            blocks = blocks.saturating_add(instance.blocks().count());
        }
    }
    let mut out = CoreRings {
        rings: arena.alloc::<RingRec>(rows).map_err(full)?,
        blocks: arena.alloc::<BlockRec>(blocks).map_err(full)?,
        ..CoreRings::default()
    };
    let mut budget = Budget::new(rules.entries);
    let (mut row, mut block) = (0, 0);
    for queue in kbin.queues() {
        check_semaphores(&queue, queue.semaphores())
            .map_err(|error| error.subgraph(rules.core).element(u32::from(small(queue.slot))))?;
        for instance in queue.instances() {
            let part = Part { kbin, queue, instance, rules };
            row = part.count_rings(out.rings, row, arena)?;
            block = part.count_blocks(&mut out, block, row, arena, &mut budget)?;
        }
    }
    sort_blocks(kbin, rules.core, arena.slice_mut::<BlockRec>(out.blocks).unwrap_or(&mut []))?;
    Ok(out)
}

/// What a trigger finds a block by (staging.md §5.9, §11.7): instance of its queue, id, function.
pub(super) fn key_of<'m>(kbin: &KbinView<'m>, block: &BlockRec) -> (u16, u32, &'m [u8]) {
    (block.instance.get(), block.id.get(), kbin.text(block.function))
}

/// Brings blocks into the order of their keys, each of which must be unique.
#[inline(never)]
fn sort_blocks(kbin: &KbinView<'_>, core: u8, blocks: &mut [BlockRec]) -> Result<(), Error> {
    let key = |block: &BlockRec| (block.queue.get(), key_of(kbin, block));
    crate::sort::sort(blocks, |a, b| key(a).cmp(&key(b)));
    let mut pairs = blocks.iter().zip(blocks.iter().skip(1));
    let Some((twice, _)) = pairs.find(|(a, b)| key(a) == key(b)) else { return Ok(()) };
    let queue = kbin.queues().find(|queue| queue.slot == usize::from(twice.queue.get()));
    let name = queue.map_or(&[][..], |queue| queue.name());
    let error = fault(StageCode::DuplicateBlock).name(name).numbers(u64::from(twice.id.get()), 0);
    let error = error.element(twice.id.get()).subgraph(core);
    Err(error.member_or(desc_of(kbin, twice).and_then(|desc| kbin.block_file(desc))))
}

/// Name of a function to find its blocks by: empty for function 0, MAIN, which is also what a block starts that goes
/// back to the main code (staging.md §5.10, §11.2).
pub(super) fn function(name: &[u8]) -> &[u8] {
    if name == MAIN { &[] } else { name }
}

/// A descriptor of a block.
pub(super) fn desc_of<'m>(kbin: &KbinView<'m>, block: &BlockRec) -> Option<&'m Desc> {
    let queue = kbin.queues().find(|queue| queue.slot == usize::from(block.queue.get()))?;
    let instance = queue.instances().nth(usize::from(block.instance.get()))?;
    let of_block = kbin.text(block.function);
    let own = |desc: &&Desc| desc.block_id == block.id && function(kbin.function(desc)) == of_block;
    instance.descs().iter().find(own)
}

/// Every semaphore has a register of its core: the number becomes part of an address (I9).
fn check_semaphores(queue: &QueueView<'_>, semaphores: &[U32]) -> Result<(), Error> {
    let Some(high) = semaphores.iter().find(|semaphore| semaphore.get() >= SEMAPHORES) else {
        return Ok(());
    };
    let (found, most) = (u64::from(high.get()), u64::from(SEMAPHORES));
    Err(fault(StageCode::SemaphoreIndex).name(queue.name()).numbers(found, most))
}

/// One ring instance of a kbin's queue.
struct Part<'a, 'm> {
    kbin: &'a KbinView<'m>,
    queue: QueueView<'m>,
    instance: InstanceView<'m>,
    rules: &'a RingRules,
}

impl Part<'_, '_> {
    /// The error with its block as the place.
    fn located(&self, error: Error, descs: &[Desc]) -> Error {
        let error = if error.at().name.is_empty() { error.name(self.queue.name()) } else { error };
        let error = error.subgraph(self.rules.core);
        let Some(last) = descs.last() else { return error };
        error.element(last.block_id.get()).member_or(self.kbin.block_file(last))
    }

    /// Labels this instance's rows, `first` on; gives the row after them.
    #[inline(never)]
    fn count_rings(&self, rings: ArenaRef, first: usize, arena: &mut Arena<'_>) -> Result<usize, Error> {
        let rows = rows_of(&self.queue);
        let end = first.saturating_add(rows);
        let all = arena.slice_mut::<RingRec>(rings).and_then(|all| all.get_mut(first..end));
        let all = all.ok_or_else(|| Error::internal(Stage::Plan, "ring rows"))?;
        let base = self.instance.index.saturating_mul(rows / 2);
        for (index, row) in all.iter_mut().enumerate() {
            row.side = if index.is_multiple_of(2) { RING_TX } else { RING_RX }.into();
            row.queue = small(self.queue.slot);
            row.instance = small(base.saturating_add(index / 2));
        }
        Ok(end)
    }

    /// Expands this instance's blocks, from record `first` on; its rows end at `end`.
    #[inline(never)]
    fn count_blocks(
        &self,
        out: &mut CoreRings,
        first: usize,
        end: usize,
        arena: &mut Arena<'_>,
        budget: &mut Budget,
    ) -> Result<usize, Error> {
        let mut at = first;
        for descs in self.instance.blocks() {
            let block = self.count_block(out, descs, end, arena, budget);
            let block = block.map_err(|error| self.located(error, descs))?;
            if block.is_approximate() {
                out.approximate = out.approximate.saturating_add(1);
            }
            let slot = item_mut::<BlockRec>(arena, out.blocks, narrow(at));
            *slot.ok_or_else(|| Error::internal(Stage::Plan, "block records"))? = block;
            at = at.saturating_add(1);
        }
        Ok(at)
    }

    /// Expands one block; its entries are counted in the rows that end at `end`.
    fn count_block(
        &self,
        out: &mut CoreRings,
        descs: &[Desc],
        end: usize,
        arena: &mut Arena<'_>,
        budget: &mut Budget,
    ) -> Result<BlockRec, Error> {
        descs.iter().try_for_each(|desc| self.check_ends(desc))?;
        if let Some(end) = descs.last().and_then(|desc| self.kbin.block_end(desc)) {
            check_semaphores(&self.queue, end.semaphore.map(U32::new).as_slice())?;
            check_semaphores(&self.queue, end.remote_semaphores)?;
        }
        let start = end.saturating_sub(rows_of(&self.queue));
        let rows = arena.slice_mut::<RingRec>(out.rings).and_then(|all| all.get_mut(start..end));
        let rows = rows.ok_or_else(|| Error::internal(Stage::Plan, "ring rows"))?;
        let mut counter = Counter { kbin: self.kbin, rows, placed: 0, budget, most: self.rules.entries };
        let totals = expand_block(self.kbin, descs, self.queue.rings(), self.rules.arch, &mut counter)?;
        out.placed = out.placed.saturating_add(counter.placed);
        let block = self.block_record(descs, &totals);
        if block.semaphore().is_some() {
            (0..block.instances.get()).try_for_each(|instance| counter.bump(instance))?;
        }
        Ok(block)
    }

    fn block_record(&self, descs: &[Desc], totals: &BlockTotals) -> BlockRec {
        let last = descs.last();
        let end = last.and_then(|desc| self.kbin.block_end(desc));
        let semaphore = end.and_then(|end| end.semaphore);
        // Events and semaphores of the other core have no known register (Open).
        let more = end.is_some_and(|end| end.event.is_some() || !end.remote_semaphores.is_empty());
        // Of `section_start_desc` it is not known what goes to the first queue, where R9 has a run on each (Open).
        let section = descs.first().is_some_and(|desc| desc.flags.has(DescFlags::SECTION_START));
        let more = more || section && self.queue.rings() > 1;
        let mut flags = 0;
        if semaphore.is_some() {
            flags |= BlockFlags::SEMAPHORE;
        }
        if totals.approximate || more {
            flags |= BlockFlags::APPROXIMATE;
        }
        let rings = u64::from(self.queue.rings());
        BlockRec {
            queue: small(self.queue.slot),
            instance: small(self.instance.index),
            id: last.map_or(0, |desc| desc.block_id.get()).into(),
            descriptors: totals.descriptors.into(),
            instances: u32::try_from(totals.runs.min(rings)).unwrap_or(u32::MAX).into(),
            runs: totals.runs.into(),
            bytes: totals.bytes.into(),
            semaphore: semaphore.unwrap_or(0).into(),
            flags: flags.into(),
            function: last
                .filter(|desc| !function(self.kbin.function(desc)).is_empty())
                .map_or(ArenaRef::NULL, |desc| desc.fname),
        }
    }

    /// Every end lies in its variable, and inputs and outputs only where they can be bound (I9, I10).
    fn check_ends(&self, desc: &Desc) -> Result<(), Error> {
        for ends in [self.kbin.to(desc).map_or(&[][..], slice::from_ref), self.kbin.from(desc)] {
            ends.iter().try_for_each(|end| self.check_end(end))?;
        }
        Ok(())
    }

    #[inline(never)]
    fn check_end(&self, ap: &Ap) -> Result<(), Error> {
        let var = ap.var_id.get();
        let name = || self.kbin.mem_ref(var).map_or(&[][..], |record| self.kbin.name(record));
        let Some((low, end)) = touched(self.kbin, ap) else {
            return Err(fault(StageCode::OutOfRange).name(name()).numbers(ap.off.get(), 0));
        };
        if let Access::Bound(_) = access(self.kbin, var, low, end.saturating_sub(low).max(1))? {
            if !is_io_ring(self.queue.record.ring_type) {
                return Err(fault(StageCode::IoInDataRing).name(self.queue.name()).name2(name()));
            }
            let last = end.saturating_sub(1);
            if template(var, last).is_none() {
                return Err(fault(StageCode::TemplateLimit).numbers(u64::from(var), last));
            }
        }
        Ok(())
    }
}

fn small(n: usize) -> U16 {
    u16::try_from(n).unwrap_or(u16::MAX).into()
}

struct Counter<'a, 'm> {
    kbin: &'a KbinView<'m>,
    rows: &'a mut [RingRec],
    placed: u64,
    budget: &'a mut Budget,
    most: u64,
}

impl Counter<'_, '_> {
    /// One pair more on an instance.
    fn bump(&mut self, instance: u32) -> Result<(), Error> {
        let spent = |_| fault(StageCode::ExpansionLimit).numbers(self.most, 0);
        self.budget.take(1).map_err(spent)?;
        let tx = usize::try_from(instance).unwrap_or(usize::MAX).saturating_mul(2);
        let rows = self.rows.get_mut(tx..tx.saturating_add(2)).unwrap_or(&mut []);
        for row in rows {
            let used = row.used.get().saturating_add(1);
            if used > MOST_ENTRIES {
                return Err(fault(StageCode::RingFull).numbers(0, u64::from(MOST_ENTRIES)));
            }
            row.used = used.into();
        }
        Ok(())
    }

    fn names_placed(&self, end: End) -> u64 {
        u64::from(self.kbin.mem_ref(end.var).is_some_and(|var| is_placed(var.mr_type)))
    }
}

impl PairSink for Counter<'_, '_> {
    fn pair(&mut self, pair: &Pair) -> Result<(), Error> {
        let placed = self.names_placed(pair.from).saturating_add(self.names_placed(pair.to));
        self.placed = self.placed.saturating_add(placed);
        self.bump(pair.instance)
    }
}
