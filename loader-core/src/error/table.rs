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
    /// What a correct file would have had; a noun clause, or empty.
    pub expected: &'static str,
    /// What the person can do; a sentence, or empty.
    pub remedy: &'static str,
}

/// What a program needs of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) letter: char,
    pub(super) number: u16,
    pub(super) status: Status,
}

impl Row {
    /// No variant has this row.
    pub(super) const NONE: Self = Self { letter: '?', number: 0, status: Status::Failure };

    pub(super) const fn id(self) -> Id {
        Id { letter: self.letter, number: self.number }
    }
}

/// Row `index` with what the lines of `texts` say about it.
pub(super) fn said(row: Row, texts: &'static str, index: usize) -> Info {
    let parts = if crate::layout::SMALL { 1 } else { 4 };
    let mut rest = texts;
    let mut next = || {
        let (line, after) = cut(rest, b'\n').unwrap_or(("", ""));
        rest = after;
        line
    };
    for _ in 0..index.saturating_mul(parts) {
        next();
    }
    let variant = if crate::layout::SMALL { "" } else { next() };
    let text = next();
    let [expected, remedy] = if crate::layout::SMALL { [""; 2] } else { [next(), next()] };
    Info { id: row.id(), variant, status: row.status, text, expected, remedy }
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

            const ROWS: &'static [$crate::error::table::Row] = &[$($crate::error::table::Row {
                letter: $letter,
                number: $number,
                status: $crate::error::Status::$status,
            }),*];

            /// What is said about each row, one line for each part: one string needs no table of pointers.
            const TEXTS: &'static str = if $crate::layout::SMALL {
                concat!($($text, "\n"),*)
            } else {
                concat!($(stringify!($variant), "\n", $text, "\n", $expected, "\n", $remedy, "\n"),*)
            };

            #[allow(clippy::as_conversions, reason = "the number of a variant, from 0")]
            pub(super) fn row(self) -> $crate::error::table::Row {
                Self::ROWS.get(self as usize).copied().unwrap_or($crate::error::table::Row::NONE)
            }

            /// The table row of this code. Where small code goes before speed, it has no name, expectation or
            /// remedy.
            #[must_use]
            #[allow(clippy::as_conversions, reason = "the number of a variant, from 0")]
            pub fn info(self) -> $crate::error::Info {
                $crate::error::table::said(self.row(), Self::TEXTS, self as usize)
            }
        }
    };
}
pub(super) use codes;

/// A text with its placeholders filled from a place.
pub(super) struct Template<'a> {
    pub(super) text: &'static str,
    pub(super) at: &'a At,
}

impl Template<'_> {
    fn fill(&self, key: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let At { a, b, c, name, name2, .. } = self.at;
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

impl fmt::Display for Template<'_> {
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
