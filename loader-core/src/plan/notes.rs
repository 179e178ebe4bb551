//! From notes to the records of a core: binds, opaque slots, branch targets, position map.

mod branches;
mod patches;
mod trigger;

pub(crate) use branches::find_target;

use super::item::{item, item_mut, reserve, reserve_bytes};
use super::place::{Draft, Request};
use super::programs::{MOST_PROGRAMS, Notes, Program};
use super::record::{Bind, BlockRec, Image, NoteKind, Opaque, SlotNote, Target, TargetKind, Why};
use super::rings::CoreRings;
use super::translate::trimmed;
use crate::arch::Engine;
use crate::arena::{Arena, ArenaRef, Record};
use crate::error::{Error, Stage, StageCode};
use crate::lower::KbinView;
use crate::lower::record::PatchSection;

/// What is known about the programs of a core.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CorePrograms {
    pub(super) images: ArenaRef,
    pub(super) binds: ArenaRef,
    pub(super) resolved: ArenaRef,
    pub(super) opaques: ArenaRef,
    pub(super) targets: ArenaRef,
    pub(super) patched: u64,
    pub(super) approximate: u32,
}

fn internal() -> Error {
    Error::internal(Stage::Plan, "notes of slots")
}

/// Makes the records of subgraph `core`.
#[inline(never)]
pub(super) fn sort_out(
    core: u8,
    draft: &mut Draft<'_>,
    programs: &heapless::Vec<Program<'_>, MOST_PROGRAMS>,
    notes: &Notes,
    request: &Request<'_>,
    arena: &mut Arena<'_>,
) -> Result<(), Error> {
    let Draft { kbin, rings, programs: out, .. } = draft;
    let most_patches = request.limits.position_entries;
    let mut work = Work { core, kbin, rings, programs, notes, most_patches, arena, out };
    work.images(request)?;
    let mut places = [ArenaRef::NULL; 4];
    let [binds, resolved, opaques, targets] = &mut places;
    work.collect(&[NoteKind::BIND], size_of::<Bind>(), Work::bind, binds)?;
    work.collect(&[NoteKind::RESOLVED], size_of::<Bind>(), Work::bind, resolved)?;
    work.collect(&[NoteKind::OPAQUE], size_of::<Opaque>(), Work::opaque, opaques)?;
    work.collect(&[NoteKind::LABEL, NoteKind::FUNCTION], size_of::<Target>(), Work::target, targets)?;
    [work.out.binds, work.out.resolved, work.out.opaques, work.out.targets] = places;
    let targets = work.arena.slice_mut::<Target>(work.out.targets).ok_or_else(internal)?;
    crate::sort::sort_by_key(targets, |target| {
        (target.engine.get(), target.kind.get(), target.id.get(), target.slot.get())
    });
    for engine in Engine::ALL {
        work.patches(engine)?;
        work.check_branches(engine)?;
    }
    Ok(())
}

/// A name's key among targets; names are compared in full after it (32-bit FNV-1a).
pub(crate) fn name_key(name: &[u8]) -> u32 {
    name.iter().fold(0x811C_9DC5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

struct Work<'a, 'm, 'p> {
    core: u8,
    kbin: &'a KbinView<'a>,
    rings: &'a CoreRings,
    programs: &'a [Program<'p>],
    notes: &'a Notes,
    most_patches: u32,
    arena: &'a mut Arena<'m>,
    out: &'a mut CorePrograms,
}

/// Fills the record of a note.
type Make<'a, 'm, 'p> = fn(&mut Work<'a, 'm, 'p>, &SlotNote, ArenaRef) -> Result<(), Error>;

