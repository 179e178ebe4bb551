//! Branches and what they go to.

use super::{Work, internal, name_key};
use crate::arch::Engine;
use crate::error::{Error, StageCode};
use crate::plan::record::{NoteKind, SlotNote, Target, TargetKind};

/// Notes of slots that branch: calls, branches to labels, and among the slots that are fixed up those of exits.
const BRANCHES: [NoteKind; 3] = [NoteKind::CALL, NoteKind::BRANCH, NoteKind::MODIFY];
/// Opcode of an exit, which goes to the postamble.
const EXIT: u8 = 0xDF;

impl Work<'_, '_, '_> {
    /// Every branch finds one target, and there is a slot at it (I14).
    pub(super) fn check_branches(&mut self, engine: Engine) -> Result<(), Error> {
        self.each(&BRANCHES, Some(engine), &mut |work, note| work.check_branch(engine, note))
    }

    #[inline(never)]
    fn check_branch(&self, engine: Engine, note: &SlotNote) -> Result<(), Error> {
        let image = self.image(engine.number()).ok_or_else(internal)?;
        let (mut found, mut slot) = (0u32, 0);
        let name = match note.kind {
            NoteKind::MODIFY if note.opcode != EXIT => return Ok(()),
            NoteKind::MODIFY => {
                (found, slot) = (1, image.preamble.get().saturating_add(image.main.get()));
                b"postamble"
            }
            NoteKind::CALL => self.name(note),
            _ => &b"label"[..],
        };
        let call = note.kind == NoteKind::CALL;
        if found == 0 {
            let (kind, key) = match call {
                true => (TargetKind::FUNCTION, name_key(name)),
                false => (TargetKind::LABEL, note.id.get()),
            };
            let all: &[Target] = self.arena.slice(self.out.targets).ok_or_else(internal)?;
            let named = |target: &Target| !call || self.named(target.name) == name;
            (found, slot) = find_target(all, engine, kind, key, &named);
        }
        let (code, at) = match found {
            1 if u64::from(slot) < image.slots() => return Ok(()),
            1 => (StageCode::TargetOutside, note),
            0 => (StageCode::UnknownTarget, note),
            _ => (StageCode::DuplicateTarget, self.second_target(note).ok_or_else(internal)?),
        };
        Err(self.fault(code, at).name2(name))
    }

    /// The second definition of what a branch names.
    fn second_target(&self, branch: &SlotNote) -> Option<&SlotNote> {
        let kind = if branch.kind == NoteKind::CALL { NoteKind::FUNCTION } else { NoteKind::LABEL };
        let mut before = false;
        for index in 0..self.notes.count {
            let note = self.notes.get(self.arena, index)?;
            let same = note.id == branch.id || kind == NoteKind::FUNCTION;
            let own = note.kind == kind && note.core == branch.core && note.engine == branch.engine;
            if own && same && self.name(note) == self.name(branch) && core::mem::replace(&mut before, true) {
                return Some(note);
            }
        }
        None
    }
}

/// Among all targets, sorted by engine, kind and key, those of one engine with that kind and key that `is_own` takes: how
/// many there are, and the slot of the first.
#[inline(never)]
pub(crate) fn find_target(
    all: &[Target],
    engine: Engine,
    kind: TargetKind,
    key: u32,
    is_own: &dyn Fn(&Target) -> bool,
) -> (u32, u32) {
    let order = |target: &Target| (u32::from(target.engine.get()), target.kind.get(), target.id.get());
    let wanted = (engine.number(), kind.get(), key);
    let first = all.partition_point(|target| order(target) < wanted);
    let (mut found, mut slot) = (0u32, 0);
    for target in all.iter().skip(first).take_while(|target| order(target) == wanted) {
        if is_own(target) {
            slot = if found == 0 { target.slot.get() } else { slot };
            found = found.wrapping_add(1);
        }
    }
    (found, slot)
}
