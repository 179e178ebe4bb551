//! What each pseudo-opcode becomes (staging.md §11.3; R5, R6, R8, R38).

use super::slot::{Slot, branch, byte, bytes, displacement, name, put, stand_in, trimmed, word};
use super::stream::Stream;
use super::{Code, Goal, Places, Sink};
use crate::error::{Error, StageCode};
use crate::plan::operand::{Operand, PLACES as OPERANDS, absolute};
use crate::plan::record::{NoteKind, Why};
use crate::plan::vars::{Access, access};

/// Where a label keeps its id (Open; all labels of real files are zero here).
const LABEL_ID: usize = 12;
/// Where an unresolved branch keeps the id of its label: the displacement field (Open).
const BRANCH_LABEL: usize = 48;
/// Reduce operations that a collective may use (staging.md §11.3, Confirmed).
const REDUCE_MASK: u32 = 0x350;

impl Stream {
    /// One source slot without an extension.
    pub(super) fn single<P: Places, S: Sink>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        slot: &Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        let [opcode, ..] = *slot;
        match opcode {
            0xA9 => self.label_branch(code, places, slot, sink)?,
            0xC1 => self.trigger(code, slot, sink)?,
            0xC2 => {
                queue_slot(code, slot, self.counts.source)?;
                self.opaque(code, slot, Why::OPCODE, sink)?;
            }
            0xC8 => self.collective(code, slot, sink)?,
            0xCC => self.label(code, slot, sink)?,
            0xD1 => self.begin(code, slot, sink)?,
            0xD3 => self.call(code, places, slot, sink)?,
            0xD4 => self.request(code, places, slot, sink)?,
            0xD9 => {
                let missing = code.fault(StageCode::ExtensionMissing, self.counts.source);
                return Err(missing.numbers(u64::from(self.counts.source), u64::from(opcode)));
            }
            0xDF if byte(slot, 12) == 1 => {
                self.fixed_up(code, places, slot, Goal::Exit, NoteKind::MODIFY, sink)?;
            }
            // Known slot count, unknown encoding.
            0xC5 | 0xC7 | 0xCA | 0xCB | 0xD2 | 0xD6 | 0xDB | 0xDC => {
                self.approximate(code, stand_in(slot), opcode, sink)?
            }
            0xD7 => self.renamed(code, slot, 0x81, sink)?,
            0xDD => self.renamed(code, slot, 0xB5, sink)?,
            0xC3 | 0xC4 | 0xC6 | 0xC9 | 0xCD..=0xD0 | 0xD5 | 0xD8 | 0xDA | 0xDE | 0xDF => {
                self.opaque(code, slot, Why::OPCODE, sink)?;
            }
            _ => self.emit(*slot, sink)?,
        }
        self.consume(1);
        Ok(())
    }

    /// An instruction and its extension (R4).
    pub(super) fn pair<P: Places, S: Sink>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        head: &Slot,
        extension: &Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        let [opcode, ..] = *head;
        if opcode == 0xD9 {
            self.approximate(code, stand_in(head), opcode, sink)?;
            return self.drop_extension(code, extension, sink);
        }
        let register = OPERANDS.iter().any(|&at| matches!(operand(head, at), Operand::Register { .. }));
        if code.lower_dge_kinds
            && !register
            && let Some(real) = dge_opcode(byte(head, 15))
            && real != 0xB8
        {
            let mut slot = *head;
            put(&mut slot, 0, &[real]);
            self.patch_operands(code, places, &mut slot, sink)?;
            self.emit(slot, sink)?;
            return self.drop_extension(code, extension, sink);
        }
        self.refuse(code, opcode)?;
        let why = if register { Why::REGISTER } else { Why::EXTENDED };
        self.counts.register_indirect = self.counts.register_indirect.saturating_add(u32::from(register));
        self.counts.opaque = self.counts.opaque.saturating_add(1);
        let mut note = self.note(code, NoteKind::OPAQUE, opcode);
        (note.operand, note.id) = (2, why.get().into());
        sink.note(note)?;
        self.check_operands(code, head)?;
        self.emit(*head, sink)?;
        self.emit(*extension, sink)?;
        self.consume(2);
        Ok(())
    }

    /// The extension of a lowered pair has no device slot.
    fn drop_extension<S: Sink>(
        &mut self,
        code: &Code<'_>,
        extension: &Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        self.consume(1);
        let [opcode, ..] = *extension;
        sink.note(self.note(code, NoteKind::DELETE, opcode))?;
        self.consume(1);
        Ok(())
    }

    fn refuse(&self, code: &Code<'_>, opcode: u8) -> Result<(), Error> {
        if !code.strict {
            return Ok(());
        }
        let at = self.counts.source;
        Err(code.fault(StageCode::Unsupported, at).numbers(u64::from(at), u64::from(opcode)))
    }

    /// Keeps a slot byte for byte (R6).
    fn opaque<S: Sink>(&mut self, code: &Code<'_>, slot: &Slot, why: Why, sink: &mut S) -> Result<(), Error> {
        let [opcode, ..] = *slot;
        self.refuse(code, opcode)?;
        let mut note = self.note(code, NoteKind::OPAQUE, opcode);
        (note.operand, note.id) = (1, why.get().into());
        self.counts.opaque = self.counts.opaque.saturating_add(1);
        sink.note(note)?;
        self.emit(*slot, sink)
    }

    /// `c1`: opaque, but its queue is found and its block noted.
    fn trigger<S: Sink>(&mut self, code: &Code<'_>, slot: &Slot, sink: &mut S) -> Result<(), Error> {
        let queue = queue_slot(code, slot, self.counts.source)?;
        self.refuse(code, 0xC1)?;
        let mut note = self.note(code, NoteKind::OPAQUE, 0xC1);
        (note.operand, note.id) = (1, Why::OPCODE.get().into());
        note.value = trigger_value(queue, word(slot, 48)).into();
        self.counts.opaque = self.counts.opaque.saturating_add(1);
        sink.note(note)?;
        self.emit(*slot, sink)
    }

    /// Emits a slot that stands for something not encoded in full.
    fn approximate<S: Sink>(
        &mut self,
        code: &Code<'_>,
        slot: Slot,
        opcode: u8,
        sink: &mut S,
    ) -> Result<(), Error> {
        self.refuse(code, opcode)?;
        self.counts.approximate = self.counts.approximate.saturating_add(1);
        self.emit(slot, sink)
    }

    /// The real opcode is known, the meaning of its other bytes is not.
    fn renamed<S: Sink>(
        &mut self,
        code: &Code<'_>,
        slot: &Slot,
        opcode: u8,
        sink: &mut S,
    ) -> Result<(), Error> {
        let mut real = *slot;
        put(&mut real, 0, &[opcode]);
        self.approximate(code, real, byte(slot, 0), sink)
    }

    /// `c8`: one slot; both variables are found and noted.
    fn collective<S: Sink>(&mut self, code: &Code<'_>, slot: &Slot, sink: &mut S) -> Result<(), Error> {
        let source = self.counts.source;
        let form = |what: &[u8]| code.fault(StageCode::CollectiveForm, source).name2(what);
        let reduces = 1u32.checked_shl(u32::from(byte(slot, 12))).is_some_and(|bit| bit & REDUCE_MASK != 0);
        if !reduces {
            return Err(form(b"reduce op"));
        }
        if byte(slot, 6) == 0 {
            return Err(form(b"no semaphore"));
        }
        if code.strict && code.kbin.num_streams() > 1 {
            return Err(form(b"several streams"));
        }
        for (operand, (id, off)) in (0u8..).zip([(16, 48), (20, 56)]) {
            let off = u64::from_le_bytes(bytes(slot, off));
            let mut note = self.note(code, NoteKind::RESOLVED, 0xC8);
            (note.operand, note.id, note.value) = (operand, word(slot, id).into(), off.into());
            access(&code.kbin, word(slot, id), off, 0).map_err(|error| located(code, source, error))?;
            sink.note(note)?;
        }
        self.approximate(code, stand_in(slot), 0xC8, sink)
    }

    /// `cc`: no device slot.
    fn label<S: Sink>(&self, code: &Code<'_>, slot: &Slot, sink: &mut S) -> Result<(), Error> {
        let mut note = self.note(code, NoteKind::LABEL, 0xCC);
        note.id = word(slot, LABEL_ID).into();
        sink.note(note)?;
        sink.note(self.note(code, NoteKind::DELETE, 0xCC))
    }

    /// `d1`: no device slot; the function starts with the next one.
    fn begin<S: Sink>(&mut self, code: &Code<'_>, slot: &Slot, sink: &mut S) -> Result<(), Error> {
        self.enter_function();
        sink.named_note(self.note(code, NoteKind::FUNCTION, 0xD1), &name(slot))?;
        sink.note(self.note(code, NoteKind::DELETE, 0xD1))
    }

    /// `d3`: a relative branch to the function.
    fn call<P: Places, S: Sink>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        slot: &Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        let name = name(slot);
        sink.named_note(self.note(code, NoteKind::CALL, 0xD3), &name)?;
        self.fixed_up(code, places, slot, Goal::Function(trimmed(&name)), NoteKind::MODIFY, sink)
    }

    /// `a9`: the displacement field names a label until it is resolved.
    fn label_branch<P: Places, S: Sink>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        slot: &Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        let label = word(slot, BRANCH_LABEL);
        let mut note = self.note(code, NoteKind::BRANCH, 0xA9);
        note.id = label.into();
        sink.note(note)?;
        let distance = self.distance(code, places, Goal::Label(label))?;
        let mut real = *slot;
        put(&mut real, BRANCH_LABEL, &distance.to_le_bytes());
        self.emit(real, sink)
    }

    /// A slot that becomes a relative branch, one for one.
    fn fixed_up<P: Places, S: Sink>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        slot: &Slot,
        goal: Goal<'_>,
        kind: NoteKind,
        sink: &mut S,
    ) -> Result<(), Error> {
        let [opcode, ..] = *slot;
        let distance = self.distance(code, places, goal)?;
        sink.note(self.note(code, kind, opcode))?;
        self.emit(branch(slot, distance), sink)
    }

    fn distance<P: Places>(&self, code: &Code<'_>, places: &P, goal: Goal<'_>) -> Result<u64, Error> {
        let (section, at) = self.here();
        let here = places.base(section).saturating_add(at);
        let source = self.counts.source;
        let target = places.goal(goal).ok_or_else(|| code.fault(StageCode::UnknownTarget, source))?;
        let far = || {
            let bytes = u64::from(target.abs_diff(here)).saturating_mul(64);
            code.fault(StageCode::BranchTooFar, source).numbers(u64::from(source), bytes)
        };
        displacement(here, target).ok_or_else(far)
    }

    /// `d4` alone: one real slot with both operands patched (R2, R8), or opaque (R3).
    fn request<P: Places, S: Sink>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        slot: &Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        let operands = OPERANDS.map(|at| operand(slot, at));
        if operands.iter().any(|operand| matches!(operand, Operand::Register { .. })) {
            self.counts.register_indirect = self.counts.register_indirect.saturating_add(1);
            self.check_operands(code, slot)?;
            return self.opaque(code, slot, Why::REGISTER, sink);
        }
        if operands.iter().any(|operand| matches!(operand, Operand::Unknown(_))) {
            return self.opaque(code, slot, Why::OPERAND, sink);
        }
        match byte(slot, 15) {
            0 => {}
            1..=3 => {
                let missing = code.fault(StageCode::ExtensionMissing, self.counts.source);
                return Err(missing.numbers(u64::from(self.counts.source), 0xD4));
            }
            _ => return self.opaque(code, slot, Why::OPERAND, sink),
        }
        let mut real = *slot;
        put(&mut real, 0, &[0xB8]);
        self.patch_operands(code, places, &mut real, sink)?;
        self.emit(real, sink)
    }

    /// Replaces the operands that name variables.
    fn patch_operands<P: Places, S: Sink>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        slot: &mut Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        let source = self.counts.source;
        for (index, at) in (0u8..).zip(OPERANDS) {
            let Some((var, off)) = self.named(code, operand(slot, at))? else { continue };
            let found = access(&code.kbin, var, off, 1).map_err(|error| located(code, source, error))?;
            match found {
                Access::Bound(template) => {
                    put(slot, at, &template.to_le_bytes());
                    self.counts.bound = self.counts.bound.saturating_add(1);
                    let mut note = self.note(code, NoteKind::BIND, 0xD4);
                    (note.operand, note.id, note.value) = (index, var.into(), off.into());
                    sink.note(note)?;
                }
                Access::Placed { var, off } => {
                    let address = places.address(var, off)?;
                    let wide = || code.fault(StageCode::AddressTooWide, source).numbers(address, 0);
                    put(slot, at, &absolute(address).ok_or_else(wide)?);
                    self.counts.patched = self.counts.patched.saturating_add(1);
                }
            }
        }
        Ok(())
    }

    /// Checks the operands of a request that is kept as it is: what can be resolved must exist.
    fn check_operands(&self, code: &Code<'_>, slot: &Slot) -> Result<(), Error> {
        for at in OPERANDS {
            if let Some((var, off)) = self.named(code, operand(slot, at))? {
                access(&code.kbin, var, off, 1).map_err(|error| located(code, self.counts.source, error))?;
            }
        }
        Ok(())
    }

    /// Variable and offset of an operand; `None` if it names none, or only with a register's help.
    fn named(&self, code: &Code<'_>, operand: Operand) -> Result<Option<(u32, u64)>, Error> {
        let source = self.counts.source;
        let entry = |index: u32| {
            let table = code.table.unwrap_or(&[]);
            let found = usize::try_from(index).ok().and_then(|index| table.get(index));
            let entries = u64::try_from(table.len()).unwrap_or(u64::MAX);
            let bad = code.fault(StageCode::TableIndex, source).numbers(u64::from(source), u64::from(index));
            found.map(|var| var.get()).ok_or_else(|| bad.third(entries))
        };
        match operand {
            Operand::Variable { var, off } => Ok(Some((var, u64::from(off)))),
            Operand::Table { index, off } => Ok(Some((entry(index)?, u64::from(off)))),
            Operand::Register { id, table, .. } => {
                // The variable must exist even though the offset is not known.
                let var = if table { entry(id)? } else { id };
                access(&code.kbin, var, 0, 0).map_err(|error| located(code, source, error))?;
                Ok(None)
            }
            Operand::Through | Operand::Unknown(_) => Ok(None),
        }
    }
}

