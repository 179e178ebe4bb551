//! A string as it stands between its quotes, and its characters.

use super::lexer::hex_digit;
use core::fmt;
use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// The raw inside of a validated JSON string or key: escapes are still escapes.
///
/// As a field of a bound struct (see [`super::Element::bind`]) it borrows from the element; it is
/// the type to use there, since a `&str` field would show the escapes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Text<'a> {
    raw: &'a [u8],
}

impl<'a> Text<'a> {
    /// Wraps the bytes between the quotes of a string that the lexer has accepted.
    #[must_use]
    pub const fn from_raw(raw: &'a [u8]) -> Self {
        Self { raw }
    }

    /// The bytes between the quotes.
    #[must_use]
    pub const fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// The characters, if they stand there without an escape.
    #[must_use]
    pub fn plain(self) -> Option<&'a [u8]> {
        (!self.raw.contains(&b'\\')).then_some(self.raw)
    }

    /// True if the string's characters are `bytes`.
    #[must_use]
    pub fn is(self, bytes: &[u8]) -> bool {
        match self.plain() {
            Some(plain) => plain == bytes,
            None => self.same(bytes),
        }
    }

    fn same(self, mut bytes: &[u8]) -> bool {
        for piece in self.pieces() {
            match bytes.strip_prefix(piece.as_bytes()) {
                Some(rest) => bytes = rest,
                None => return false,
            }
        }
        bytes.is_empty()
    }

    /// True if both strings have the same characters.
    #[must_use]
    pub fn equals(self, other: Text<'_>) -> bool {
        match (self.plain(), other.plain()) {
            (Some(a), Some(b)) => a == b,
            (Some(a), None) => other.is(a),
            (None, Some(b)) => self.is(b),
            (None, None) => self.bytes().eq(other.bytes()),
        }
    }

    /// The characters as bytes, one by one.
    pub fn bytes(self) -> impl Iterator<Item = u8> + 'a {
        self.pieces().flat_map(Piece::into_bytes)
    }

    /// Bytes of the unescaped string.
    #[must_use]
    pub fn len(self) -> usize {
        match self.plain() {
            Some(plain) => plain.len(),
            None => self.write(&mut []),
        }
    }

    /// True for `""`.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.raw.is_empty()
    }

    /// Writes the characters to the front of `out`; `None` if they do not fit.
    #[must_use]
    pub fn unescape(self, out: &mut [u8]) -> Option<&[u8]> {
        let len = self.write(out);
        out.get(..len)
    }

    /// Writes as many characters to `out` as fit, the last perhaps in part; returns the bytes of all.
    #[cfg_attr(small, inline(never))]
    pub(crate) fn write(self, out: &mut [u8]) -> usize {
        let mut used = 0usize;
        for piece in self.pieces() {
            let bytes = piece.as_bytes();
            crate::bytes::copy(out.get_mut(used..).unwrap_or(&mut []), bytes);
            used = used.saturating_add(bytes.len());
        }
        used
    }

    /// Runs of plain characters and single unescaped ones.
    fn pieces(self) -> Pieces<'a> {
        Pieces { rest: self.raw }
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.raw.escape_ascii())
    }
}

/// `serde-json-core` without an unescape buffer hands over the raw inside of a string.
impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Raw;
        impl<'de> Visitor<'de> for Raw {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a borrowed string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text { raw: text.as_bytes() })
            }
        }
        deserializer.deserialize_str(Raw)
    }
}

struct Pieces<'a> {
    rest: &'a [u8],
}

#[derive(Clone, Copy)]
enum Piece<'a> {
    Plain(&'a [u8]),
    Unescaped(Utf8),
}

impl<'a> Piece<'a> {
    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Unescaped(utf8) => utf8.as_bytes(),
        }
    }

    fn into_bytes(self) -> impl Iterator<Item = u8> + 'a {
        let (plain, utf8) = match self {
            Self::Plain(bytes) => (bytes, Utf8::EMPTY),
            Self::Unescaped(utf8) => ([].as_slice(), utf8),
        };
        plain.iter().copied().chain(utf8.bytes.into_iter().take(usize::from(utf8.len)))
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if let Some((utf8, used)) = unescape_one(self.rest) {
            self.rest = self.rest.get(used..)?;
            return Some(Piece::Unescaped(utf8));
        }
        let run = self.rest.iter().position(|&byte| byte == b'\\').unwrap_or(self.rest.len());
        let (plain, rest) = self.rest.split_at_checked(run)?;
        self.rest = rest;
        (!plain.is_empty()).then_some(Piece::Plain(plain))
    }
}

/// One character in UTF-8.
#[derive(Clone, Copy)]
pub(super) struct Utf8 {
    bytes: [u8; 4],
    len: u8,
}

impl Utf8 {
    const EMPTY: Self = Self { bytes: [0; 4], len: 0 };

    fn of(character: char) -> Self {
        let mut utf8 = Self::EMPTY;
        let len = character.encode_utf8(&mut utf8.bytes).len();
        utf8.len = u8::try_from(len).unwrap_or(0);
        utf8
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or(&[])
    }
}

/// The character that the escape at the front of `raw` stands for, and the escape's length;
/// `None` if there is no escape.
pub(super) fn unescape_one(raw: &[u8]) -> Option<(Utf8, usize)> {
    let (b'\\', &kind) = (raw.first()?, raw.get(1)?) else { return None };
    let (code, used) = match kind {
        b'b' => (0x08, 2),
        b'f' => (0x0C, 2),
        b'n' => (0x0A, 2),
        b'r' => (0x0D, 2),
        b't' => (0x09, 2),
        b'u' => unicode(raw)?,
        other => (u32::from(other), 2),
    };
    Some((Utf8::of(char::from_u32(code)?), used))
}

/// The code that a `\u` escape stands for, or two of them.
fn unicode(raw: &[u8]) -> Option<(u32, usize)> {
    let first = hex(raw.get(2..6)?)?;
    if !matches!(first, 0xD800..=0xDFFF) {
        return Some((first, 6));
    }
    let second = hex(raw.get(8..12)?)?;
    let high = first.wrapping_sub(0xD800).wrapping_shl(10);
    Some((high.wrapping_add(second).wrapping_sub(0xDC00).wrapping_add(0x1_0000), 12))
}

fn hex(digits: &[u8]) -> Option<u32> {
    let mut value = 0u32;
    for &digit in digits {
        value = value.wrapping_shl(4) | u32::from(hex_digit(digit)?);
    }
    Some(value)
}

#[cfg(test)]
mod tests;
