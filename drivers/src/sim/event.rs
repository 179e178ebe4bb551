//! The event log: one line per operation (staging.md §18.6).

use core::fmt;
use loader_core::device::Usage;

/// The start of an allocation's tag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    bytes: [u8; 24],
    len: u8,
}

impl Tag {
    /// No tag.
    pub const EMPTY: Self = Self { bytes: [0; 24], len: 0 };

    /// Keeps the first 24 bytes, cut at a character.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut len = text.len().min(24);
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        let mut bytes = [0; 24];
        crate::bytes::copy(&mut bytes, text.as_bytes().get(..len).unwrap_or(&[]));
        Self { bytes, len: len as u8 }
    }

    /// The kept text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.bytes.get(..usize::from(self.len)).and_then(|text| core::str::from_utf8(text).ok()).unwrap_or("")
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// What an operation was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of the operation")]
pub enum EventKind {
    /// A block was granted.
    Alloc { core: u16, usage: Usage, align: u64, tag: Tag },
    /// An allocation was refused.
    Refused { core: u16, usage: Usage, align: u64, tag: Tag },
    /// Bytes were written; `fnv` is their 32-bit FNV-1a hash.
    Write { fnv: u32 },
    /// Bytes were read.
    Read,
    /// A block was freed.
    Free,
}

/// One line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The operation.
    pub kind: EventKind,
    /// First address concerned.
    pub address: u64,
    /// Bytes concerned.
    pub size: u64,
    /// Number of the operation since the rules for failing were set: the `k` of [`Fault::Operation`](super::Fault). 0 for a
    /// free.
    pub operation: u64,
}

impl Event {
    /// A place holder for log storage.
    pub const EMPTY: Self = Self { kind: EventKind::Free, address: 0, size: 0, operation: 0 };
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, address, size, .. } = self;
        match kind {
            EventKind::Alloc { core, usage, align, tag } => {
                let (usage, tag) = (usage.name(), tag.as_str());
                write!(
                    f,
                    "alloc core={core} usage={usage} size={size} align={align} tag={tag} -> {address:#x}"
                )
            }
            EventKind::Refused { core, usage, align, tag } => {
                let (usage, tag) = (usage.name(), tag.as_str());
                write!(f, "alloc core={core} usage={usage} size={size} align={align} tag={tag} -> refused")
            }
            EventKind::Write { fnv } => write!(f, "write {address:#x} len={size} fnv={fnv:08x}"),
            EventKind::Read => write!(f, "read {address:#x} len={size}"),
            EventKind::Free => write!(f, "free {address:#x}"),
        }
    }
}

/// 32-bit FNV-1a.
pub(super) fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811C_9DC5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
