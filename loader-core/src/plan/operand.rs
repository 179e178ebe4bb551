//! The 8-byte address operand of a descriptor-generation request (R1, real-files.md §5).

/// Where the two operands of a descriptor-generation request lie in its slot: source, destination
/// (real-files.md §5).
pub const PLACES: [usize; 2] = [0x10, 0x28];

/// Marker bit: the id is a `var_id`.
const VARIABLE: u8 = 0x10;
/// Marker bit: the id is an index into the subgraph's `dge-table`.
const TABLE: u8 = 0x20;
/// Marker bit: the offset field is a register number.
const REGISTER: u8 = 0x08;
/// Marker bits that the reference masks off before it compares (staging.md §11.4, Confirmed; meaning Open).
const MASKED: u8 = 0x03;
/// Marker bits 6 and 7: the shape, the address is in a register.
const HELD: u8 = 0xC0;

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
    /// An address without a variable: left alone.
    Immediate,
    /// Address or shape in a register and no variable: left alone (staging.md §11.4, Confirmed), and its slot is
    /// opaque, because only a request without a register operand has a known lowering (R6, R8).
    Held,
    /// A combination of bits with no known meaning.
    Unknown(u8),
}

impl Operand {
    /// Decodes the bytes. Only combinations of marker bits that the evidence explains are taken apart.
    #[must_use]
    pub const fn decode(bytes: [u8; 8]) -> Self {
        const IN_VARIABLE: u8 = VARIABLE | REGISTER;
        const IN_TABLE: u8 = TABLE | REGISTER;
        let [a, b, c, d, e, f, g, marker] = bytes;
        let off = u32::from_le_bytes([a, b, c, d]);
        let id = u32::from_le_bytes([e, f, g, 0]);
        match marker & !MASKED {
            VARIABLE => Self::Variable { var: id, off },
            TABLE => Self::Table { index: id, off },
            IN_VARIABLE => Self::Register { id, register: off, table: false },
            IN_TABLE => Self::Register { id, register: off, table: true },
            _ if marker == 0 => Self::Immediate,
            _ if marker & !HELD == 0 => Self::Held,
            _ => Self::Unknown(marker),
        }
    }

    /// True for a register operand of a known form.
    #[must_use]
    pub const fn is_register(self) -> bool {
        matches!(self, Self::Register { .. } | Self::Held)
    }

    /// True if a register decides where it leads, in a form without a known meaning too (R3).
    #[must_use]
    pub const fn is_indirect(self) -> bool {
        match self {
            Self::Unknown(marker) => marker & (REGISTER | HELD) != 0,
            known => known.is_register(),
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
        assert_eq!(Operand::decode([1, 2, 3, 4, 5, 6, 7, 0]), Operand::Immediate);
        let masked = Operand::decode([0, 0, 0, 0, 7, 0, 0, 0x13]);
        assert_eq!(masked, Operand::Variable { var: 7, off: 0 });
    }

    #[test]
    fn every_marker_is_known_or_unknown() {
        let of = |marker| Operand::decode([0, 0, 0, 0, 0, 0, 0, marker]);
        for marker in 0..=255u8 {
            let found = of(marker);
            match marker {
                0 => assert_eq!(found, Operand::Immediate),
                0x10..=0x13 => assert!(matches!(found, Operand::Variable { .. })),
                0x20..=0x23 => assert!(matches!(found, Operand::Table { .. })),
                0x18..=0x1B | 0x28..=0x2B => assert!(matches!(found, Operand::Register { .. })),
                0x40 | 0x80 | 0xC0 => assert_eq!(found, Operand::Held),
                _ => assert_eq!(found, Operand::Unknown(marker), "{marker:#x}"),
            }
            assert_eq!(found.is_indirect(), marker & 0xC8 != 0, "{marker:#x}");
        }
    }

    #[test]
    fn addresses_fit_under_the_marker() {
        assert_eq!(absolute(0x0080_0000_0000_1000).map(|bytes| bytes[7]), Some(0));
        assert_eq!(absolute(1 << 56), None);
    }
}
