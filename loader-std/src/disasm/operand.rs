//! Address operands with their variables (R1, real-files.md §5).

use super::names::Names;
use loader_core::plan::operand::Operand;
use std::fmt;

/// Which variable, and how it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its id; `None` if the table has no such entry.
    pub var: Option<u32>,
    /// Its name and class; `None` if the definition has no such variable.
    pub variable: Option<super::Variable>,
    /// The entry of the descriptor-generation table that led to it.
    pub entry: Option<u32>,
}

impl Place {
    pub(super) fn of(var: Option<u32>, entry: Option<u32>, names: &Names) -> Self {
        Self { var, variable: var.and_then(|var| names.variable(var)).cloned(), entry }
    }
}

/// Where in the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// So many bytes from its start.
    Offset(u64),
    /// As many bytes as that register says.
    Register(u32),
}

/// An address operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A place in a variable.
    Variable(Place, Ending),
    /// An address or registers, without a variable; the word as it is.
    Plain(u64),
    /// A marker with no known meaning, in the top byte of the word.
    Unknown(u64),
}

impl Address {
    pub(super) fn of(bytes: [u8; 8], names: &Names) -> Self {
        let word = u64::from_le_bytes(bytes);
        match Operand::decode(bytes) {
            Operand::Variable { var, off } => {
                Self::Variable(Place::of(Some(var), None, names), Ending::Offset(off.into()))
            }
            Operand::Table { index, off } => {
                let place = Place::of(names.entry(index), Some(index), names);
                Self::Variable(place, Ending::Offset(off.into()))
            }
            Operand::Register { id, register, table } => {
                let (var, entry) = if table { (names.entry(id), Some(id)) } else { (Some(id), None) };
                Self::Variable(Place::of(var, entry, names), Ending::Register(register))
            }
            Operand::Immediate | Operand::Held => Self::Plain(word),
            Operand::Unknown(_) => Self::Unknown(word),
        }
    }

    /// The top byte of the word.
    #[must_use]
    pub const fn marker(bytes: [u8; 8]) -> u8 {
        bytes[7]
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.variable, self.var, self.entry) {
            (Some(variable), ..) => f.write_str(&variable.name),
            (None, Some(var), _) => write!(f, "?variable {var}"),
            (None, None, entry) => write!(f, "?table entry {}", entry.unwrap_or_default()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(place, Ending::Offset(0)) => write!(f, "{place}"),
            Self::Variable(place, Ending::Offset(off)) => write!(f, "{place}+{off:#x}"),
            Self::Variable(place, Ending::Register(register)) => write!(f, "{place}[r{register}]"),
            Self::Plain(word) => write!(f, "{word:#x}"),
            Self::Unknown(word) => write!(f, "?{word:#018x}"),
        }
    }
}