fn operand(slot: &Slot, at: usize) -> Operand {
    Operand::decode(bytes(slot, at))
}

fn located(code: &Code<'_>, source: u32, error: Error) -> Error {
    error.element(source).subgraph(code.core).name2(code.engine.key().as_bytes())
}

/// The real opcode of a request by its kind (staging.md §11.3, Confirmed).
const fn dge_opcode(kind: u8) -> Option<u8> {
    match kind {
        0 => Some(0xB8),
        1 => Some(0xBB),
        2 => Some(0xBD),
        3 => Some(0xF1),
        _ => None,
    }
}

/// Queue slot and, above it, the kbin's ring instance plus 1 if the name is an instance's.
fn queue_slot(code: &Code<'_>, slot: &Slot, source: u32) -> Result<(u8, u16), Error> {
    let name = name(slot);
    let name = trimmed(&name);
    let small = |index: usize| u16::try_from(index).unwrap_or(u16::MAX);
    for queue in code.kbin.queues() {
        let number = u8::try_from(queue.slot).unwrap_or(u8::MAX);
        if queue.name() == name {
            return Ok((number, 0));
        }
        if let Some(instance) = queue.instances().find(|instance| instance.name() == name) {
            return Ok((number, small(instance.index).saturating_add(1)));
        }
    }
    Err(code.fault(StageCode::UnknownQueue, source).name2(name))
}

/// What a trigger's note keeps: block id, queue slot plus 1, instance plus 1.
fn trigger_value((queue, instance): (u8, u16), block: u32) -> u64 {
    let queue = u64::from(queue).saturating_add(1).wrapping_shl(32);
    u64::from(block) | queue | u64::from(instance).wrapping_shl(40)
}
