//! What a block gives to all its descriptors, and what its end does (lowering.md §5.4).

use super::Emit;
use super::lanes::{Cursor, Lane, Scratch};
use crate::arch::Arch;
use crate::arena::ArenaRef;
use crate::error::{Error, LowerCode};
use crate::lower::input::{FileIn, Input};
use crate::lower::measure::{QUEUES, has_tail};
use crate::lower::record::{BlockTail, Desc, DescFlags};
use crate::manifest::{Block, BlockSource};
use zerocopy::little_endian::U32;

impl<I: Input> Emit<'_, '_, I> {
    /// Fills the block fields of every descriptor; the transfers come later and keep them.
    #[inline(never)]
    pub(super) fn blocks(&mut self) -> Result<(), Error> {
        let subject = self.subject;
        let tails = self.alloc::<u8>(self.counts.tails)?;
        let lane = self
            .scratch
            .lane(self.arena, subject.sg)
            .ok_or_else(|| subject.broken("scratch has no place"))?;
        // The function that the blocks of each queue are in, by the order of reading (manifests.md §13.3).
        let mut functions = [ArenaRef::NULL; QUEUES];
        let mut tail = tails;
        for source in BlockSource::ALL {
            for ordinal in 0..subject.input.block_count(subject.sg, source) {
                let block = subject.block(source, ordinal)?;
                let instance = subject.instance_of(&block)?;
                let at = |error| subject.within(error, FileIn::Part(source), ordinal);
                if let Some(note) = self.foreign_semaphore(&block) {
                    self.notes.note(at(note));
                }
                let fname = self.function_of(&block, &mut functions)?;
                self.block(&lane, &block, (source, instance), fname, &mut tail)?;
            }
        }
        Scratch::rewind(self.arena, &subject, &lane, |_, _, _| Ok(()))?;
        Ok(())
    }

    /// Name of the function that a block is in, null for none: the one that it starts, else that of the block of its
    /// queue before it.
    fn function_of(
        &mut self,
        block: &Block<'_>,
        functions: &mut [ArenaRef; QUEUES],
    ) -> Result<ArenaRef, Error> {
        let subject = self.subject;
        let own = functions.get_mut(usize::from(block.queue));
        let own = own.ok_or_else(|| subject.broken("a block has no queue"))?;
        if !block.function_start.is_empty() {
            *own = self.pool(block.function_start)?;
        }
        Ok(*own)
    }

    /// A block that ends with a semaphore which its queue does not list. No rule forbids it.
    fn foreign_semaphore(&self, block: &Block<'_>) -> Option<Error> {
        let queue = self.subject.queue(block.queue)?;
        let semaphore = block.semaphore.filter(|_| !queue.semaphores.is_empty())?;
        if queue.semaphores.iter().any(|listed| listed.get() == semaphore) {
            return None;
        }
        let note = self.subject.fail(LowerCode::ForeignSemaphore).name(queue.name);
        Some(note.numbers(u64::from(block.id), u64::from(semaphore)))
    }

    #[inline(never)]
    fn block(
        &mut self,
        lane: &Lane,
        block: &Block<'_>,
        (source, instance): (BlockSource, u32),
        fname: ArenaRef,
        tail: &mut ArenaRef,
    ) -> Result<(), Error> {
        let subject = self.subject;
        let broken = || subject.broken("a block has no descriptors");
        let first = self.advance(lane, lane.cursor(source, instance), block.transfers)?;
        let (semaphore, end) = self.block_end(block, tail)?;
        let newer = subject.arch().is_some_and(|arch| arch > Arch::Sunda);
        let file = u8::try_from(source.slot()).unwrap_or(u8::MAX);
        let robin = DescFlags::ROUND_ROBIN.when(newer && !fname.is_null());
        let off = lane.descs.nth::<Desc>(first).ok_or_else(broken)?.off;
        let place = ArenaRef { off, len: U32::new(block.transfers) };
        let descs = self.arena.slice_mut::<Desc>(place).ok_or_else(broken)?;
        for desc in descs.iter_mut() {
            desc.block_id = U32::new(block.id);
            desc.file = file;
            desc.priority = block.priority_class;
            desc.fname = fname;
            desc.flags = robin;
        }
        if let Some(first) = descs.first_mut() {
            first.flags = first.flags.with(DescFlags::SECTION_START.when(block.section_start));
        }
        let last = descs.last_mut().ok_or_else(broken)?;
        last.flags = last.flags.with(end);
        last.semaphore = semaphore;
        Ok(())
    }

    /// Takes `count` descriptors of a part and returns the first one's number.
    fn advance(&mut self, lane: &Lane, at: usize, count: u32) -> Result<u32, Error> {
        let subject = self.subject;
        let cursors = self.tail::<Cursor>(lane.cursors, lane.count())?;
        let cursor = cursors.get_mut(at).ok_or_else(|| subject.broken("a part has no cursor"))?;
        let first = cursor.desc.get();
        cursor.desc.set(first.saturating_add(count));
        Ok(first)
    }

    /// The last descriptor's `semaphore` field and marks.
    fn block_end(&mut self, block: &Block<'_>, tail: &mut ArenaRef) -> Result<(U32, DescFlags), Error> {
        let end = DescFlags::BLOCK_END;
        if !has_tail(block) {
            let semaphore = block.semaphore.map_or(U32::ZERO, U32::new);
            return Ok((semaphore, end.with(DescFlags::SEMAPHORE.when(block.semaphore.is_some()))));
        }
        let count = u32::try_from(block.remote_semaphores.len()).unwrap_or(u32::MAX);
        let record = BlockTail {
            semaphore: block.semaphore.map_or(U32::ZERO, U32::new),
            has_semaphore: U32::new(u32::from(block.semaphore.is_some())),
            event_plus_one: U32::new(block.event.map_or(0, |event| event.saturating_add(1))),
            count: U32::new(count),
        };
        let place = ArenaRef { off: tail.off, len: U32::new(1) };
        self.put(place, record)?;
        let list = crate::lower::kbins::behind::<BlockTail>(place, count);
        if let Some(slots) = self.arena.slice_mut::<U32>(list) {
            crate::bytes::copy(slots, block.remote_semaphores);
        }
        let bytes = crate::lower::dims::tail_bytes(u64::from(count));
        let next = tail.off.get().saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
        tail.off = U32::new(next);
        Ok((place.off, end.with(DescFlags::TAIL)))
    }
}
