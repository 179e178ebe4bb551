//! DMA blocks and their queues.

use super::{Subject, wide};
use crate::error::{Error, LowerCode};
use crate::lower::input::{Input, QueueIn};
use crate::manifest::Block;

/// True if the end of a block needs a record of its own.
pub(crate) const fn has_tail(block: &Block<'_>) -> bool {
    block.event.is_some() || !block.remote_semaphores.is_empty()
}

impl<'a, I: Input> Subject<'a, I> {
    /// Limits of all blocks, and the promise of their totals.
    pub(crate) fn check_blocks(&self, blocks: u64, transfers: u64, descs: u32) -> Result<(), Error> {
        self.limit("DMA blocks", blocks, u64::from(self.limits.blocks))?;
        if !I::CHECKED && u64::from(descs) != transfers {
            return Err(self.broken("transfers of blocks differ from their totals"));
        }
        self.limit("DMA descriptors", u64::from(descs), u64::from(self.limits.descriptors))
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

    /// Checks a block; gives the number of its instance.
    #[inline(never)]
    pub(crate) fn check_block(&self, block: &Block<'_>) -> Result<u32, Error> {
        let instance = self.instance_of(block)?;
        if block.transfers == 0 {
            let name = self.queue(block.queue).map_or(&[][..], |queue| queue.name());
            return Err(self.fail(LowerCode::EmptyBlock).name(name).numbers(u64::from(block.id), 0));
        }
        self.short_name(block.function_start)?;
        if has_tail(block) {
            self.limit("remote semaphores of a block", wide(block.remote_semaphores.len()), 1 << 16)?;
        }
        Ok(instance)
    }
}
