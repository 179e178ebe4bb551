//! Whole numbers: their text, and arrays of them.

/// A whole number of any sign, as the grammar writes it: `-0` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    negative: bool,
    magnitude: u64,
}

impl Integer {
    /// The value, unless it was written with a sign.
    #[must_use]
    pub const fn u64(self) -> Option<u64> {
        if self.negative { None } else { Some(self.magnitude) }
    }

    /// The value, if 64 bits hold it.
    #[must_use]
    pub fn i64(self) -> Option<i64> {
        match self.negative {
            true => 0i64.checked_sub_unsigned(self.magnitude),
            false => i64::try_from(self.magnitude).ok(),
        }
    }

    /// The integer that is all of `text`, if 64 bits hold its digits.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        Self::front(text).filter(|(_, rest)| rest.is_empty()).map(|(integer, _)| integer)
    }

    /// The integer at the front of `text`, and what follows it.
    fn front(text: &[u8]) -> Option<(Self, &[u8])> {
        let (negative, digits) = match text.split_first()? {
            (b'-', digits) => (true, digits),
            _ => (false, text),
        };
        let (mut rest, mut magnitude) = (digits, 0u64);
        while let Some((&byte, after)) = rest.split_first()
            && let digit @ 0..=9 = byte.wrapping_sub(b'0')
        {
            magnitude = magnitude.checked_mul(10)?.checked_add(u64::from(digit))?;
            rest = after;
        }
        (rest.len() < digits.len()).then_some((Self { negative, magnitude }, rest))
    }
}

/// The items of an array of integers; `None` stands for an item that is none. See
/// [`super::Element::integers`].
#[derive(Clone, Copy, Debug)]
pub struct Integers<'a>(&'a [u8]);

impl<'a> Integers<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self(text.get(1..).unwrap_or(&[]))
    }
}

impl Iterator for Integers<'_> {
    type Item = Option<Integer>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some((b' ' | b'\n' | b'\t' | b'\r' | b',', rest)) = self.0.split_first() {
            self.0 = rest;
        }
        if matches!(self.0.first()?, b']') {
            return None;
        }
        let item = Integer::front(self.0);
        // A fraction or an exponent makes it another number.
        let item = item.filter(|(_, rest)| !matches!(rest.first(), Some(b'.' | b'e' | b'E')));
        self.0 = item.map_or(&[], |(_, rest)| rest);
        Some(item.map(|(integer, _)| integer))
    }
}
