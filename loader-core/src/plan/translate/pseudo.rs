//! What each pseudo-opcode becomes (staging.md §11.3; R5, R6, R8, R38).
//!
//! Exact: `a9`, `cc`, `d1` that resets no semaphores, `df` (exit), and `d4` without a register and without an extension. Opaque, as R6 lists them:
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
//! | `d1` that resets semaphores | no slot; the flag | what resets them |
//! | `d2` | one or more slots, a register branch | how many; the target mode of such a branch; which register is which |
//! | `d3` | a frame, then a relative branch, which is exact | slots and content of the frame |
//! | `d6` | a prologue for an address operand | how many slots; where the operand lies |
//! | `d7` | opcode `81`, on the first core, not on arch 2 | where its variables lie, so whether any other byte changes |
//! | `d9` with `da` | one slot for both, three operands at most, the priority | the real opcode; where operands and operation lie |
//! | `db`, `dc` | one slot, a load | the real opcode; where the destination lies |
//! | `dd` | word `10b5`, a displacement to be fixed up | where the displacement lies, and what it counts from |

use super::slot::{Slot, branch, byte, displacement, long, name, put, stand_in, trimmed, word};
use super::stream::{Run, more};
use super::{Goal, Places, Sink};
use crate::arch::Arch;
use crate::error::{Error, StageCode};
use crate::manifest::dtype;
use crate::plan::record::{NoteKind, Why};
use crate::plan::rings::each_instance;
use crate::plan::vars::is_state_buffer;
use zerocopy::little_endian::U64;

/// Where a label keeps its id (Open; all labels of real files are zero here).
const LABEL_ID: usize = 12;
/// Where an unresolved branch keeps the id of its label: the displacement field (Open).
const BRANCH_LABEL: usize = 48;
/// Where a function's beginning says that it resets semaphores; its two return registers follow (staging.md §11.3,
/// Confirmed).
const RESET: usize = 48;
/// Flag of a trigger whose count of descriptors is in the instruction (staging.md §11.3, Confirmed).
const RAW_COUNT: usize = 44;
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

/// What a source slot becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Becomes {
    /// The same slot.
    Itself,
    LabelBranch,
    Trigger,
    /// Opaque, but its queue must exist.
    Queue,
    Collective,
    Label,
    /// The beginning of one.
    Function,
    Call,
    Request,
    /// Nothing by itself.
    HalfPair,
    /// A branch to the postamble, or opaque.
    Exit,
    /// A known number of slots whose encoding is not known.
    StandIn,
    /// Another opcode under some conditions, else opaque.
    Gated,
    /// Another opcode.
    Renamed,
    Opaque,
}

/// The pseudo-opcodes.
static BECOMES: [(u8, Becomes); 32] = {
    use Becomes::{
        Call, Collective, Exit, Function, Gated, HalfPair, Label, LabelBranch, Opaque, Queue, Renamed,
        Request, StandIn, Trigger,
    };
    [
        (0xA9, LabelBranch),
        (0xC1, Trigger),
        (0xC2, Queue),
        (0xC3, Opaque),
        (0xC4, Opaque),
        (0xC5, StandIn),
        (0xC6, Opaque),
        (0xC7, StandIn),
        (0xC8, Collective),
        (0xC9, Opaque),
        (0xCA, StandIn),
        (0xCB, StandIn),
        (0xCC, Label),
        (0xCD, Opaque),
        (0xCE, Opaque),
        (0xCF, Opaque),
        (0xD0, Opaque),
        (0xD1, Function),
        (0xD2, StandIn),
        (0xD3, Call),
        (0xD4, Request),
        (0xD5, Opaque),
        (0xD6, StandIn),
        (0xD7, Gated),
        (0xD8, Opaque),
        (0xD9, HalfPair),
        (0xDA, Opaque),
        (0xDB, StandIn),
        (0xDC, StandIn),
        (0xDD, Renamed),
        (0xDE, Opaque),
        (0xDF, Exit),
    ]
};

impl Becomes {
    fn of(opcode: u8) -> Self {
        let row = BECOMES.iter().find(|(pseudo, _)| *pseudo == opcode);
        row.map_or(Self::Itself, |&(_, becomes)| becomes)
    }
}

