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
        let mut rest = self.raw;
        while let Some(one) = Utf8::next(&mut rest) {
            match bytes.strip_prefix(one.as_bytes()) {
                Some(more) => bytes = more,
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
        let mut rest = self.raw;
        let characters = core::iter::from_fn(move || Utf8::next(&mut rest));
        characters.flat_map(|one| one.bytes.into_iter().take(usize::from(one.len)))
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
        let (mut used, mut rest) = (0usize, self.raw);
        while let Some(one) = Utf8::next(&mut rest) {
            crate::bytes::copy(out.get_mut(used..).unwrap_or(&mut []), one.as_bytes());
            used = used.saturating_add(usize::from(one.len));
        }
        used
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

/// A character in UTF-8, or a byte of one that stands without an escape.
#[derive(Clone, Copy)]
pub(super) struct Utf8 {
    bytes: [u8; 4],
    len: u8,
}

impl Utf8 {
    /// Takes the escape at the front of `raw`, else a byte; `None` at the end.
    #[cfg_attr(small, inline(never))]
    pub(super) fn next(raw: &mut &[u8]) -> Option<Self> {
        let (&byte, rest) = raw.split_first()?;
        let (code, used) = match (byte, rest.first()) {
            (b'\\', Some(b'b')) => (0x08, 2),
            (b'\\', Some(b'f')) => (0x0C, 2),
            (b'\\', Some(b'n')) => (0x0A, 2),
            (b'\\', Some(b'r')) => (0x0D, 2),
            (b'\\', Some(b't')) => (0x09, 2),
            (b'\\', Some(b'u')) => unicode(raw)?,
            (b'\\', Some(&other)) => (u32::from(other), 2),
            _ => {
                *raw = rest;
                return Some(Self { bytes: [byte, 0, 0, 0], len: 1 });
            }
        };
        *raw = raw.get(used..)?;
        Some(Self::of(code))
    }

    /// The character of that code, which is none of a surrogate.
    fn of(mut code: u32) -> Self {
        // The last byte first; with each the first one has less room, and another bit that says so.
        let (mut bytes, mut len, mut lead, mut room) = (0u32, 1u8, 0u32, 0x80u32);
        while code >= room {
            bytes = (bytes | 0x80 | code & 0x3F).wrapping_shl(8);
            code >>= 6;
            (len, lead, room) = (len.wrapping_add(1), lead >> 1 | 0xC0, (room >> 1).min(0x20));
        }
        Self { bytes: (bytes | lead | code).to_le_bytes(), len }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or(&[])
    }
}

/// The code that the `\u` escape at the front stands for, or two of them, and their length.
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
