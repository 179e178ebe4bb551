//! One validated value: its text, its place, and getters that follow manifests.md §3.

use super::fault::{Fault, Mismatch};
use super::integer::{Integer, Integers};
use super::kind::Kind;
use super::lexer::{Event, Lexer};
use super::text::Text;
use super::walk::{Fields, Items};
use crate::error::Error;
use crate::limits::Limits;

/// The complete text of one value that the lexer has accepted, without surrounding white space.
///
/// Looking into it copies nothing and never recurses. Its getters are the reference's: the
/// unsigned one refuses `-1`, `1.0`, `1e2` and `"1"`, the float one takes integers, and `null` is a
/// value of the wrong type.
///
/// ```
/// use loader_core::json::Element;
///
/// let text = br#"{"type": "file", "size": 128, "scale": 1, "print": null}"#;
/// let element = Element::parse(text, &Default::default()).unwrap();
/// assert_eq!(element.get("size").unwrap().u64(), Ok(128));
/// assert_eq!(element.get("scale").unwrap().f64(), Ok(1.0));
/// assert!(element.get("type").unwrap().text().unwrap().is(b"file"));
/// let refused = element.get("print").unwrap().u64().unwrap_err();
/// assert_eq!((refused.offset, refused.expected), (51, "an unsigned"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Element<'a> {
    text: &'a [u8],
    offset: u64,
}

type Got<T> = Result<T, Mismatch>;

impl<'a> Element<'a> {
    /// Wraps text that the lexer has accepted; `offset` is where it stands in its document.
    pub(super) const fn validated(text: &'a [u8], offset: u64) -> Self {
        Self { text, offset }
    }

    /// Validates a whole document in memory; its root may be of any kind.
    ///
    /// # Errors
    /// E120 or E121.
    pub fn parse(document: &'a [u8], limits: &Limits) -> Result<Self, Error> {
        Self::checked(document, limits).map_err(Fault::error)
    }

    fn checked(document: &'a [u8], limits: &Limits) -> Result<Self, Fault> {
        let mut lexer = Lexer::new(limits);
        let (mut rest, mut start, mut end) = (document, 0, 0);
        while let Some(event) = lexer.next_within(&mut rest, 0)? {
            match event {
                Event::Begin(_) => start = lexer.offset().saturating_sub(1),
                _ => end = lexer.offset(),
            }
        }
        if lexer.finish()?.is_some() {
            end = lexer.offset();
        }
        let span = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let text = span.and_then(|(start, end)| document.get(start..end)).unwrap_or(&[]);
        Ok(Self { text, offset: start })
    }

