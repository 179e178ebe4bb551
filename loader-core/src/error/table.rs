//! Rows of the code tables and the tiny template language of their texts.

use super::{At, Status};
use crate::bytes::cut;
use core::fmt;

/// A printed code: a layer letter and a number of three digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// Layer: `C`, `E`, `L`, `S`, `D`, `N`, `M` or `W`.
    pub letter: char,
    /// Number within the layer.
    pub number: u16,
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:03}", self.letter, self.number)
    }
}

/// One row of a code table.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The printed code.
    pub id: Id,
    /// The identifier in the source.
    pub variant: &'static str,
    /// The runtime's status number for it.
    pub status: Status,
    /// What happened: the runtime's text where known. Placeholders: `{name}`, `{name2}` and
    /// `{a}`, `{b}`, `{c}`, each number also as `{a:x}` (bare hex) or `{a:#x}` (with `0x`).
    pub text: &'static str,
    /// What a correct file, caller or host would have had; a noun clause.
    pub expected: &'static str,
}

/// What a program needs of a row, in four bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) number: u16,
    pub(super) letter: u8,
    pub(super) status: Status,
}

impl Row {
    /// No variant has this row.
    pub(super) const NONE: Self = Self { number: 0, letter: b'?', status: Status::Failure };

    pub(super) fn id(self) -> Id {
        Id { letter: char::from(self.letter), number: self.number }
    }
}

/// Declares a layer's enum of codes together with its table.
macro_rules! codes {
    (
        $(#[$meta:meta])*
        $name:ident {
            $($(#[$doc:meta])* $variant:ident = $letter:literal $number:literal, $status:ident, $text:expr, $expected:expr, $remedy:expr;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$doc])* #[doc = concat!("`` ", $text, " ``")] $variant,)*
        }

        impl $name {
            /// Every code of this layer, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            #[allow(clippy::as_conversions, clippy::char_lit_as_u8, reason = "a letter of ASCII")]
            const ROWS: &'static [$crate::error::table::Row] = &[$($crate::error::table::Row {
                number: $number,
                letter: $letter as u8,
                status: $crate::error::Status::$status,
            }),*];

            /// The row of the variant with that number.
            pub(super) fn row(number: u8) -> $crate::error::table::Row {
                let row = Self::ROWS.get(usize::from(number));
                row.copied().unwrap_or($crate::error::table::Row::NONE)
            }

            /// The number of a variant, from 0.
            #[allow(clippy::as_conversions, reason = "less than 256, see below")]
            pub(super) const fn number(self) -> u8 {
                const { assert!(Self::ALL.len() <= 256) };
                self as u8
            }

            /// The variant with that number.
            #[allow(dead_code, reason = "errors of small builds keep it")]
            pub(super) fn numbered(number: u8) -> Option<Self> {
                Self::ALL.get(usize::from(number)).copied()
            }

            /// The table row of this code. Where small code goes before speed, it has no words.
            #[must_use]
            pub fn info(self) -> $crate::error::Info {
                let row = Self::row(self.number());
                let (id, status) = (row.id(), row.status);
                if $crate::layout::SMALL {
                    return $crate::error::Info { id, variant: "", status, text: "", expected: "" };
                }
                let (variant, text, expected) = match self {
                    $(Self::$variant => (stringify!($variant), $text, $expected),)*
                };
                $crate::error::Info { id, variant, status, text, expected }
            }

            /// What the person can do; a sentence. It stands beside the row, so that a program which never says it
            /// does not carry it.
            #[must_use]
            pub const fn remedy(self) -> &'static str {
                match self {
                    $(Self::$variant => $remedy,)*
                }
            }
        }
    };
}
pub(super) use codes;

/// A text with its placeholders filled from a place.
pub(super) struct Template {
    pub(super) text: &'static str,
    pub(super) at: At,
}

impl Template {
    fn fill(&self, key: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let At { a, b, c, name, name2, .. } = &self.at;
        match key {
            "name" => write!(f, "{name}"),
            "name2" => write!(f, "{name2}"),
            "a" => write!(f, "{a}"),
            "b" => write!(f, "{b}"),
            "c" => write!(f, "{c}"),
            "a:x" => write!(f, "{a:x}"),
            "b:x" => write!(f, "{b:x}"),
            "c:x" => write!(f, "{c:x}"),
            "a:#x" => write!(f, "{a:#x}"),
            "b:#x" => write!(f, "{b:#x}"),
            "c:#x" => write!(f, "{c:#x}"),
            other => write!(f, "{{{other}}}"),
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.text;
        while let Some((before, tail)) = cut(rest, b'{') {
            f.write_str(before)?;
            let Some((key, after)) = cut(tail, b'}') else {
                f.write_str("{")?;
                rest = tail;
                continue;
            };
            self.fill(key, f)?;
            rest = after;
        }
        f.write_str(rest)
    }
}