impl<P: Places + ?Sized, S: Sink + ?Sized> Run<'_, P, S> {
    /// One source slot without an extension.
    pub(super) fn single(&mut self, slot: &mut Slot) -> Result<(), Error> {
        self.opcode = byte(slot, 0);
        match Becomes::of(self.opcode) {
            Becomes::LabelBranch => self.label_branch(slot)?,
            Becomes::Trigger => self.trigger(slot)?,
            Becomes::Queue => {
                self.queue_slot(slot)?;
                self.opaque(slot, Why::OPCODE)?;
            }
            Becomes::Collective => self.collective(slot)?,
            Becomes::Label => self.label(slot)?,
            Becomes::Function => self.begin(slot)?,
            Becomes::Call => self.call(slot)?,
            Becomes::Request => self.request(slot)?,
            Becomes::HalfPair => {
                return Err(self.extension_missing());
            }
            Becomes::Exit if byte(slot, 12) == 1 => {
                let distance = self.distance(Goal::Exit)?;
                self.fixed_up(slot, distance)?;
            }
            Becomes::StandIn => {
                stand_in(slot);
                self.approximate(slot)?;
            }
            // Not on the oldest architecture, and on the first core only (staging.md §11.3, X18).
            Becomes::Gated if self.code.arch == Arch::Sunda || self.code.core != 0 => {
                self.opaque(slot, Why::GATED)?;
            }
            Becomes::Gated => self.renamed(slot, 0x81)?,
            Becomes::Renamed => self.renamed(slot, 0xB5)?,
            Becomes::Opaque | Becomes::Exit => self.opaque(slot, Why::OPCODE)?,
            Becomes::Itself => self.emit(slot)?,
        }
        self.consume(1);
        Ok(())
    }

    /// An instruction and its extension (R4).
    pub(super) fn pair(&mut self, head: &mut Slot, extension: &Slot) -> Result<(), Error> {
        self.opcode = byte(head, 0);
        if self.opcode == 0xD9 {
            self.check_priority(extension)?;
            stand_in(head);
            self.approximate(head)?;
            return self.drop_extension(extension);
        }
        self.extended_request(head, extension)
    }

    /// Half a pair without the other one.
    #[cold]
    pub(super) fn extension_missing(&self) -> Error {
        let source = u64::from(self.stream.counts.source.get());
        self.fault(StageCode::ExtensionMissing).numbers(source, u64::from(self.opcode))
    }

    fn form(&self, what: &[u8]) -> Error {
        self.fault(StageCode::CollectiveForm).name2(what)
    }

    /// The priority of a collective is 0 to 4 where it is used (staging.md §11.3; limit Inferred).
    fn check_priority(&self, extension: &Slot) -> Result<(), Error> {
        if self.code.arch == Arch::Sunda || byte(extension, PRIORITY) & 7 <= MOST_PRIORITY {
            return Ok(());
        }
        Err(self.form(b"priority above 4"))
    }

    /// The extension of a lowered pair has no device slot.
    pub(super) fn drop_extension(&mut self, extension: &Slot) -> Result<(), Error> {
        self.consume(1);
        self.opcode = byte(extension, 0);
        self.tell(NoteKind::DELETE)?;
        self.consume(1);
        Ok(())
    }

    /// A slot, or two, that stay as they are (R6); `value` says more about why, or what was found in it.
    pub(super) fn note_opaque(&mut self, slots: u8, why: Why, value: u64) -> Result<(), Error> {
        more(&mut self.stream.counts.opaque, 1);
        self.tell_more(NoteKind::OPAQUE, slots, why.get(), value)
    }

    /// Keeps a slot byte for byte.
    pub(super) fn opaque(&mut self, slot: &Slot, why: Why) -> Result<(), Error> {
        self.note_opaque(1, why, 0)?;
        self.keep(slot)
    }

    /// `c1`: opaque, but its queue is found and its block noted.
    fn trigger(&mut self, slot: &Slot) -> Result<(), Error> {
        let queue = self.queue_slot(slot)?;
        let value = Trigger::value(word(slot, 48), queue, word(slot, RAW_COUNT) != 0);
        self.note_opaque(1, Why::OPCODE, value)?;
        self.keep(slot)
    }

    /// Queue slot and, above it, the kbin's ring instance plus 1 if the name is an instance's.
    fn queue_slot(&self, slot: &Slot) -> Result<(u8, u16), Error> {
        let name = trimmed(name(slot));
        let small = |index: usize| u16::try_from(index).unwrap_or(u16::MAX);
        let (mut set, mut of_instance) = (None, None);
        each_instance(self.code.kbin, &mut |queue, instance| {
            if of_instance.is_none() {
                let number = u8::try_from(queue.slot).unwrap_or(u8::MAX);
                let own = queue.name() == name;
                let alone = queue.record.ring_instance_count.get() < 2;
                // An instance that is named so counts before a set of that name (staging.md §11.7).
                if instance.name() == name && !(own && alone) {
                    of_instance = Some((number, small(instance.index).saturating_add(1)));
                } else if own {
                    set = Some((number, 0));
                }
            }
            Ok(())
        })?;
        of_instance.or(set).ok_or_else(|| self.fault(StageCode::UnknownQueue).name2(name))
    }

    /// Emits a slot that stands for something not encoded in full.
    fn approximate(&mut self, slot: &mut Slot) -> Result<(), Error> {
        self.note_approximate()?;
        self.emit(slot)
    }

    fn note_approximate(&mut self) -> Result<(), Error> {
        more(&mut self.stream.counts.approximate, 1);
        self.tell(NoteKind::APPROXIMATE)
    }

    /// The real opcode is known, the meaning of its other bytes is not.
    fn renamed(&mut self, slot: &mut Slot, real: u8) -> Result<(), Error> {
        put(slot, 0, [real]);
        self.approximate(slot)
    }

    /// `c8`: one slot; both variables are found, hold what is transferred, and are noted.
    fn collective(&mut self, slot: &mut Slot) -> Result<(), Error> {
        let reduces = 1u32.checked_shl(u32::from(byte(slot, 12))).is_some_and(|bit| bit & REDUCE_MASK != 0);
        if !reduces {
            return Err(self.form(b"reduce op"));
        }
        if byte(slot, 6) == 0 {
            return Err(self.form(b"no semaphore"));
        }
        if self.code.kbin.num_streams() > 1 {
            return Err(self.form(b"several streams"));
        }
        let elements = long(slot, ELEMENTS);
        let element = elements.min(1).saturating_mul(element_bytes(byte(slot, ELEMENT_TYPE)));
        let (mut short, mut fits) = (None, false);
        for (operand, (id, off)) in (0u8..).zip([(16, 48), (20, 56)]) {
            let (var, off) = (word(slot, id), long(slot, off));
            let on_chip = self.code.kbin.mem_ref(var).is_some_and(is_state_buffer);
            if on_chip && off & OUTSIDE_PARTITIONS != 0 {
                return Err(self.form(b"off-chip offset"));
            }
            self.access(var, off, element)?;
            // Which side of a gather or scatter the elements are counted on is not stated, so one must hold them all.
            match self.access(var, off, element.saturating_mul(elements)) {
                Ok(_) => fits = true,
                Err(error) => short = short.or(Some(error)),
            }
            self.tell_more(NoteKind::RESOLVED, operand, var, off)?;
        }
        if let Some(short) = short.filter(|_| !fits) {
            return Err(short);
        }
        stand_in(slot);
        self.approximate(slot)
    }

    /// `cc`: no device slot.
    fn label(&mut self, slot: &Slot) -> Result<(), Error> {
        self.tell_more(NoteKind::LABEL, 0, word(slot, LABEL_ID), 0)?;
        self.tell(NoteKind::DELETE)
    }

    /// `d1`: no device slot; the function starts with the next one.
    fn begin(&mut self, slot: &Slot) -> Result<(), Error> {
        self.enter_function();
        // What returns by the registers is approximate itself; nothing else resets semaphores.
        if byte(slot, RESET) != 0 {
            self.note_approximate()?;
        }
        let mut note = self.note(NoteKind::FUNCTION);
        note.value = (long(slot, RESET) & 0xFF_FFFF).into();
        self.sink.named_note(note, name(slot))?;
        self.tell(NoteKind::DELETE)
    }

    /// `d3`: the call's frame, which is not known, and a relative branch to the function.
    fn call(&mut self, slot: &mut Slot) -> Result<(), Error> {
        self.note_approximate()?;
        self.frame()?;
        let note = self.note(NoteKind::CALL);
        self.sink.named_note(note, name(slot))?;
        let distance = self.distance(Goal::Function(trimmed(name(slot))))?;
        self.fixed_up(slot, distance)
    }

    /// The slots before a call's branch: blank, as many as the policy says.
    fn frame(&mut self) -> Result<(), Error> {
        let slots = self.code.policy.call_frame_slots();
        if slots == 0 {
            return Ok(());
        }
        self.tell_more(NoteKind::INSERT, 0, slots, 0)?;
        (0..slots).try_for_each(|_| self.emit(&mut [0; 64]))
    }

    /// `a9`: the displacement field names a label until it is resolved.
    fn label_branch(&mut self, slot: &mut Slot) -> Result<(), Error> {
        // The field has 64 bits, an id 32: what does not fit names no label.
        let label = u32::try_from(long(slot, BRANCH_LABEL));
        let unknown = |_| self.fault(StageCode::UnknownTarget).name2(b"label");
        let label = label.map_err(unknown)?;
        self.tell_more(NoteKind::BRANCH, 0, label, 0)?;
        let distance = self.distance(Goal::Label(label))?;
        put(slot, BRANCH_LABEL, u64::from(distance).to_le_bytes());
        self.emit(slot)
    }

    /// A slot that becomes a relative branch, one for one.
    fn fixed_up(&mut self, slot: &mut Slot, distance: u32) -> Result<(), Error> {
        self.tell(NoteKind::MODIFY)?;
        branch(slot, u64::from(distance));
        self.emit(slot)
    }

    /// Bytes from the next slot to a goal: 32 signed bits.
    fn distance(&self, goal: Goal<'_>) -> Result<u32, Error> {
        let here = self.slot();
        let target = self.places.goal(goal).ok_or_else(|| self.fault(StageCode::UnknownTarget))?;
        let far = || {
            let bytes = u64::from(target.abs_diff(here)).saturating_mul(64);
            self.fault(StageCode::BranchTooFar).numbers(u64::from(self.stream.counts.source.get()), bytes)
        };
        displacement(here, target).and_then(|bytes| u32::try_from(bytes).ok()).ok_or_else(far)
    }
}