impl<'a, 'm, 'p> Work<'a, 'm, 'p> {
    /// An error at the source slot of a note.
    fn fault(&self, code: StageCode, note: &SlotNote) -> Error {
        let own = |program: &&Program<'_>| {
            program.code.core == note.core && program.code.engine.number() == u32::from(note.engine)
        };
        let program = self.programs.iter().find(own);
        program.map_or_else(internal, |program| program.code.fault(code, note.source.get()))
    }

    /// The images of all engines, without their patches and their blocks.
    fn images(&mut self, request: &Request<'_>) -> Result<(), Error> {
        reserve::<Image>(self.arena, 5, &mut self.out.images)?;
        let programs = self.programs;
        for Program { code, stream, .. } in programs.iter().filter(|program| program.code.core == self.core) {
            let engine = code.engine.number();
            let image: &mut Image = item_mut(self.arena, self.out.images, engine).ok_or_else(internal)?;
            *image = *stream.counts();
            image.engine = engine.into();
            image.preamble = request.policy.preamble_slots().into();
            image.postamble = request.policy.postamble_slots().into();
            let slots = image.slots();
            if slots >= u64::from(u32::MAX) / 64 || slots == 0 {
                return Err(code.fault(StageCode::ImageTooLong, 0).numbers(slots, 0));
            }
            self.out.patched = self.out.patched.saturating_add(u64::from(image.patched.get()));
            self.out.approximate = self.out.approximate.saturating_add(image.approximate.get());
        }
        Ok(())
    }

    fn image(&self, engine: u32) -> Option<&Image> {
        item(self.arena, self.out.images, engine)
    }

    /// Notes of this core of some kinds, in order: of one engine, or of all.
    #[inline(never)]
    fn each(
        &mut self,
        kinds: &[NoteKind],
        engine: Option<Engine>,
        action: &mut dyn FnMut(&mut Self, &SlotNote) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for index in 0..self.notes.count {
            let note = *self.notes.get(self.arena, index).ok_or_else(internal)?;
            let own = engine.is_none_or(|engine| engine.number() == u32::from(note.engine));
            if own && note.core == self.core && kinds.contains(&note.kind) {
                action(self, &note)?;
            }
        }
        Ok(())
    }

    /// How many of these there are.
    #[inline(never)]
    fn count(&mut self, kinds: &[NoteKind], engine: Option<Engine>) -> Result<u32, Error> {
        let mut count = 0u32;
        let counted = self.each(kinds, engine, &mut |_, _| {
            count = count.wrapping_add(1);
            Ok(())
        });
        counted.map(|()| count)
    }

    /// One record of `size` bytes per note of some kinds.
    #[inline(never)]
    fn collect(
        &mut self,
        kinds: &[NoteKind],
        size: usize,
        make: Make<'a, 'm, 'p>,
        place: &mut ArenaRef,
    ) -> Result<(), Error> {
        let count = self.count(kinds, None)?;
        reserve_bytes(self.arena, size, count, place)?;
        let mut at = 0u32;
        self.each(kinds, None, &mut |work, note| {
            make(work, note, place.element(at, size))?;
            at = at.wrapping_add(1);
            Ok(())
        })
    }

    fn record<T: Record>(&mut self, place: ArenaRef) -> Option<&mut T> {
        item_mut(self.arena, place, 0)
    }

    /// Slot within the image.
    #[inline(never)]
    fn image_slot(&self, note: &SlotNote) -> Result<u32, Error> {
        let image = self.image(u32::from(note.engine)).ok_or_else(internal)?;
        let base = if note.section() == PatchSection::FUNCTION {
            function_base(image)
        } else {
            image.preamble.get()
        };
        Ok(base.saturating_add(note.slot.get()))
    }

    fn bind(&mut self, note: &SlotNote, place: ArenaRef) -> Result<(), Error> {
        let slot = self.image_slot(note)?;
        let bind: &mut Bind = self.record(place).ok_or_else(internal)?;
        (bind.engine, bind.operand, bind.opcode) = (note.engine, note.operand, note.opcode);
        (bind.slot, bind.var, bind.off) = (slot.into(), note.id, note.value);
        Ok(())
    }

    fn opaque(&mut self, note: &SlotNote, place: ArenaRef) -> Result<(), Error> {
        let triggered = self.trigger(note)?;
        let slot = self.image_slot(note)?;
        let opaque: &mut Opaque = self.record(place).ok_or_else(internal)?;
        (opaque.engine, opaque.opcode, opaque.slots) = (note.engine, note.opcode, note.operand);
        (opaque.why, opaque.source, opaque.slot) = (Why(note.id), note.source, slot.into());
        if let Some(block) = triggered {
            opaque.trigger = 1;
            opaque.block = block.into();
            let block: &mut BlockRec = item_mut(self.arena, self.rings.blocks, block).ok_or_else(internal)?;
            block.mark_trigger();
            let queue = block.queue;
            self.record::<Opaque>(place).ok_or_else(internal)?.queue = queue;
        }
        Ok(())
    }

    fn target(&mut self, note: &SlotNote, place: ArenaRef) -> Result<(), Error> {
        let slot = self.image_slot(note)?;
        let label = note.kind == NoteKind::LABEL;
        let id = if label { note.id } else { name_key(self.name(note)).into() };
        let target: &mut Target = self.record(place).ok_or_else(internal)?;
        target.engine = u16::from(note.engine).into();
        target.kind = if label { TargetKind::LABEL } else { TargetKind::FUNCTION };
        (target.slot, target.id, target.name) = (slot.into(), id, note.name_ref());
        let [reset, registers @ .., _, _, _, _, _] = note.value.get().to_le_bytes();
        (target.reset_semaphores, target.return_registers) = (reset, registers);
        Ok(())
    }

    /// Function name of a note, without NUL fill.
    fn name(&self, note: &SlotNote) -> &[u8] {
        self.named(note.name_ref())
    }

    #[inline(never)]
    fn named(&self, place: ArenaRef) -> &[u8] {
        trimmed(self.arena.slice(place).unwrap_or(&[]))
    }
}

/// First slot of an image's functions.
pub(crate) fn function_base(image: &Image) -> u32 {
    let parts = [image.preamble.get(), image.main.get(), image.postamble.get()];
    parts.into_iter().fold(0, u32::saturating_add)
}
