//! Remarks on blocks without a trigger, and with more than one.
//!
//! No specification says how often a block must be started, so nothing is refused for it. In every known file each
//! block has one trigger (c1).

use super::record::{BlockFlags, BlockRec};
use super::view::CoreView;
use crate::arch::Engine;
use crate::error::{Error, Notes, Stage, StageCode};
use crate::lower::QueueView;
use crate::lower::record::RingType;

/// The other opcode that names a queue; which blocks it starts is not known (R6).
const OTHER_TRIGGER: u8 = 0xC2;

impl CoreView<'_> {
    /// Gives one remark per queue whose blocks are not each triggered once by an instruction, and kind of fault.
    pub fn check_triggers(&self, notes: &mut (impl Notes + ?Sized)) {
        if self.images().iter().any(|image| image.pseudo_count(OTHER_TRIGGER) > 0) {
            return;
        }
        let started = |kind| matches!(kind, RingType::DATA | RingType::IN | RingType::OUT);
        for queue in self.kbin.queues().filter(|queue| started(queue.record.ring_type)) {
            self.note_blocks(&queue, StageCode::NoTrigger, |block| !block.is(BlockFlags::TRIGGERED), notes);
            self.note_blocks(&queue, StageCode::SeveralTriggers, |block| block.is(BlockFlags::AGAIN), notes);
        }
    }

    fn note_blocks(
        &self,
        queue: &QueueView<'_>,
        code: StageCode,
        odd: impl Fn(&BlockRec) -> bool,
        notes: &mut (impl Notes + ?Sized),
    ) {
        let own = |block: &&BlockRec| usize::from(block.queue.get()) == queue.slot && odd(block);
        let Some(first) = self.blocks().iter().find(own) else { return };
        let count = u64::try_from(self.blocks().iter().filter(own).count()).unwrap_or(u64::MAX);
        let id = first.id.get();
        let note = Error::new(Stage::Plan, code).name(queue.name()).numbers(count, u64::from(id)).element(id);
        let core = u8::try_from(self.kbin.index()).unwrap_or(u8::MAX);
        let owner = queue.record.owner.engine();
        let file = owner.and_then(|engine: Engine| self.kbin.engine_file(engine));
        notes.note(note.subgraph(core).member_or(file).member_or(self.kbin.definition_file()));
    }
}
