//! Which block a trigger starts (staging.md §11.7).

use super::{Work, internal};
use crate::error::{Error, StageCode};
use crate::lower::record::{QueueHdr, RingType};
use crate::lower::{KbinView, QueueView};
use crate::manifest::search;
use crate::plan::item::narrow;
use crate::plan::record::{BlockRec, SlotNote};
use crate::plan::rings::{compare, function, queue_of};
use crate::plan::translate::Trigger;
use core::cmp::Ordering;

impl Work<'_, '_, '_> {
    /// Index of the block that a trigger names: by its id and by the function that it stands in.
    #[inline(never)]
    pub(super) fn trigger(&self, note: &SlotNote) -> Result<Option<u32>, Error> {
        let Some(trigger) = Trigger::of(note.value) else { return Ok(None) };
        let blocks: &[BlockRec] = self.arena.slice(self.rings.blocks).ok_or_else(internal)?;
        let queue = queue_of(self.kbin, trigger.queue.into()).ok_or_else(internal)?;
        let found = find_block(self.kbin, blocks, &queue, &trigger, function(self.name(note)));
        // What is filled while the model runs has no blocks for its triggers to name.
        let own = |block: &BlockRec| block.queue.get() == trigger.queue;
        if found.is_some() || trigger.states_count || !(is_static(&queue) || blocks.iter().any(own)) {
            return Ok(found);
        }
        // The name as the trigger spells it: the queue's, or one of its instances'.
        let instance = trigger.instance.and_then(|instance| queue.instances().nth(usize::from(instance)));
        let name = match (trigger.instance, instance) {
            (Some(_), instance) => instance.as_ref().map_or(&[][..], |instance| instance.name()),
            (None, _) => queue.name(),
        };
        let error = self.fault(StageCode::UnknownBlock, note).name2(name);
        Err(error.numbers(u64::from(note.source.get()), u64::from(trigger.block)))
    }
}

/// True for a queue whose rings hold the blocks of the file and nothing else, so that a trigger of it must name one
/// (staging.md §11.7): descriptors of the others are made on the device, or by the runtime.
fn is_static(queue: &QueueView<'_>) -> bool {
    let made_later = QueueHdr::DYNAMIC | QueueHdr::DGE;
    let kinds = [RingType::DATA, RingType::IN, RingType::OUT, RingType::INDIRECT_MEMCPY];
    kinds.contains(&queue.record.ring_type) && queue.record.flags.get() & made_later == 0
}

/// Index of the block that a trigger in a function starts; blocks are sorted by queue, instance, id and function. A queue's
/// own name stands for the first of its instances that has the block.
fn find_block(
    kbin: &KbinView<'_>,
    blocks: &[BlockRec],
    queue: &QueueView<'_>,
    trigger: &Trigger,
    function: &[u8],
) -> Option<u32> {
    let (first, count) = match trigger.instance {
        Some(instance) => (u32::from(instance), 1),
        None => (0, queue.record.ring_instance_count.get()),
    };
    for instance in first..first.saturating_add(count) {
        let wanted = (trigger.queue, u16::try_from(instance).ok()?, trigger.block, function);
        let block = |at: u32| usize::try_from(at).ok().and_then(|at| blocks.get(at));
        let mut order = |at| block(at).map_or(Ordering::Greater, |block| compare(kbin, block, &wanted));
        let found = search(narrow(blocks.len()), &mut order);
        if found.is_some() {
            return found;
        }
    }
    None
}
