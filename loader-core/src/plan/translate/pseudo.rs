//! What each pseudo-opcode becomes (staging.md §11.3; R5, R6, R8, R38).
//!
//! Exact: `a9`, `cc`, `d1`, `df` (exit), and `d4` without a register and without an extension. Opaque, as R6 lists them:
//! `c1` to `c4`, `c6`, `c9`, `cd` to `d0`, `d5`, `d8`, `de`, other `df`, and `d4` that a register or a `da` belongs to. The rest
//! is *approximate*: the slot count is stated, the encoding is not. What each of them lacks:
//!
//! | opcode | stated | not stated |
//! |---|---|---|
//! | `c5` | one slot | where it keeps semaphore and value; the update mode that sets |
//! | `c7` | one slot, a variable | every field |
//! | `c8` | one slot, a 32-bit register write; all fields | opcode and layout of that write, and the register |
//! | `ca` | several slots: configuration, argument load, drain, semaphore | how many; every field |
//! | `cb` | one slot, a tensor id | where the id lies; the real opcode |
//! | `d2` | one or more slots, a register branch | how many; the target mode of such a branch; which register is which |
//! | `d3` | a frame, then a relative branch, which is exact | slots and content of the frame |
//! | `d6` | a prologue for an address operand | how many slots; where the operand lies |
//! | `d7` | opcode `81`, on the first core, not on arch 2 | where its variables lie, so whether any other byte changes |
//! | `d9` with `da` | one slot for both, three operands at most, the priority | the real opcode; where operands and operation lie |
//! | `db`, `dc` | one slot, a load | the real opcode; where the destination lies |
//! | `dd` | word `10b5`, a displacement to be fixed up | where the displacement lies, and what it counts from |

use super::request::located;
use super::slot::{Slot, branch, byte, bytes, displacement, name, put, stand_in, trimmed, word};
use super::stream::Stream;
use super::{Code, Goal, Places, Sink};
use crate::arch::Arch;
use crate::error::{Error, StageCode};
use crate::manifest::dtype;
use crate::plan::record::{NoteKind, Why};
use crate::plan::vars::{access, is_state_buffer};

/// Where a label keeps its id (Open; all labels of real files are zero here).
const LABEL_ID: usize = 12;
/// Where an unresolved branch keeps the id of its label: the displacement field (Open).
const BRANCH_LABEL: usize = 48;
/// Flag of a trigger whose count of descriptors is in the instruction (staging.md §11.3, Confirmed).
const RAW_COUNT: usize = 44;
/// Bit of a trigger's note for that flag.
const RAW_BIT: u64 = 1 << 56;
/// Reduce operations that a collective may use (staging.md §11.3, Confirmed).
const REDUCE_MASK: u32 = 0x350;
/// Where a collective keeps its element type and the number of elements (staging.md §11.3, Confirmed).
const ELEMENT_TYPE: usize = 13;
const ELEMENTS: usize = 24;
/// Bits of an offset in the state buffer that a collective must leave clear: 25, and 31 to 26 (staging.md §11.3, Confirmed).
const OUTSIDE_PARTITIONS: u64 = 0xFE00_0000;
/// Byte of a collective's extension whose low three bits are its priority (staging.md §11.3, Confirmed).
const PRIORITY: usize = 41;
/// Highest priority (Inferred).
const MOST_PRIORITY: u8 = 4;