/// Bytes of an element of a collective, whose type is a public code (T44: 10 is `float32`); at least 1.
fn element_bytes(code: u8) -> u64 {
    dtype::public_bytes(code).map_or(1, u64::from)
}

/// What a trigger names, as its note keeps it.
pub(in crate::plan) struct Trigger {
    /// Id of its block.
    pub(in crate::plan) block: u32,
    /// Slot of its queue.
    pub(in crate::plan) queue: u16,
    /// The kbin's ring instance, if the name is an instance's.
    pub(in crate::plan) instance: Option<u16>,
    /// It states its count itself, and needs no block (staging.md §11.7).
    pub(in crate::plan) states_count: bool,
}

impl Trigger {
    /// In a note's value: the block, the queue plus 1, the instance plus 1, the flag.
    fn value(block: u32, (queue, instance): (u8, u16), states_count: bool) -> u64 {
        let [a, b, c, d] = block.to_le_bytes();
        let [low, high] = instance.to_le_bytes();
        u64::from_le_bytes([a, b, c, d, queue.saturating_add(1), low, high, u8::from(states_count)])
    }

    /// From a note's value; `None` if the slot triggers nothing.
    pub(in crate::plan) fn of(value: U64) -> Option<Self> {
        let [a, b, c, d, queue, low, high, states_count] = value.get().to_le_bytes();
        Some(Self {
            block: u32::from_le_bytes([a, b, c, d]),
            queue: u16::from(queue.checked_sub(1)?),
            instance: u16::from_le_bytes([low, high]).checked_sub(1),
            states_count: states_count != 0,
        })
    }
}
