//! One slot.

use super::SLOT;
use super::names::Names;
use super::opcode::{Meaning, meaning};
use super::operand::{Address, Place};
use std::fmt;

/// The event tuple that every instruction carries (staging.md §11.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Mode and index of what is waited for.
    pub wait: (u8, u8),
    /// Mode and index of what is updated.
    pub update: (u8, u8),
    /// The value of both.
    pub value: u32,
}

/// What a pseudo-instruction says beside its opcode (staging.md §11.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing is known: the bytes stand for themselves.
    None,
    /// A queue and, for a trigger, a block of it.
    Queue {
        /// Name.
        queue: String,
        /// The definition has such a queue, or such an instance of one.
        known: bool,
        /// Block id.
        block: Option<u32>,
        /// The label that NeuronCore v1 has behind it.
        label: String,
    },
    /// A descriptor-generation request.
    Request {
        /// Source and destination.
        operands: [Address; 2],
        /// Kind, byte 15.
        kind: u8,
        /// Semaphore and increment, bytes 13 and 14.
        semaphore: (u8, u8),
        /// Element types, bytes 62 and 63.
        types: (u8, u8),
    },
    /// A collective with two variables.
    Collective {
        /// Input and output with their byte offsets.
        ends: [(Place, u64); 2],
        /// Reduction, element type, group.
        shape: (u8, u8, u8),
        /// Elements.
        elements: u64,
    },
    /// A label.
    Label(u32),
    /// A branch to a label.
    Branch(u32),
    /// The function that begins, or that is called.
    Function(String),
    /// The end of the stream.
    Exit,
}

/// One slot of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its bytes.
    pub bytes: [u8; SLOT],
    /// What its opcode is.
    pub meaning: Meaning,
    /// Its event tuple; `None` for an extension, which is data.
    pub event: Option<Event>,
    /// Where what is behind opcode and tuple begins.
    pub data: usize,
    /// What it says.
    pub detail: Detail,
}

impl Line {
    /// Reads a slot; `before` is the opcode of the slot before it.
    #[must_use]
    pub fn of(bytes: &[u8; SLOT], before: Option<u8>, names: &Names) -> Self {
        let meaning = meaning(bytes[0]);
        let extension = bytes[0] == 0xDA && matches!(before, Some(0xD4 | 0xD9));
        let v1 = names.is_v1();
        let value = if v1 { 0 } else { word(bytes, 8) };
        let event = Event { wait: (bytes[4], bytes[5]), update: (bytes[6], bytes[7]), value };
        let detail = if extension { Detail::None } else { Detail::of(bytes, names) };
        let data = match (extension, v1) {
            (true, _) => 1,
            (false, true) => 8,
            (false, false) => 12,
        };
        Self { bytes: *bytes, meaning, event: (!extension).then_some(event), data, detail }
    }

    /// The opcode.
    #[must_use]
    pub const fn opcode(&self) -> u8 {
        self.bytes[0]
    }
}

fn part<const N: usize>(bytes: &[u8; SLOT], at: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes[at + index])
}

fn word(bytes: &[u8; SLOT], at: usize) -> u32 {
    u32::from_le_bytes(part(bytes, at))
}

fn long(bytes: &[u8; SLOT], at: usize) -> u64 {
    u64::from_le_bytes(part(bytes, at))
}

/// A NUL-filled text.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned()
}

/// A name of at most 32 bytes.
fn name(bytes: &[u8; SLOT]) -> String {
    text(&bytes[12..44])
}

impl Detail {
    fn of(bytes: &[u8; SLOT], names: &Names) -> Self {
        match bytes[0] {
            0xA9 => Self::Branch(word(bytes, 48)),
            0xC1 | 0xC2 => Self::queue(bytes, names),
            0xC8 if !names.is_v1() => Self::Collective {
                ends: [(16, 48), (20, 56)]
                    .map(|(id, off)| (Place::of(Some(word(bytes, id)), None, names), long(bytes, off))),
                shape: (bytes[12], bytes[13], bytes[14]),
                elements: long(bytes, 24),
            },
            0xCC => Self::Label(word(bytes, 12)),
            0xD1 | 0xD3 => Self::Function(name(bytes)),
            0xD4 => Self::Request {
                operands: [0x10, 0x28].map(|at| Address::of(part(bytes, at), names)),
                kind: bytes[15],
                semaphore: (bytes[13], bytes[14]),
                types: (bytes[62], bytes[63]),
            },
            0xDF if bytes[12] == 1 => Self::Exit,
            _ => Self::None,
        }
    }

    fn queue(bytes: &[u8; SLOT], names: &Names) -> Self {
        let starts: &[usize] = if names.is_v1() { &[8, 12] } else { &[12] };
        let named = |at: usize| (at, text(&bytes[at..at + 32]));
        let known = starts.iter().map(|&at| named(at)).find(|(_, queue)| names.has_queue(queue));
        let is_known = known.is_some();
        let (at, queue) = known.unwrap_or_else(|| named(starts[0]));
        let block = (bytes[0] == 0xC1).then(|| word(bytes, at + 36));
        let label = if at == 8 { text(&bytes[48..]) } else { String::new() };
        Self::Queue { known: is_known, queue, block, label }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wait, update, value } = *self;
        let mut gap = "";
        for (what, (mode, index)) in [("wait", wait), ("update", update)] {
            if (mode, index) != (0, 0) {
                write!(f, "{gap}{what} {index} mode {mode:#x}")?;
                gap = ", ";
            }
        }
        if value != 0 { write!(f, "{gap}value {value}") } else { Ok(()) }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Queue { queue, known, block, label } => {
                write!(f, "{}{queue}", if *known { "" } else { "?queue " })?;
                block.map_or(Ok(()), |block| write!(f, " block {block}"))?;
                if label.is_empty() { Ok(()) } else { write!(f, "  {label}") }
            }
            Self::Request { operands: [from, to], kind, semaphore: (semaphore, step), .. } => {
                write!(f, "{from} -> {to}")?;
                if *kind != 0 {
                    write!(f, "  kind {kind}")?;
                }
                if (*semaphore, *step) != (0, 0) {
                    write!(f, "  semaphore {semaphore} += {step}")?;
                }
                Ok(())
            }
            Self::Collective { ends: [(from, from_off), (to, to_off)], shape, elements } => {
                write!(f, "{from}+{from_off:#x} -> {to}+{to_off:#x}  {elements} elements, ")?;
                write!(f, "operation {}, type {}, group {}", shape.0, shape.1, shape.2)
            }
            Self::Label(id) => write!(f, "{id}"),
            Self::Branch(id) => write!(f, "to label {id}"),
            Self::Function(name) => f.write_str(name),
            Self::Exit => f.write_str("exit"),
        }
    }
}
