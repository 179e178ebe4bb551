//! Remarks on a core's program: blocks without a trigger and with more than one, opcodes that nobody knows, slots of another length, a carve-out
//! that is not the one which the runtime looks for.
//!
//! No specification says how often a block must be started, so nothing is refused for it. In every known file each
//! block has one trigger (c1), and each slot a length of 16 words. Unknown opcodes are reported, never fatal (R5); of a missing carve-out the runtime says
//! something, and goes on (staging.md §11.8).

use super::record::{BlockFlags, BlockRec};
use super::view::CoreView;
use crate::arch::{Arch, Engine};
use crate::error::{Error, Notes, Stage, StageCode};
use crate::lower::QueueView;
use crate::lower::record::RingType;

/// The other opcode that names a queue; which blocks it starts is not known (R6).
const OTHER_TRIGGER: u8 = 0xC2;

impl CoreView<'_> {
    /// Gives every remark of this module.
    pub fn remarks(&self, notes: &mut (impl Notes + ?Sized)) {
        self.check_triggers(notes);
        self.check_opcodes(notes);
        self.check_carveouts(notes);
    }

    /// Gives one remark per engine and opcode of which nothing is known (R5), and one per engine whose stream has slots of
    /// another length.
    pub fn check_opcodes(&self, notes: &mut (impl Notes + ?Sized)) {
        for (image, engine) in self.images().iter().zip(Engine::ALL) {
            let note = |code, number| {
                let note = Error::new(Stage::Plan, code).name(engine.key().as_bytes());
                let note = note.numbers(number, 0).subgraph(self.number());
                note.member_or(self.kbin.program_file(engine))
            };
            for opcode in image.unknown_opcodes() {
                notes.note(note(StageCode::UnknownOpcode, u64::from(opcode)));
            }
            if image.lengths.get() > 0 {
                notes.note(note(StageCode::SlotLength, u64::from(image.lengths.get())));
            }
        }
    }

    /// Gives a remark if there are carve-outs and none is the event accelerator's on the architecture that looks for
    /// it.
    pub fn check_carveouts(&self, notes: &mut (impl Notes + ?Sized)) {
        let listed = self.kbin.carveouts().is_some_and(|carveouts| !carveouts.is_empty());
        if listed && self.kbin.arch() == Some(Arch::Cayman) && self.model.collectives.event_accelerator == 0 {
            let note = Error::new(Stage::Plan, StageCode::EventCarveout).subgraph(self.number());
            notes.note(note.member_or(self.kbin.definition_file()));
        }
    }

    fn number(&self) -> u8 {
        u8::try_from(self.kbin.index()).unwrap_or(u8::MAX)
    }

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
        let owner = queue.record.owner.engine();
        let file = owner.and_then(|engine: Engine| self.kbin.engine_file(engine));
        notes.note(note.subgraph(self.number()).member_or(file).member_or(self.kbin.definition_file()));
    }
}
