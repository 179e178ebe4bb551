//! DMA blocks: their queues, and the sizes of everything their transfers will become.

use super::{Subject, wide};
use crate::error::{Error, LowerCode};
use crate::lower::dims::{Counts, add, one_more, tail_bytes};
use crate::lower::input::{FileIn, Input, QueueIn};
use crate::manifest::{Block, BlockSource};

/// True if the end of a block needs a record of its own.
pub(crate) const fn has_tail(block: &Block<'_>) -> bool {
    block.event.is_some() || !block.remote_semaphores.is_empty()
}

impl<'a, I: Input> Subject<'a, I> {
    #[inline(never)]
    pub(super) fn count_blocks(&self, counts: &mut Counts) -> Result<(), Error> {
        let mut transfers = 0u64;
        for source in BlockSource::ALL {
            for ordinal in 0..self.input.block_count(self.sg, source) {
                let block = self.block(source, ordinal)?;
                let at = |error| self.within(error, FileIn::Part(source), ordinal);
                if !I::CHECKED {
                    self.instance_of(&block).map_err(at)?;
                }
                transfers = transfers.saturating_add(u64::from(block.transfers));
                self.count_block(&block, counts).map_err(at)?;
            }
        }
        self.limit("DMA blocks", counts.blocks, u64::from(self.limits.blocks))?;
        self.count_transfers(counts)?;
        if !I::CHECKED && counts.descs != transfers {
            return Err(self.broken("transfers of blocks differ from their totals"));
        }
        self.limit("DMA descriptors", counts.descs, u64::from(self.limits.descriptors))
    }

    pub(crate) fn block(&self, source: BlockSource, ordinal: u32) -> Result<Block<'a>, Error> {
        self.input.block(self.sg, source, ordinal).ok_or_else(|| self.broken("the input lacks a block"))
    }

    /// The queue of a block.
    pub(crate) fn queue(&self, index: u16) -> Option<I::Queue<'a>> {
        self.input.queue(self.sg, u32::from(index))
    }

    /// Number of the block's instance among all instances of the subgraph.
    pub(crate) fn instance_of(&self, block: &Block<'_>) -> Result<u32, Error> {
        let fault = |code| self.fail(code).numbers(u64::from(block.id), u64::from(block.instance));
        let queue = self.queue(block.queue).ok_or_else(|| fault(LowerCode::UnknownQueue))?;
        if !I::CHECKED && block.instance >= queue.instances() {
            return Err(fault(LowerCode::UnknownInstance).name(queue.name()));
        }
        Ok(queue.first_instance().saturating_add(block.instance))
    }

    fn count_block(&self, block: &Block<'_>, counts: &mut Counts) -> Result<(), Error> {
        one_more(&mut counts.blocks);
        if block.transfers == 0 {
            let name = self.queue(block.queue).map_or(&[][..], |queue| queue.name());
            return Err(self.fail(LowerCode::EmptyBlock).name(name).numbers(u64::from(block.id), 0));
        }
        if !block.function_start.is_empty() {
            self.short_name(block.function_start)?;
            add(&mut counts.names, wide(block.function_start.len()).saturating_add(1));
        }
        if has_tail(block) {
            self.limit("remote semaphores of a block", wide(block.remote_semaphores.len()), 1 << 16)?;
            add(&mut counts.tails, tail_bytes(wide(block.remote_semaphores.len())));
        }
        Ok(())
    }

    #[inline(never)]
    fn count_transfers(&self, counts: &mut Counts) -> Result<(), Error> {
        let instances = u32::try_from(counts.instances).map_err(|_| self.broken("too many instances"))?;
        for source in BlockSource::ALL {
            for instance in 0..instances {
                let totals = self.input.totals(self.sg, source, instance);
                add(&mut counts.descs, u64::from(totals.transfers));
                add(&mut counts.aps, u64::from(totals.accesses));
                add(&mut counts.dims, u64::from(totals.dims));
                add(&mut counts.extra, u64::from(totals.extra));
            }
        }
        Ok(())
    }
}
