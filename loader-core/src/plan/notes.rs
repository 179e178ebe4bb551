//! From notes to the records of a core: binds, opaque slots, branch targets, position map.

mod patches;

use super::item::{item, item_mut, narrow};
use super::place::Request;
use super::programs::{MOST_PROGRAMS, Notes, Program, is_target};
use super::record::{Bind, BlockRec, Image, NoteKind, Opaque, SlotNote, Target, TargetKind, Why};
use super::rings::{CoreRings, function, key_of};
use super::translate::{states_count, trimmed};
use crate::arch::Engine;
use crate::arena::{Arena, ArenaRef, Record};
use crate::error::{Error, Stage, StageCode};
use crate::lower::record::{PatchSection, QueueHdr, RingType};
use crate::lower::{KbinView, QueueView};
use crate::policy::Policy;
use zerocopy::little_endian::U32;

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

fn full(error: crate::arena::ArenaFull) -> Error {
    Error::arena(Stage::Plan, error)
}

fn internal() -> Error {
    Error::internal(Stage::Plan, "notes of slots")
}

/// Makes the records of subgraph `core`.
#[inline(never)]
pub(super) fn sort_out(
    core: u8,
    programs: &heapless::Vec<Program<'_>, MOST_PROGRAMS>,
    notes: &Notes,
    rings: &CoreRings,
    request: &Request<'_>,
    arena: &mut Arena<'_>,
) -> Result<CorePrograms, Error> {
    let mut out = CorePrograms { images: arena.alloc::<Image>(5).map_err(full)?, ..CorePrograms::default() };
    for program in programs.iter().filter(|program| program.code.core == core) {
        let image = image_of(program, request.policy)?;
        out.patched = out.patched.saturating_add(u64::from(image.patched.get()));
        out.approximate = out.approximate.saturating_add(image.approximate.get());
        put(arena, out.images, program.code.engine.index(), image)?;
    }
    let most_patches = request.limits.position_entries;
    let mut work = Work { core, programs, notes, most_patches, arena, out: &mut out };
    work.out.binds = work.operands(NoteKind::BIND)?;
    work.out.resolved = work.operands(NoteKind::RESOLVED)?;
    work.opaques(rings)?;
    work.targets()?;
    for engine in Engine::ALL {
        work.patches(engine)?;
        work.check_branches(engine)?;
    }
    Ok(out)
}

/// The image of an engine, without its patches and its block.
#[inline(never)]
fn image_of(program: &Program<'_>, policy: &Policy) -> Result<Image, Error> {
    let counts = program.stream.counts();
    let image = Image {
        engine: program.code.engine.number().into(),
        preamble: policy.preamble_slots.into(),
        main: counts.main.into(),
        postamble: policy.postamble_slots.into(),
        function: counts.function.into(),
        patched: counts.patched.into(),
        bound: counts.bound.into(),
        register_indirect: counts.register_indirect.into(),
        opaque: counts.opaque.into(),
        approximate: counts.approximate.into(),
        source: counts.source.into(),
        function_source: counts.function_source.into(),
        pseudo: counts.pseudo.map(U32::new),
        unknown: counts.unknown.map_or(0, |opcode| u16::from(opcode).saturating_add(1)).into(),
        ..Image::default()
    };
    let slots = image.slots();
    if slots >= u64::from(u32::MAX) / 64 || slots == 0 {
        return Err(program.code.fault(StageCode::ImageTooLong, 0).numbers(slots, 0));
    }
    Ok(image)
}

fn put<T: Record>(arena: &mut Arena<'_>, place: ArenaRef, index: usize, value: T) -> Result<(), Error> {
    *item_mut(arena, place, narrow(index)).ok_or_else(internal)? = value;
    Ok(())
}

fn get<T: Record + Copy>(arena: &Arena<'_>, place: ArenaRef, index: usize) -> Result<T, Error> {
    item(arena, place, narrow(index)).copied().ok_or_else(internal)
}

