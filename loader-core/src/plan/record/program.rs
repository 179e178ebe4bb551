//! Engine images and what is known about their slots (staging.md §5.10, §12.1; R2, R6).

use crate::arena::ArenaRef;
use crate::lower::record::layout::{open_enums, records};
use crate::lower::record::{Pad, PatchSection};
use crate::plan::operand::PLACES;
use zerocopy::little_endian::{U16, U32, U64};

open_enums! {
    /// What a note about a slot says; notes exist only while a plan is made.
    NoteKind(U16, u16) {
        BIND = 1 "bound at execute",
        RESOLVED = 2 "resolved operand",
        OPAQUE = 3 "opaque",
        DELETE = 4 "deleted",
        MODIFY = 5 "fixed up",
        LABEL = 6 "label",
        FUNCTION = 7 "function",
        CALL = 8 "call",
        BRANCH = 9 "branch to a label",
        INSERT = 10 "inserted",
        APPROXIMATE = 11 "approximate",
    }

    /// Why a slot is opaque.
    Why(U32, u32) {
        OPCODE = 1 "no known lowering",
        REGISTER = 2 "operand offset in a register",
        EXTENDED = 3 "request with an extension",
        OPERAND = 4 "operand of unknown kind",
        KIND = 5 "request of unknown kind",
        GATED = 6 "not of this architecture or core",
    }

    /// What a branch can go to.
    TargetKind(U16, u16) {
        LABEL = 1 "label",
        FUNCTION = 2 "function",
    }
}

records! {
    /// A byte range of an image.
    Span: 16 {
        /// From the image's start.
        0 off: U64,
        /// Bytes.
        8 size: U64,
    }

    /// Device ranges of an engine's program (staging.md §5.10, Confirmed; the first range is the whole
    /// image, X13).
    InstrAddrs: 56 {
        /// Its [`DMem`](super::DMem).
        0 block: ArenaRef,
        /// The whole image.
        8 first: Span,
        /// Model switch.
        24 model_switch: Span,
        /// Main code.
        40 main: Span,
    }

    /// Position-map records of one engine (Confirmed).
    PatchList: 16 {
        /// Records.
        0 count: U32,
        /// Room; equal here.
        4 capacity: U32,
        /// [`PatchEntry`](crate::lower::record::PatchEntry) records.
        8 entries: ArenaRef,
    }

    /// What is known about one engine's image (ours).
    Image: 232 {
        /// Engine number.
        0 engine: U32,
        /// Index of its [`DMem`](super::DMem).
        4 block: U32,
        /// Slots before the main code.
        8 preamble: U32,
        /// Slots of the main code.
        12 main: U32,
        /// Slots after the main code.
        16 postamble: U32,
        /// Slots of functions.
        20 function: U32,
        /// Operands that became absolute addresses.
        24 patched: U32,
        /// Operands that became template words (R2).
        28 bound: U32,
        /// Slots with an operand whose offset, address or shape is in a register (R3).
        32 register_indirect: U32,
        /// Opaque slots (R6), an extension counted with its instruction (R38).
        36 opaque: U32,
        /// Slots whose lowering keeps the slot count but not every bit.
        40 approximate: U32,
        /// Source slots.
        44 source: U32,
        /// First source slot of the functions.
        48 function_source: U32,
        /// 1 if the position map was too long to keep: positions are unknown (staging.md §2).
        52 positions_lost: U16,
        /// Slots whose length, byte 1, is not 16 words, up to 65,535; 0 where nobody reads remarks.
        54 lengths: U16,
        /// A bit for each opcode of which nothing is known; none where nobody reads remarks.
        56 unknown: [U32; 8],
        /// Pseudo slots by opcode: `c1` to `df` at 0 to 30, `a9` at 31 (R5).
        88 pseudo: [U32; 32],
        /// Records of the position map.
        216 patches: PatchList,
    }

    /// An operand that names a variable: one that is bound when the model runs (R2), or one of a slot that is
    /// not translated (R6).
    Bind: 24 {
        /// Engine number.
        0 engine: u8,
        /// Operand within the slot, from 0.
        1 operand: u8,
        /// Opcode in the file.
        2 opcode: u8,
        /// Padding.
        3 pad: u8,
        /// Slot within the image.
        4 slot: U32,
        /// The variable.
        8 var: U32,
        /// Padding.
        12 pad1: Pad<4>,
        /// Bytes from its start.
        16 off: U64,
    }

    /// A slot that is kept byte for byte (R6).
    Opaque: 24 {
        /// Engine number.
        0 engine: u8,
        /// Opcode.
        1 opcode: u8,
        /// Slots, 2 with an extension.
        2 slots: u8,
        /// 1 if `queue` and `block` are known.
        3 trigger: u8,
        /// Why.
        4 why: Why,
        /// Source slot, from 0.
        8 source: U32,
        /// Slot within the image.
        12 slot: U32,
        /// Slot of the triggered queue.
        16 queue: U16,
        /// Padding.
        18 pad: U16,
        /// Index of the triggered [`BlockRec`](super::BlockRec).
        20 block: U32,
    }

    /// A place that branches go to.
    Target: 24 {
        /// Engine number.
        0 engine: U16,
        /// Label or function.
        2 kind: TargetKind,
        /// Of a function: 1 if its beginning resets semaphores (bytes 48 to 50 of `d1`, staging.md §11.3, §5.10).
        4 reset_semaphores: u8,
        /// The registers that hold where it returns to.
        5 return_registers: [u8; 2],
        /// Padding.
        7 pad: u8,
        /// Slot within the image.
        8 slot: U32,
        /// Label id, or the key of a function's name.
        12 id: U32,
        /// Function name, 32 bytes, NUL-filled.
        16 name: ArenaRef,
    }

    /// A note about a slot, kept at the arena's tail while a plan is made.
    SlotNote: 32 {
        /// What it says.
        0 kind: NoteKind,
        /// Subgraph.
        2 core: u8,
        /// Engine number.
        3 engine: u8,
        /// Opcode.
        4 opcode: u8,
        /// Operand, or slots of an opaque.
        5 operand: u8,
        /// 1 for a slot of a function, 0 for one of the main code.
        6 in_function: u8,
        /// Padding.
        7 pad: Pad<1>,
        /// Source slot, from 0.
        8 source: U32,
        /// Slot within the section.
        12 slot: U32,
        /// Variable, label, block index, slots inserted, or [`Why`].
        16 id: U32,
        /// Arena offset of the function name, [`FUNCTION_NAME`] bytes: the one it names, or for an opaque slot the one it
        /// stands in; 0 without one.
        20 name: U32,
        /// Offset, queue slot plus 1, the marker of an unknown operand, or of a function the bytes 48 to 50 of its beginning.
        24 value: U64,
    }
}

