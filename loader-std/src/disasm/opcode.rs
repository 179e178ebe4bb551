//! What an opcode is (staging.md §11.3, §11.4; real-files.md §5).

/// What kind of slot an opcode makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Arithmetic of the engine. Which operation each opcode is, is Open.
    Compute,
    /// Events, semaphores, branches, registers.
    Control,
    /// A request to the descriptor-generation engine.
    Dma,
    /// A pseudo-instruction that a loader replaces (R5).
    Pseudo,
    /// The second half of the slot before.
    Extension,
    /// Nothing is known about it.
    Unknown,
}

impl Class {
    /// Its name in listings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Control => "control",
            Self::Dma => "dma",
            Self::Pseudo => "pseudo",
            Self::Extension => "extension",
            Self::Unknown => "unknown",
        }
    }
}

/// An opcode with its name, if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// Kind of slot.
    pub class: Class,
    /// What it does; `None` where only the class is known.
    pub name: Option<&'static str>,
}

/// What is known about an opcode.
#[must_use]
pub const fn meaning(opcode: u8) -> Meaning {
    let (class, name) = match opcode {
        // Seen in the streams of the five compute engines, with operands of on-chip memory only.
        0x01 | 0x02 | 0x21 | 0x23 | 0x41..=0x53 | 0x61 | 0x62 | 0x65 | 0x67..=0x6E => (Class::Compute, None),
        0x72 | 0x74 | 0x7E | 0x92 | 0xE8 => (Class::Compute, None),
        0x7A => (Class::Control, Some("load pool argument")),
        0x81 => (Class::Compute, Some("jpeg decode")),
        0xA0 => (Class::Control, Some("event or semaphore")),
        0xA2 => (Class::Control, Some("drain")),
        0xA4 => (Class::Control, Some("event wait, set or clear")),
        0xA7 => (Class::Control, None),
        0xA8 => (Class::Control, Some("register arithmetic")),
        0xA9 => (Class::Pseudo, Some("branch")),
        0xB0 => (Class::Control, Some("clear semaphores")),
        0xB1 => (Class::Control, Some("start of stream")),
        0xB3 => (Class::Control, Some("poll semaphore")),
        0xB5 => (Class::Control, Some("branch hint")),
        0xB8 | 0xBB | 0xBD | 0xF1 => (Class::Dma, Some("descriptor generation")),
        0xDA => (Class::Extension, Some("extension")),
        0xC1..=0xDF => return Meaning { class: Class::Pseudo, name: pseudo(opcode) },
        _ => (Class::Unknown, None),
    };
    Meaning { class, name }
}

const fn pseudo(opcode: u8) -> Option<&'static str> {
    Some(match opcode {
        0xC1 => "dma trigger",
        0xC2 => "dma re-arm",
        0xC3 => "dma barrier",
        0xC4 => "indirect dma copy",
        0xC5 => "semaphore set",
        0xC6 => "load activation functions",
        0xC7 => "all-reduce",
        0xC8 => "collective",
        0xC9 => "read variable address",
        0xCA => "embedding update",
        0xCB => "send or receive",
        0xCC => "label",
        0xCD => "tensor store",
        0xCE => "tensor load",
        0xCF => "dma queue-set swap",
        0xD0 => "set seed",
        0xD1 => "function begin",
        0xD2 => "return",
        0xD3 => "call",
        0xD4 => "dma request",
        0xD5 => "sync barrier",
        0xD6 => "range check",
        0xD7 => "jpeg decode",
        0xD8 => "core barrier",
        0xD9 => "collective 2",
        0xDB => "current rank id",
        0xDC => "global id load",
        0xDD => "branch prefetch hint",
        0xDE => "tensor completion",
        0xDF => "generic",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Class, meaning};
    use loader_core::plan::record::is_known;

    #[test]
    fn listings_and_remarks_know_the_same_opcodes() {
        for opcode in 0..=u8::MAX {
            assert_eq!(meaning(opcode).class != Class::Unknown, is_known(opcode), "{opcode:#04x}");
        }
    }
}