/// A name's key among targets; names are compared in full after it (32-bit FNV-1a).
pub(crate) fn name_key(name: &[u8]) -> u32 {
    name.iter().fold(0x811C_9DC5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

struct Work<'a, 'm, 'p> {
    core: u8,
    programs: &'a [Program<'p>],
    notes: &'a Notes,
    most_patches: u32,
    arena: &'a mut Arena<'m>,
    out: &'a mut CorePrograms,
}

impl Work<'_, '_, '_> {
    /// An error at the source slot of a note.
    fn fault(&self, code: StageCode, note: &SlotNote) -> Error {
        let own = |program: &&Program<'_>| {
            program.code.core == note.core && program.code.engine.number() == u32::from(note.engine)
        };
        let program = self.programs.iter().find(own);
        program.map_or_else(internal, |program| program.code.fault(code, note.source.get()))
    }

    fn note(&self, index: usize) -> Result<SlotNote, Error> {
        self.notes.get(self.arena, index).ok_or_else(internal)
    }

    /// Notes of this core that `wanted` takes, in order.
    #[inline(never)]
    fn each(
        &mut self,
        wanted: &dyn Fn(&SlotNote) -> bool,
        action: &mut dyn FnMut(&mut Self, &SlotNote) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for index in 0..self.notes.count {
            let note = self.note(index)?;
            if note.core == self.core && wanted(&note) {
                action(self, &note)?;
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn count(&mut self, wanted: &dyn Fn(&SlotNote) -> bool) -> Result<usize, Error> {
        let mut count = 0usize;
        self.each(wanted, &mut |_, _| {
            count = count.saturating_add(1);
            Ok(())
        })?;
        Ok(count)
    }

    /// One record of `T` per note of that kind.
    fn collect<T: Record>(
        &mut self,
        wanted: &dyn Fn(&SlotNote) -> bool,
        make: &dyn Fn(&Self, &SlotNote) -> Result<T, Error>,
    ) -> Result<ArenaRef, Error> {
        let count = self.count(wanted)?;
        let place = self.arena.alloc::<T>(count).map_err(full)?;
        let mut at = 0usize;
        self.each(wanted, &mut |work, note| {
            let record = make(work, note)?;
            put(work.arena, place, at, record)?;
            at = at.saturating_add(1);
            Ok(())
        })?;
        Ok(place)
    }

    /// Slot within the image.
    fn image_slot(&self, note: &SlotNote) -> Result<u32, Error> {
        let image: Image = get(self.arena, self.out.images, usize::from(note.engine))?;
        let base = if note.section() == PatchSection::FUNCTION {
            function_base(&image)
        } else {
            image.preamble.get()
        };
        Ok(base.saturating_add(note.slot.get()))
    }

    #[inline(never)]
    fn operands(&mut self, kind: NoteKind) -> Result<ArenaRef, Error> {
        self.collect(&|note| note.kind == kind, &|work, note| {
            Ok(Bind {
                engine: note.engine,
                operand: note.operand,
                opcode: note.opcode,
                slot: work.image_slot(note)?.into(),
                var: note.id,
                off: note.value,
                ..Bind::default()
            })
        })
    }

    #[inline(never)]
    fn opaques(&mut self, rings: &CoreRings) -> Result<(), Error> {
        self.out.opaques = self.collect(&|note| note.kind == NoteKind::OPAQUE, &|work, note| {
            let trigger = work.trigger(note, rings)?;
            let (queue, block) = trigger.unwrap_or((0, 0));
            Ok(Opaque {
                engine: note.engine,
                opcode: note.opcode,
                slots: note.operand,
                trigger: u8::from(trigger.is_some()),
                why: Why::new(note.id.get()),
                source: note.source,
                slot: work.image_slot(note)?.into(),
                queue: queue.into(),
                block: block.into(),
                ..Opaque::default()
            })
        })?;
        self.mark_triggered(rings)
    }

    /// Marks the blocks that triggers name.
    fn mark_triggered(&mut self, rings: &CoreRings) -> Result<(), Error> {
        for index in 0..self.out.opaques.count() {
            let opaque: &Opaque = item(self.arena, self.out.opaques, index).ok_or_else(internal)?;
            if opaque.trigger == 0 {
                continue;
            }
            let block = opaque.block.get();
            let block = item_mut::<BlockRec>(self.arena, rings.blocks, block).ok_or_else(internal)?;
            block.mark_trigger();
        }
        Ok(())
    }

    /// Queue slot and index of the block that a trigger names: by its id and by the function that it stands in.
    #[inline(never)]
    fn trigger(&self, note: &SlotNote, rings: &CoreRings) -> Result<Option<(u16, u32)>, Error> {
        let value = note.value.get();
        let part = |at: u32, mask: u64| u16::try_from(value.wrapping_shr(at) & mask).unwrap_or(0);
        let Some(queue) = part(32, 0xFF).checked_sub(1) else { return Ok(None) };
        let id = u32::try_from(value & 0xFFFF_FFFF).unwrap_or(u32::MAX);
        let instance = part(40, 0xFFFF).checked_sub(1);
        let blocks: &[BlockRec] = self.arena.slice(rings.blocks).ok_or_else(internal)?;
        let first = blocks.partition_point(|block| block.queue.get() < queue);
        let of_queue = blocks.get(first..).unwrap_or(&[]);
        let of_queue =
            of_queue.get(..of_queue.partition_point(|block| block.queue.get() == queue)).unwrap_or(&[]);
        let kbin =
            self.programs.iter().find(|program| program.code.core == self.core).ok_or_else(internal)?;
        let wanted = (id, function(self.name(note)));
        let found = find_block(kbin.code.kbin, of_queue, instance, wanted);
        let found = found.and_then(|within| first.checked_add(within));
        if let Some(index) = found {
            return Ok(Some((queue, u32::try_from(index).unwrap_or(u32::MAX))));
        }
        if states_count(value) {
            return Ok(None);
        }
        // What is filled while the model runs has no blocks for its triggers to name.
        let record = kbin.code.kbin.queues().find(|found| found.slot == usize::from(queue));
        if of_queue.is_empty() && !record.is_some_and(|queue| is_static(&queue)) {
            return Ok(None);
        }
        let at = u64::from(note.source.get());
        // The name as the trigger spells it: the queue's, or one of its instances'.
        let name = record.and_then(|queue| match instance {
            Some(instance) => Some(queue.instances().nth(usize::from(instance))?.name()),
            None => Some(queue.name()),
        });
        Err(self.fault(StageCode::UnknownBlock, note).numbers(at, u64::from(id)).name2(name.unwrap_or(&[])))
    }

    #[inline(never)]
    fn targets(&mut self) -> Result<(), Error> {
        self.out.targets = self.collect(&|note| is_target(note.kind), &|work, note| {
            let label = note.kind == NoteKind::LABEL;
            let id = if label { note.id } else { name_key(work.name(note)).into() };
            Ok(Target {
                engine: u32::from(note.engine).into(),
                kind: if label { TargetKind::LABEL } else { TargetKind::FUNCTION },
                slot: work.image_slot(note)?.into(),
                id,
                name: note.name_ref(),
            })
        })?;
        let all = self.arena.slice_mut::<Target>(self.out.targets).ok_or_else(internal)?;
        crate::sort::sort_by_key(all, |target| {
            (target.engine.get(), target.kind.get(), target.id.get(), target.slot.get())
        });
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

    /// Every branch finds one target, and there is a slot at it (I14).
    #[inline(never)]
    fn check_branches(&mut self, engine: Engine) -> Result<(), Error> {
        let branches = |note: &SlotNote| {
            u32::from(note.engine) == engine.number()
                && (matches!(note.kind, NoteKind::CALL | NoteKind::BRANCH) || is_exit(note))
        };
        let image: Image = get(self.arena, self.out.images, engine.index())?;
        self.each(&branches, &mut |work, note| work.check_branch(engine, &image, note))
    }

    fn check_branch(&self, engine: Engine, image: &Image, note: &SlotNote) -> Result<(), Error> {
        let inside = |slot: u32| u64::from(slot) < image.slots();
        if is_exit(note) {
            let postamble = image.preamble.get().saturating_add(image.main.get());
            let outside = || self.fault(StageCode::TargetOutside, note).name2(b"postamble");
            return if inside(postamble) { Ok(()) } else { Err(outside()) };
        }
        let call = note.kind == NoteKind::CALL;
        let (kind, name) =
            if call { (TargetKind::FUNCTION, self.name(note)) } else { (TargetKind::LABEL, &b"label"[..]) };
        let key = if call { name_key(name) } else { note.id.get() };
        let all: &[Target] = self.arena.slice(self.out.targets).ok_or_else(internal)?;
        let (mut found, mut slot) = (0u32, 0);
        for target in equal_range(all, engine, kind, key) {
            if !call || self.named(target.name) == name {
                (found, slot) = (found.saturating_add(1), target.slot.get());
            }
        }
        let error = match found {
            1 if inside(slot) => return Ok(()),
            1 => self.fault(StageCode::TargetOutside, note),
            0 => self.fault(StageCode::UnknownTarget, note),
            _ => self.fault(StageCode::DuplicateTarget, &self.second_target(note)?),
        };
        Err(error.name2(name))
    }

    /// The second definition of what a branch names.
    fn second_target(&self, branch: &SlotNote) -> Result<SlotNote, Error> {
        let kind = if branch.kind == NoteKind::CALL { NoteKind::FUNCTION } else { NoteKind::LABEL };
        let mut before = false;
        for index in 0..self.notes.count {
            let note = self.note(index)?;
            let place = (note.core, note.engine, note.kind);
            let same = note.id == branch.id || kind == NoteKind::FUNCTION;
            if place != (branch.core, branch.engine, kind) || !same || self.name(&note) != self.name(branch) {
                continue;
            }
            if before {
                return Ok(note);
            }
            before = true;
        }
        Err(internal())
    }
}

/// True for the exit of a program, which goes to its postamble.
fn is_exit(note: &SlotNote) -> bool {
    note.kind == NoteKind::MODIFY && note.opcode == 0xDF
}

/// First slot of an image's functions.
pub(crate) fn function_base(image: &Image) -> u32 {
    let parts = [image.preamble.get(), image.main.get(), image.postamble.get()];
    parts.into_iter().fold(0, u32::saturating_add)
}

/// The targets of an engine with that kind and key.
pub(crate) fn equal_range(all: &[Target], engine: Engine, kind: TargetKind, key: u32) -> &[Target] {
    let order = |target: &Target| (target.engine.get(), target.kind.get(), target.id.get());
    let wanted = (engine.number(), kind.get(), key);
    let first = all.partition_point(|target| order(target) < wanted);
    let rest = all.get(first..).unwrap_or(&[]);
    rest.get(..rest.partition_point(|target| order(target) == wanted)).unwrap_or(&[])
}

/// True for a queue whose rings hold the blocks of the file and nothing else, so that a trigger of it must name one
/// (staging.md §11.7): descriptors of the others are made on the device, or by the runtime.
fn is_static(queue: &QueueView<'_>) -> bool {
    let made_later = QueueHdr::DYNAMIC | QueueHdr::DGE;
    let kinds = [RingType::DATA, RingType::IN, RingType::OUT, RingType::INDIRECT_MEMCPY];
    kinds.contains(&queue.record.ring_type) && queue.record.flags.get() & made_later == 0
}

/// Index of a block of one queue, whose records are sorted by instance, id and function.
fn find_block(
    kbin: &KbinView<'_>,
    blocks: &[BlockRec],
    instance: Option<u16>,
    (id, function): (u32, &[u8]),
) -> Option<usize> {
    let in_instance = |instance: u16| {
        let wanted = (instance, id, function);
        let at = blocks.partition_point(|block| key_of(kbin, block) < wanted);
        blocks.get(at).filter(|block| key_of(kbin, block) == wanted).map(|_| at)
    };
    if let Some(instance) = instance {
        return in_instance(instance);
    }
    let most = blocks.last().map_or(0, |block| block.instance.get());
    (0..=most).find_map(in_instance)
}
