//! What a block gives to all its descriptors, and what its end does (lowering.md §5.4).

use super::Emit;
use super::pools::Pool;
use crate::arch::Arch;
use crate::arena::ArenaRef;
use crate::error::{Error, LowerCode, remark};
use crate::layout::SMALL;
use crate::lower::input::{FileIn, Input, QueueIn};
use crate::lower::measure::{QUEUES, has_tail};
use crate::lower::record::{BlockTail, Desc, DescFlags};
use crate::manifest::{Block, BlockSource};
use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

impl<I: Input> Emit<'_, '_, I> {
    /// Fills the block fields of every descriptor; the transfers come later and keep them.
    #[inline(never)]
    pub(super) fn blocks(&mut self) -> Result<(), Error> {
        let subject = self.subject;
        self.open(Pool::Tails);
        // The function that the blocks of each queue are in, by the order of reading (manifests.md §13.3): the one that
        // a block starts, else that of the block of its queue before it.
        let mut functions = [ArenaRef::NULL; QUEUES];
        let (mut blocks, mut transfers) = (0u64, 0u64);
        for &source in &BlockSource::ALL {
            for ordinal in 0..subject.input.block_count(subject.sg, source) {
                let block = subject.input.block(subject.sg, source, ordinal);
                let block = block.as_ref().ok_or_else(|| subject.broken("the input lacks a block"))?;
                blocks = blocks.saturating_add(1);
                transfers = transfers.saturating_add(u64::from(block.transfers));
                let instance = subject.check_block(block);
                let instance =
                    instance.map_err(|error| subject.within(error, FileIn::Part(source), ordinal))?;
                if !SMALL && let Some(note) = self.foreign_semaphore(block) {
                    remark(self.notes, || subject.within(note, FileIn::Part(source), ordinal));
                }
                let function = functions.get_mut(usize::from(block.queue));
                let function = function.ok_or_else(|| subject.broken("a block has no queue"))?;
                if !block.function_start.is_empty() {
                    *function = self.name(Pool::Names, block.function_start);
                }
                let descs = self.descs(self.lane.cursor(source, instance), block.transfers);
                self.block(descs, block, source, *function);
            }
        }
        self.rewind();
        subject.check_blocks(blocks, transfers, self.found.descs)
    }

    /// A block that ends with a semaphore which its queue does not list. No rule forbids it.
    fn foreign_semaphore(&self, block: &Block<'_>) -> Option<Error> {
        let queue = self.subject.queue(block.queue)?;
        let semaphore = block.semaphore.filter(|_| !queue.semaphores().is_empty())?;
        if queue.semaphores().iter().any(|listed| listed.get() == semaphore) {
            return None;
        }
        let note = self.subject.fail(LowerCode::ForeignSemaphore).name(queue.name());
        Some(note.numbers(u64::from(block.id), u64::from(semaphore)))
    }

    #[inline(never)]
    fn block(&mut self, descs: ArenaRef, block: &Block<'_>, source: BlockSource, function: ArenaRef) {
        let (semaphore, end) = self.block_end(block);
        let newer = self.subject.arch().is_some_and(|arch| arch > Arch::Sunda);
        let file = u8::try_from(source.slot()).unwrap_or(u8::MAX);
        let robin = DescFlags::ROUND_ROBIN.when(newer && !function.is_null());
        let descs = self.arena.slice_mut::<Desc>(descs).unwrap_or(&mut []);
        for desc in descs.iter_mut() {
            desc.block_id = U32::new(block.id);
            desc.file = file;
            desc.priority = block.priority_class;
            desc.fname = function;
            desc.flags = robin;
        }
        if let Some(first) = descs.first_mut() {
            first.flags = first.flags.with(DescFlags::SECTION_START.when(block.section_start));
        }
        match descs.last_mut() {
            Some(last) => (last.flags, last.semaphore) = (last.flags.with(end), semaphore),
            None => self.lost = true,
        }
    }

    /// Takes the next `count` descriptors of a part.
    fn descs(&mut self, part: usize, count: u32) -> ArenaRef {
        let lane = self.lane;
        let cursor = lane.cursors(self.arena).and_then(|cursors| cursors.get_mut(part));
        let Some(cursor) = cursor else { return ArenaRef::NULL };
        let first = cursor.desc.get();
        cursor.desc.set(first.saturating_add(count));
        ArenaRef { len: U32::new(count), ..lane.descs.at::<Desc>(first) }
    }

    /// The last descriptor's `semaphore` field and marks.
    fn block_end(&mut self, block: &Block<'_>) -> (U32, DescFlags) {
        let end = DescFlags::BLOCK_END;
        let semaphore = U32::new(block.semaphore.unwrap_or(0));
        if !has_tail(block) {
            return (semaphore, end.with(DescFlags::SEMAPHORE.when(block.semaphore.is_some())));
        }
        let count = u32::try_from(block.remote_semaphores.len()).unwrap_or(u32::MAX);
        let record = BlockTail {
            semaphore,
            has_semaphore: U32::new(u32::from(block.semaphore.is_some())),
            event_plus_one: U32::new(block.event.map_or(0, |event| event.saturating_add(1))),
            count: U32::new(count),
        };
        let bytes = u64::from(count).saturating_mul(4).saturating_add(16).next_multiple_of(8);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let place = self.part(Pool::Tails, bytes);
        self.put(place, &record);
        let list = crate::lower::kbins::behind::<BlockTail>(place, count);
        self.fill(list.off.get(), block.remote_semaphores.as_bytes());
        (place.off, end.with(DescFlags::TAIL))
    }
}