/// Bytes of a function name in an instruction, NUL fill included.
pub const FUNCTION_NAME: usize = 32;

impl SlotNote {
    /// Section of its slot.
    #[must_use]
    pub const fn section(&self) -> PatchSection {
        if self.in_function == 0 { PatchSection::MAIN } else { PatchSection::FUNCTION }
    }

    /// The function name.
    #[must_use]
    pub fn name_ref(&self) -> ArenaRef {
        let len = if self.name.get() == 0 { 0 } else { u32::try_from(FUNCTION_NAME).unwrap_or(0) };
        ArenaRef { off: self.name, len: len.into() }
    }
}

impl Image {
    /// Slots in all.
    #[must_use]
    pub fn slots(&self) -> u64 {
        [self.preamble, self.main, self.postamble, self.function]
            .into_iter()
            .map(|slots| u64::from(slots.get()))
            .sum()
    }

    /// The opcodes of which nothing is known, in order.
    pub fn unknown_opcodes(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=u8::MAX).filter(|opcode| {
            let word = self.unknown.get(usize::from(opcode >> 5)).map_or(0, |word| word.get());
            word & unknown_bit(*opcode) != 0
        })
    }

    /// Notes an opcode of which nothing is known.
    pub(in crate::plan) fn add_unknown(&mut self, opcode: u8) {
        if let Some(word) = self.unknown.get_mut(usize::from(opcode >> 5)) {
            *word = (word.get() | unknown_bit(opcode)).into();
        }
    }

    /// Slots with that opcode, if it is one that `pseudo` counts.
    #[must_use]
    pub fn pseudo_count(&self, opcode: u8) -> u32 {
        pseudo_index(opcode).and_then(|index| self.pseudo.get(index)).map_or(0, |count| count.get())
    }
}

impl Bind {
    /// First byte of the operand within the engine's image; `None` for an operand that no slot has.
    #[must_use]
    pub fn at(&self) -> Option<u64> {
        let within = PLACES.get(usize::from(self.operand))?;
        u64::from(self.slot.get()).checked_mul(64)?.checked_add(u64::try_from(*within).ok()?)
    }
}

/// True for an opcode of which anything is known: that it occurs in real streams, what it does, or that it is a pseudo
/// one (staging.md §11.3, §11.4; real-files.md §5).
#[must_use]
pub const fn is_known(opcode: u8) -> bool {
    matches!(
        opcode,
        0x01 | 0x02 | 0x21 | 0x23 | 0x41..=0x53 | 0x61 | 0x62 | 0x65 | 0x67..=0x6E | 0x72 | 0x74 | 0x7A | 0x7E
            | 0x81 | 0x92 | 0xA0 | 0xA2 | 0xA4 | 0xA7..=0xA9 | 0xB0 | 0xB1 | 0xB3 | 0xB5 | 0xB8 | 0xBB | 0xBD
            | 0xC1..=0xDF | 0xE8 | 0xF1
    )
}

/// The bit of an opcode in its word of [`Image::unknown`].
fn unknown_bit(opcode: u8) -> u32 {
    1u32.wrapping_shl(u32::from(opcode & 31))
}

/// Index of a pseudo-opcode in [`Image::pseudo`] (R5).
pub(in crate::plan) fn pseudo_index(opcode: u8) -> Option<usize> {
    match opcode {
        0xA9 => Some(31),
        0xC1..=0xDF => opcode.checked_sub(0xC1).map(usize::from),
        _ => None,
    }
}
