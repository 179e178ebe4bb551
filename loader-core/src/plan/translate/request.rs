//! Descriptor-generation requests, `d4` with or without an extension (real-files.md §5; R2 to R4, R38).

use super::slot::{Slot, byte, bytes, put};
use super::stream::Stream;
use super::{Code, Places, Sink};
use crate::error::{Error, StageCode};
use crate::plan::operand::{Operand, PLACES as OPERANDS, absolute};
use crate::plan::record::{NoteKind, Why};
use crate::plan::vars::{Access, access};

/// Byte with the kind of a request (staging.md §11.3, Confirmed).
const KIND: usize = 15;

impl Stream {
    /// `d4` alone: one real slot with both operands patched (R2, R8), or opaque (R3).
    pub(super) fn request<P: Places + ?Sized, S: Sink + ?Sized>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        slot: &Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        let operands = OPERANDS.map(|at| operand(slot, at));
        self.count_indirect(operands);
        if operands.into_iter().any(Operand::is_register) {
            self.note_operands(code, slot, sink)?;
            return self.opaque(code, slot, Why::REGISTER, sink);
        }
        if let Some(marker) = unknown_marker(operands) {
            self.note_operands(code, slot, sink)?;
            self.note_opaque(code, 0xD4, 1, Why::OPERAND, marker.into(), sink)?;
            return self.keep(slot, sink);
        }
        match byte(slot, KIND) {
            0 => {}
            1..=3 => {
                let missing = code.fault(StageCode::ExtensionMissing, self.counts.source);
                return Err(missing.numbers(u64::from(self.counts.source), 0xD4));
            }
            _ => {
                self.note_operands(code, slot, sink)?;
                return self.opaque(code, slot, Why::KIND, sink);
            }
        }
        let mut real = *slot;
        put(&mut real, 0, &[0xB8]);
        self.patch_operands(code, places, &mut real, sink)?;
        self.emit(real, sink)
    }

    /// A slot counts once, whatever a register decides in it (R3).
    fn count_indirect(&mut self, operands: [Operand; 2]) {
        let indirect = operands.into_iter().any(Operand::is_indirect);
        self.counts.register_indirect = self.counts.register_indirect.saturating_add(u32::from(indirect));
    }

    /// Replaces the operands that name variables.
    fn patch_operands<P: Places + ?Sized, S: Sink + ?Sized>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        slot: &mut Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        let source = self.counts.source;
        for (index, at) in (0u8..).zip(OPERANDS) {
            let Some((var, off)) = self.named(code, operand(slot, at))? else { continue };
            let found = access(code.kbin, var, off, 1).map_err(|error| located(code, source, error))?;
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

    /// Operands of a request that is kept as it is: what can be resolved must exist, and is noted.
    fn note_operands<S: Sink + ?Sized>(
        &self,
        code: &Code<'_>,
        slot: &Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        for (index, at) in (0u8..).zip(OPERANDS) {
            let Some((var, off)) = self.named(code, operand(slot, at))? else { continue };
            access(code.kbin, var, off, 1).map_err(|error| located(code, self.counts.source, error))?;
            let mut note = self.note(code, NoteKind::RESOLVED, 0xD4);
            (note.operand, note.id, note.value) = (index, var.into(), off.into());
            sink.note(note)?;
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
                access(code.kbin, var, 0, 0).map_err(|error| located(code, source, error))?;
                Ok(None)
            }
            Operand::Immediate | Operand::Held | Operand::Unknown(_) => Ok(None),
        }
    }

    /// `d4` with its extension: kept as it is, unless the policy lowers it (R38).
    pub(super) fn extended_request<P: Places + ?Sized, S: Sink + ?Sized>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        head: &Slot,
        extension: &Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        let operands = OPERANDS.map(|at| operand(head, at));
        self.count_indirect(operands);
        let why = if operands.into_iter().any(Operand::is_register) {
            Why::REGISTER
        } else if unknown_marker(operands).is_some() {
            Why::OPERAND
        } else if code.lower_dge_kinds
            && let Some(real) = dge_opcode(byte(head, KIND)).filter(|&real| real != 0xB8)
        {
            let mut slot = *head;
            put(&mut slot, 0, &[real]);
            self.patch_operands(code, places, &mut slot, sink)?;
            self.emit(slot, sink)?;
            return self.drop_extension(code, extension, sink);
        } else {
            Why::EXTENDED
        };
        self.note_operands(code, head, sink)?;
        self.note_opaque(code, 0xD4, 2, why, unknown_marker(operands).map_or(0, u64::from), sink)?;
        self.keep(head, sink)?;
        self.keep(extension, sink)?;
        self.consume(2);
        Ok(())
    }
}

fn operand(slot: &Slot, at: usize) -> Operand {
    Operand::decode(bytes(slot, at))
}

/// The first marker without a known meaning.
fn unknown_marker(operands: [Operand; 2]) -> Option<u8> {
    operands.into_iter().find_map(|operand| match operand {
        Operand::Unknown(marker) => Some(marker),
        _ => None,
    })
}

pub(super) fn located(code: &Code<'_>, source: u32, error: Error) -> Error {
    code.located(error, source).name2(code.engine.key().as_bytes())
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
