//! The 8-byte address operand of a descriptor-generation request (R1, real-files.md §5).

/// Marker bit: the id is a `var_id`.
const VARIABLE: u8 = 0x10;
/// Marker bit: the id is an index into the subgraph's `dge-table`.
const TABLE: u8 = 0x20;
/// Marker bit: the offset field is a register number.
const REGISTER: u8 = 0x08;
/// Marker bits of forms that pass through: shape or address in a register.
const PASSES: u8 = 0xC0;
/// What else such a form may have: a wide offset, an offset in a register.
const BESIDE: u8 = 0x0C;

/// A decoded operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A byte offset in a variable.
    Variable {
        /// The variable.
        var: u32,
        /// Bytes.
        off: u32,
    },
    /// A byte offset in the variable that an entry of the table names.
    Table {
        /// Entry.
        index: u32,
        /// Bytes.
        off: u32,
    },
    /// The offset is in a register: not patched (R3).
    Register {
        /// Variable id or table entry.
        id: u32,
        /// Register number.
        register: u32,
        /// `id` is a table entry.
        table: bool,
    },
    /// An immediate or a register form without a variable: left alone.
    Through,
    /// A marker with no known meaning.
    Unknown(u8),
}

impl Operand {
    /// Decodes the bytes.
    #[must_use]
    pub const fn decode(bytes: [u8; 8]) -> Self {
        let [a, b, c, d, e, f, g, marker] = bytes;
        let off = u32::from_le_bytes([a, b, c, d]);
        let id = u32::from_le_bytes([e, f, g, 0]);
        match marker {
            VARIABLE => Self::Variable { var: id, off },
            TABLE => Self::Table { index: id, off },
            0 => Self::Through,
            _ if marker & PASSES != 0 && marker & !(PASSES | BESIDE) == 0 => Self::Through,
            _ if marker & PASSES != 0 => Self::Unknown(marker),
            _ if marker & REGISTER != 0 => Self::Register { id, register: off, table: marker & TABLE != 0 },
            _ => Self::Unknown(marker),
        }
    }
}

/// Operand bytes of an absolute address, marker 0; `None` for 2^56 and above.
#[must_use]
pub const fn absolute(address: u64) -> Option<[u8; 8]> {
    if address >= 1 << 56 { None } else { Some(address.to_le_bytes()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Operand, absolute};

    #[test]
    fn kinds_seen_in_files() {
        let variable = Operand::decode([0x00, 0x10, 0, 0, 7, 0, 0, 0x10]);
        assert_eq!(variable, Operand::Variable { var: 7, off: 0x1000 });
        let table = Operand::decode([4, 0, 0, 0, 2, 0, 0, 0x20]);
        assert_eq!(table, Operand::Table { index: 2, off: 4 });
        let register = Operand::decode([61, 0, 0, 0, 2, 0, 0, 0x28]);
        assert_eq!(register, Operand::Register { id: 2, register: 61, table: true });
        assert_eq!(Operand::decode([1, 2, 3, 4, 5, 6, 7, 0]), Operand::Through);
        assert_eq!(Operand::decode([0, 0, 0, 0, 0, 0, 0, 0x80]), Operand::Through);
        for unknown in [0x30, 0xFF, 0x90] {
            assert_eq!(Operand::decode([0, 0, 0, 0, 0, 0, 0, unknown]), Operand::Unknown(unknown));
        }
    }

    #[test]
    fn addresses_fit_under_the_marker() {
        assert_eq!(absolute(0x0080_0000_0000_1000).map(|bytes| bytes[7]), Some(0));
        assert_eq!(absolute(1 << 56), None);
    }
}