    /// The text.
    #[must_use]
    pub const fn bytes(self) -> &'a [u8] {
        self.text
    }

    /// Offset of the first byte in the document.
    #[must_use]
    pub const fn offset(self) -> u64 {
        self.offset
    }

    /// What the value is.
    #[must_use]
    pub fn kind(self) -> Kind {
        self.text.first().and_then(|&first| Kind::of(first)).unwrap_or(Kind::Null)
    }

    /// A refusal at this value.
    #[must_use]
    pub fn mismatch(self, expected: &'static str) -> Mismatch {
        Mismatch { offset: self.offset, found: self.kind(), expected }
    }

    /// An integer of any sign.
    pub(crate) fn as_integer(self) -> Option<Integer> {
        Integer::of(self.text)
    }

    /// An unsigned integer, as [`Element::u64`] without the words.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        self.as_integer().and_then(Integer::u64)
    }

    /// An unsigned integer below 2^32, as [`Element::u32`] without the words.
    #[must_use]
    pub fn as_u32(self) -> Option<u32> {
        self.as_u64().and_then(|n| u32::try_from(n).ok())
    }

    /// An unsigned integer below 2^8.
    #[must_use]
    pub fn as_u8(self) -> Option<u8> {
        self.as_u64().and_then(|n| u8::try_from(n).ok())
    }

    /// An integer, as [`Element::i64`] without the words.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        self.as_integer().and_then(Integer::i64)
    }

    /// An integer that 32 bits hold.
    #[must_use]
    pub fn as_i32(self) -> Option<i32> {
        self.as_i64().and_then(|n| i32::try_from(n).ok())
    }

    /// A number, as [`Element::f64`] without the words.
    #[must_use]
    pub fn as_f64(self) -> Option<f64> {
        let number = matches!(self.kind(), Kind::Number);
        let text = Some(self.text).filter(|_| number);
        let value = match crate::layout::SMALL {
            true => text.map(super::float::read),
            false => text.and_then(|text| crate::boundary::float(core::str::from_utf8(text).ok()?)),
        };
        value.filter(|n| n.is_finite())
    }

    /// `true`, `false`, `1` or `0`, as [`Element::flag`] without the words.
    #[must_use]
    pub fn as_flag(self) -> Option<bool> {
        match self.text {
            b"1" | b"true" => Some(true),
            b"0" | b"false" => Some(false),
            _ => None,
        }
    }

    /// A string, as [`Element::text`] without the words.
    #[must_use]
    pub fn as_text(self) -> Option<Text<'a>> {
        let inside = self.text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
        inside.map(Text::from_raw)
    }

    /// The items of an array, as [`Element::items`] without the words.
    #[must_use]
    pub fn as_items(self) -> Option<Items<'a>> {
        matches!(self.kind(), Kind::Array).then(|| Items::new(self.text, self.offset))
    }

    /// The integers of an array, as [`Element::integers`] without the words.
    #[must_use]
    pub fn as_integers(self) -> Option<Integers<'a>> {
        matches!(self.kind(), Kind::Array).then(|| Integers::new(self.text))
    }

    /// The fields of an object, as [`Element::fields`] without the words.
    #[must_use]
    pub fn as_fields(self) -> Option<Fields<'a>> {
        matches!(self.kind(), Kind::Object).then(|| Fields::new(self.text, self.offset))
    }

    /// An unsigned integer: digits only.
    ///
    /// # Errors
    /// Any other kind or spelling, and 2^64 and more.
    pub fn u64(self) -> Got<u64> {
        self.as_u64().ok_or_else(|| self.mismatch("an unsigned"))
    }

    /// An unsigned integer below 2^32.
    ///
    /// # Errors
    /// As [`Element::u64`].
    pub fn u32(self) -> Got<u32> {
        self.as_u32().ok_or_else(|| self.mismatch("a 32-bit uint"))
    }

    /// An integer: digits with at most a minus sign.
    ///
    /// # Errors
    /// Any other kind or spelling, and what 64 bits do not hold.
    pub fn i64(self) -> Got<i64> {
        self.as_i64().ok_or_else(|| self.mismatch("an integer"))
    }

    /// Any number that a double holds without becoming infinite.
    ///
    /// # Errors
    /// Any other kind, `1e999`.
    pub fn f64(self) -> Got<f64> {
        self.as_f64().ok_or_else(|| self.mismatch("a number"))
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// Any other kind.
    pub fn bool(self) -> Got<bool> {
        match self.kind() {
            Kind::True => Ok(true),
            Kind::False => Ok(false),
            _ => Err(self.mismatch("true or false")),
        }
    }

    /// `true`, `false`, `1` or `0`: for the keys whose table says "bool/uint".
    ///
    /// # Errors
    /// Anything else.
    pub fn flag(self) -> Got<bool> {
        self.as_flag().ok_or_else(|| self.mismatch("bool, 0 or 1"))
    }

    /// A string.
    ///
    /// # Errors
    /// Any other kind.
    pub fn text(self) -> Got<Text<'a>> {
        self.as_text().ok_or_else(|| self.mismatch("a string"))
    }

    /// The items of an array.
    ///
    /// # Errors
    /// Any other kind.
    pub fn items(self) -> Got<Items<'a>> {
        self.as_items().ok_or_else(|| self.mismatch("an array"))
    }

    /// The items of an array that should all be integers, read in one go.
    ///
    /// # Errors
    /// Any other kind.
    pub fn integers(self) -> Got<Integers<'a>> {
        self.as_integers().ok_or_else(|| self.mismatch("an array"))
    }

    /// The fields of an object, in the order of the text.
    ///
    /// # Errors
    /// Any other kind.
    pub fn fields(self) -> Got<Fields<'a>> {
        self.as_fields().ok_or_else(|| self.mismatch("an object"))
    }

    /// The first field of that name (§3: the first match counts); `None` also if this is no object.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Self> {
        let mut fields = self.as_fields()?;
        fields.find(|(name, _)| name.is(key.as_bytes())).map(|(_, value)| value)
    }
}

impl core::fmt::Debug for Element<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} at byte {}", self.text.escape_ascii(), self.offset)
    }
}
