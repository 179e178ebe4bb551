//! Descriptor-generation requests, `d4` with or without an extension (real-files.md §5; R2 to R4, R38).

use super::slot::{Slot, byte, bytes, put};
use super::stream::{Run, more};
use super::{Places, Sink};
use crate::error::{Error, StageCode};
use crate::plan::operand::{Operand, PLACES as OPERANDS, absolute};
use crate::plan::record::{NoteKind, Why};
use crate::plan::vars::{Access, access};

/// Byte with the kind of a request (staging.md §11.3, Confirmed).
const KIND: usize = 15;

impl<P: Places + ?Sized, S: Sink + ?Sized> Run<'_, P, S> {
    /// `d4` alone: one real slot with both operands patched (R2, R8), or opaque (R3).
    pub(super) fn request(&mut self, slot: &mut Slot) -> Result<(), Error> {
        let operands = self.operands(slot);
        let (why, value) = match (undecided(operands), byte(slot, KIND)) {
            (Some(Why::OPERAND), _) => (Why::OPERAND, unknown_marker(operands)),
            (Some(why), _) => (why, 0),
            (None, 0) => return self.lowered(slot, 0xB8),
            (None, 1..=3) => {
                let missing = self.fault(StageCode::ExtensionMissing);
                return Err(missing.numbers(u64::from(self.stream.counts.source.get()), 0xD4));
            }
            (None, _) => (Why::KIND, 0),
        };
        self.resolve(slot, false)?;
        self.note_opaque(0xD4, 1, why, value)?;
        self.keep(slot)
    }

    /// `d4` with its extension: kept as it is, unless the policy lowers it (R38).
    pub(super) fn extended_request(&mut self, head: &mut Slot, extension: &Slot) -> Result<(), Error> {
        let operands = self.operands(head);
        let why = undecided(operands);
        if why.is_none()
            && self.code.policy.lower_dge_kinds()
            && let Some(real) = dge_opcode(byte(head, KIND)).filter(|&real| real != 0xB8)
        {
            self.lowered(head, real)?;
            return self.drop_extension(extension);
        }
        self.resolve(head, false)?;
        self.note_opaque(0xD4, 2, why.unwrap_or(Why::EXTENDED), unknown_marker(operands))?;
        self.keep(head)?;
        self.keep(extension)?;
        self.consume(2);
        Ok(())
    }

    /// Both operands. A slot counts once, whatever a register decides in it (R3).
    fn operands(&mut self, slot: &Slot) -> [Operand; 2] {
        let operands = OPERANDS.map(|at| operand(slot, at));
        let indirect = operands.into_iter().any(Operand::is_indirect);
        more(&mut self.stream.counts.register_indirect, u32::from(indirect));
        operands
    }

    /// The slot with that opcode, and addresses for the operands that name variables.
    fn lowered(&mut self, slot: &mut Slot, opcode: u8) -> Result<(), Error> {
        put(slot, 0, [opcode]);
        self.resolve(slot, true)?;
        self.emit(slot)
    }

    /// Finds the variables that operands name. Those of a request that is lowered become addresses, those of one that is
    /// kept are noted.
    #[inline(never)]
    fn resolve(&mut self, slot: &mut Slot, lower: bool) -> Result<(), Error> {
        for (index, at) in (0u8..).zip(OPERANDS) {
            let Some((var, off)) = self.named(operand(slot, at))? else { continue };
            let access = self.access(var, off, 1)?;
            let kind = match access {
                _ if !lower => NoteKind::RESOLVED,
                Access::Bound(template) => {
                    put(slot, at, template.to_le_bytes());
                    more(&mut self.stream.counts.bound, 1);
                    NoteKind::BIND
                }
                Access::Placed { var, off } => {
                    let address = self.places.address(var, off)?;
                    let wide = || self.fault(StageCode::AddressTooWide).numbers(address, 0);
                    put(slot, at, absolute(address).ok_or_else(wide)?);
                    more(&mut self.stream.counts.patched, 1);
                    continue;
                }
            };
            self.tell_more(kind, 0xD4, index, var, off)?;
        }
        Ok(())
    }

    /// Variable and offset of an operand; `None` if it names none, or only with a register's help.
    #[inline(never)]
    fn named(&self, operand: Operand) -> Result<Option<(u32, u64)>, Error> {
        match operand {
            Operand::Variable { var, off } => Ok(Some((var, u64::from(off)))),
            Operand::Table { index, off } => Ok(Some((self.entry(index)?, u64::from(off)))),
            Operand::Register { id, table, .. } => {
                // The variable must exist even though the offset is not known.
                self.access(if table { self.entry(id)? } else { id }, 0, 0)?;
                Ok(None)
            }
            Operand::Immediate | Operand::Held | Operand::Unknown(_) => Ok(None),
        }
    }

    /// The variable that an entry of the `dge-table` names.
    #[inline(never)]
    fn entry(&self, index: u32) -> Result<u32, Error> {
        let table = self.code.table.unwrap_or(&[]);
        let found = usize::try_from(index).ok().and_then(|index| table.get(index));
        found.map(|var| var.get()).ok_or_else(|| {
            let source = u64::from(self.stream.counts.source.get());
            let entries = u64::try_from(table.len()).unwrap_or(u64::MAX);
            self.fault(StageCode::TableIndex).numbers(source, u64::from(index)).third(entries)
        })
    }

    /// Where an access leads; a refusal is at the source slot.
    #[inline(never)]
    pub(super) fn access(&self, var: u32, off: u64, len: u64) -> Result<Access, Error> {
        access(self.code.kbin, var, off, len).map_err(|error| {
            let located = self.code.located(error, self.stream.counts.source.get());
            located.name2(self.code.engine.key().as_bytes())
        })
    }
}

/// Why operands have no known lowering, if so.
fn undecided(operands: [Operand; 2]) -> Option<Why> {
    if operands.into_iter().any(Operand::is_register) {
        return Some(Why::REGISTER);
    }
    (unknown_marker(operands) != 0).then_some(Why::OPERAND)
}

fn operand(slot: &Slot, at: usize) -> Operand {
    Operand::decode(bytes(slot, at))
}

/// The first marker without a known meaning, or 0, whose meaning is known.
fn unknown_marker(operands: [Operand; 2]) -> u64 {
    let unknown = operands.into_iter().find_map(|operand| match operand {
        Operand::Unknown(marker) => Some(marker),
        _ => None,
    });
    unknown.map_or(0, u64::from)
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