impl Stream {
    /// One source slot without an extension.
    pub(super) fn single<P: Places + ?Sized, S: Sink + ?Sized>(
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
            // Not on the oldest architecture, and on the first core only (staging.md §11.3, X18).
            0xD7 if code.arch == Arch::Sunda || code.core != 0 => {
                self.opaque(code, slot, Why::GATED, sink)?
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
    pub(super) fn pair<P: Places + ?Sized, S: Sink + ?Sized>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        head: &Slot,
        extension: &Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        let [opcode, ..] = *head;
        if opcode == 0xD9 {
            self.check_priority(code, extension)?;
            self.approximate(code, stand_in(head), opcode, sink)?;
            return self.drop_extension(code, extension, sink);
        }
        self.extended_request(code, places, head, extension, sink)
    }

    /// The priority of a collective is 0 to 4 where it is used (staging.md §11.3; limit Inferred).
    fn check_priority(&self, code: &Code<'_>, extension: &Slot) -> Result<(), Error> {
        if code.arch == Arch::Sunda || byte(extension, PRIORITY) & 7 <= MOST_PRIORITY {
            return Ok(());
        }
        Err(code.fault(StageCode::CollectiveForm, self.counts.source).name2(b"priority above 4"))
    }

    /// The extension of a lowered pair has no device slot.
    pub(super) fn drop_extension<S: Sink + ?Sized>(
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

    /// A slot, or two, that stay as they are (R6); `value` says more about why, or what was found in it.
    pub(super) fn note_opaque<S: Sink + ?Sized>(
        &mut self,
        code: &Code<'_>,
        opcode: u8,
        slots: u8,
        why: Why,
        value: u64,
        sink: &mut S,
    ) -> Result<(), Error> {
        let mut note = self.note(code, NoteKind::OPAQUE, opcode);
        (note.operand, note.id, note.value) = (slots, why.get().into(), value.into());
        self.counts.opaque = self.counts.opaque.saturating_add(1);
        sink.note(note)
    }

    /// Keeps a slot byte for byte.
    pub(super) fn opaque<S: Sink + ?Sized>(
        &mut self,
        code: &Code<'_>,
        slot: &Slot,
        why: Why,
        sink: &mut S,
    ) -> Result<(), Error> {
        self.note_opaque(code, byte(slot, 0), 1, why, 0, sink)?;
        self.keep(slot, sink)
    }

    /// `c1`: opaque, but its queue is found and its block noted.
    fn trigger<S: Sink + ?Sized>(&mut self, code: &Code<'_>, slot: &Slot, sink: &mut S) -> Result<(), Error> {
        let queue = queue_slot(code, slot, self.counts.source)?;
        let value = trigger_value(queue, word(slot, 48), word(slot, RAW_COUNT) != 0);
        self.note_opaque(code, 0xC1, 1, Why::OPCODE, value, sink)?;
        self.keep(slot, sink)
    }

    /// Emits a slot that stands for something not encoded in full.
    fn approximate<S: Sink + ?Sized>(
        &mut self,
        code: &Code<'_>,
        slot: Slot,
        opcode: u8,
        sink: &mut S,
    ) -> Result<(), Error> {
        self.note_approximate(code, opcode, sink)?;
        self.emit(slot, sink)
    }

    fn note_approximate<S: Sink + ?Sized>(
        &mut self,
        code: &Code<'_>,
        opcode: u8,
        sink: &mut S,
    ) -> Result<(), Error> {
        self.counts.approximate = self.counts.approximate.saturating_add(1);
        sink.note(self.note(code, NoteKind::APPROXIMATE, opcode))
    }

    /// The real opcode is known, the meaning of its other bytes is not.
    fn renamed<S: Sink + ?Sized>(
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

    /// `c8`: one slot; both variables are found, hold what is transferred, and are noted.
    fn collective<S: Sink + ?Sized>(
        &mut self,
        code: &Code<'_>,
        slot: &Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        let source = self.counts.source;
        let form = |what: &[u8]| code.fault(StageCode::CollectiveForm, source).name2(what);
        let reduces = 1u32.checked_shl(u32::from(byte(slot, 12))).is_some_and(|bit| bit & REDUCE_MASK != 0);
        if !reduces {
            return Err(form(b"reduce op"));
        }
        if byte(slot, 6) == 0 {
            return Err(form(b"no semaphore"));
        }
        if code.kbin.num_streams() > 1 {
            return Err(form(b"several streams"));
        }
        let elements = u64::from_le_bytes(bytes(slot, ELEMENTS));
        let element = elements.min(1).saturating_mul(element_bytes(byte(slot, ELEMENT_TYPE)));
        let (mut short, mut fits) = (None, false);
        for (operand, (id, off)) in (0u8..).zip([(16, 48), (20, 56)]) {
            let off = u64::from_le_bytes(bytes(slot, off));
            let mut note = self.note(code, NoteKind::RESOLVED, 0xC8);
            (note.operand, note.id, note.value) = (operand, word(slot, id).into(), off.into());
            let on_chip = code.kbin.mem_ref(word(slot, id)).is_some_and(is_state_buffer);
            if on_chip && off & OUTSIDE_PARTITIONS != 0 {
                return Err(form(b"off-chip offset"));
            }
            let extent = |len| {
                access(code.kbin, word(slot, id), off, len).map_err(|error| located(code, source, error))
            };
            extent(element)?;
            // Which side of a gather or scatter the elements are counted on is not stated, so one must hold them all.
            match extent(element.saturating_mul(elements)) {
                Ok(_) => fits = true,
                Err(error) => short = short.or(Some(error)),
            }
            sink.note(note)?;
        }
        if let Some(short) = short.filter(|_| !fits) {
            return Err(short);
        }
        self.approximate(code, stand_in(slot), 0xC8, sink)
    }

    /// `cc`: no device slot.
    fn label<S: Sink + ?Sized>(&self, code: &Code<'_>, slot: &Slot, sink: &mut S) -> Result<(), Error> {
        let mut note = self.note(code, NoteKind::LABEL, 0xCC);
        note.id = word(slot, LABEL_ID).into();
        sink.note(note)?;
        sink.note(self.note(code, NoteKind::DELETE, 0xCC))
    }

    /// `d1`: no device slot; the function starts with the next one.
    fn begin<S: Sink + ?Sized>(&mut self, code: &Code<'_>, slot: &Slot, sink: &mut S) -> Result<(), Error> {
        self.enter_function();
        sink.named_note(self.note(code, NoteKind::FUNCTION, 0xD1), &name(slot))?;
        sink.note(self.note(code, NoteKind::DELETE, 0xD1))
    }

    /// `d3`: the call's frame, which is not known, and a relative branch to the function.
    fn call<P: Places + ?Sized, S: Sink + ?Sized>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        slot: &Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        let name = name(slot);
        self.note_approximate(code, 0xD3, sink)?;
        self.frame(code, sink)?;
        sink.named_note(self.note(code, NoteKind::CALL, 0xD3), &name)?;
        self.fixed_up(code, places, slot, Goal::Function(trimmed(&name)), NoteKind::MODIFY, sink)
    }

    /// The slots before a call's branch: blank, as many as the policy says.
    fn frame<S: Sink + ?Sized>(&mut self, code: &Code<'_>, sink: &mut S) -> Result<(), Error> {
        if code.call_frame_slots == 0 {
            return Ok(());
        }
        let mut note = self.note(code, NoteKind::INSERT, 0xD3);
        note.id = code.call_frame_slots.into();
        sink.note(note)?;
        (0..code.call_frame_slots).try_for_each(|_| self.emit([0; 64], sink))
    }

    /// `a9`: the displacement field names a label until it is resolved.
    fn label_branch<P: Places + ?Sized, S: Sink + ?Sized>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        slot: &Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        // The field has 64 bits, an id 32: what does not fit names no label.
        let label = u32::try_from(u64::from_le_bytes(bytes(slot, BRANCH_LABEL)));
        let unknown = |_| code.fault(StageCode::UnknownTarget, self.counts.source).name2(b"label");
        let label = label.map_err(unknown)?;
        let mut note = self.note(code, NoteKind::BRANCH, 0xA9);
        note.id = label.into();
        sink.note(note)?;
        let distance = self.distance(code, places, Goal::Label(label))?;
        let mut real = *slot;
        put(&mut real, BRANCH_LABEL, &distance.to_le_bytes());
        self.emit(real, sink)
    }

    /// A slot that becomes a relative branch, one for one.
    fn fixed_up<P: Places + ?Sized, S: Sink + ?Sized>(
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

    fn distance<P: Places + ?Sized>(
        &self,
        code: &Code<'_>,
        places: &P,
        goal: Goal<'_>,
    ) -> Result<u64, Error> {
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

/// Bytes of an element of a collective, whose type is a public code (T44: 10 is `float32`); at least 1.
fn element_bytes(code: u8) -> u64 {
    dtype::public_bytes(code).map_or(1, u64::from)
}

/// What a trigger's note keeps: block id, queue slot plus 1, instance plus 1, and whether it states its count itself.
fn trigger_value((queue, instance): (u8, u16), block: u32, raw: bool) -> u64 {
    let queue = u64::from(queue).saturating_add(1).wrapping_shl(32);
    let raw = if raw { RAW_BIT } else { 0 };
    u64::from(block) | queue | u64::from(instance).wrapping_shl(40) | raw
}

/// True if a trigger's note is of one that states its count itself and needs no block (staging.md §11.7).
pub(in crate::plan) const fn states_count(value: u64) -> bool {
    value & RAW_BIT != 0
}
