//! Why a text is not the JSON that was asked for, in two words: what was found, what was expected.

use crate::error::{Code, Error, ManifestCode, Stage};

/// What stood where something else belonged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A byte that has no place there.
    Byte(u8),
    /// The text ended.
    End,
    /// A `\u` escape that is half of a surrogate pair.
    LoneSurrogate,
    /// Containers nested deeper than the limit.
    Depth,
    /// More bytes than the limit allows.
    Size,
}

/// What would have been right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words of `name` say it")]
pub enum Expected {
    Value,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrBrace,
    CommaOrBracket,
    Digit,
    HexDigit,
    Escape,
    Utf8,
    PlainCharacter,
    Literal,
    LowSurrogate,
    Pair,
    Bom,
    Nothing,
    Shallower,
    Shorter,
}

impl Expected {
    const fn name(self) -> &'static str {
        match self {
            Self::Value => "a value",
            Self::Key => "a key",
            Self::KeyOrEnd => "a key or '}'",
            Self::Colon => "':'",
            Self::CommaOrBrace => "',' or '}'",
            Self::CommaOrBracket => "',' or ']'",
            Self::Digit => "a digit",
            Self::HexDigit => "a hex digit",
            Self::Escape => "an escape",
            Self::Utf8 => "valid UTF-8",
            Self::PlainCharacter => "no control byte",
            Self::Literal => "true/false/null",
            Self::LowSurrogate => "a low surrogate",
            Self::Pair => "a pair",
            Self::Bom => "a whole BOM",
            Self::Nothing => "the end",
            Self::Shallower => "fewer levels",
            Self::Shorter => "fewer bytes",
        }
    }
}

/// A refusal of the lexer. Small, so that the hot loop returns it in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Offset of the offending byte, from the start of the document (its BOM included).
    pub offset: u64,
    /// What was found.
    pub found: Found,
    /// What was expected.
    pub expected: Expected,
}

impl Fault {
    /// The same as a loader error: E120 for the size, E121 for everything else.
    #[must_use]
    pub fn error(self) -> Error {
        let code = match self.found {
            Found::Size => ManifestCode::JsonTooLarge,
            _ => ManifestCode::JsonMalformed,
        };
        let error = Error::new(Stage::Manifest, code).offset(self.offset);
        let error = error.name2(self.expected.name().as_bytes());
        match self.found {
            Found::Byte(byte @ 0x21..=0x7E) => error.name(&[b'\'', byte, b'\'']),
            Found::Byte(byte) => error.name(&hex_byte(byte)),
            Found::End => error.name(b"the end of the text"),
            Found::LoneSurrogate => error.name(b"half a surrogate pair"),
            Found::Depth => error.name(b"nesting beyond the limit"),
            Found::Size => error.numbers(self.offset.saturating_add(1), self.offset),
        }
    }
}

fn hex_byte(byte: u8) -> [u8; 9] {
    let digit = |nibble: u8| b"0123456789abcdef".get(usize::from(nibble)).copied().unwrap_or(b'?');
    let [b, y, t, e, space, zero, x] = *b"byte 0x";
    [b, y, t, e, space, zero, x, digit(byte >> 4), digit(byte & 15)]
}

/// A well-formed value that is not of the kind that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Offset of the value's first byte in its document.
    pub offset: u64,
    /// The kind that stands there.
    pub found: super::Kind,
    /// The kind that was asked for, as a noun clause of at most 16 bytes.
    pub expected: &'static str,
}

impl Mismatch {
    /// The same as a loader error with the code that the caller's key has.
    /// The offset is set, the first name is the found kind, the second the expected one.
    #[must_use]
    pub fn error(self, stage: Stage, code: impl Into<Code>) -> Error {
        let error = Error::new(stage, code).offset(self.offset);
        error.name(self.found.name().as_bytes()).name2(self.expected.as_bytes())
    }
}
