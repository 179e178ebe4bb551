//! The number grammar: `-? (0 | [1-9][0-9]*) (\.[0-9]+)? ([eE][+-]?[0-9]+)?`

use super::super::fault::{Expected, Found};
use super::Refusal;
use super::whole::after_space;

/// What of a number was seen last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Minus,
    Zero,
    Integer,
    Dot,
    Fraction,
    E,
    Sign,
    Exponent,
}

/// What a byte is to a number: a zero, another digit, the point, the `e`, a sign.
const CLASSES: usize = 5;

fn class(byte: u8) -> usize {
    match byte {
        b'0' => 0,
        b'1'..=b'9' => 1,
        b'.' => 2,
        b'e' | b'E' => 3,
        b'+' | b'-' => 4,
        _ => CLASSES,
    }
}

/// What comes after what, by classes of bytes; in the order of [`Number`].
const NEXT: [[Option<Number>; CLASSES]; 8] = {
    use Number::{Dot, E, Exponent, Fraction, Integer, Sign, Zero};
    [
        [Some(Zero), Some(Integer), None, None, None],
        [None, None, Some(Dot), Some(E), None],
        [Some(Integer), Some(Integer), Some(Dot), Some(E), None],
        [Some(Fraction), Some(Fraction), None, None, None],
        [Some(Fraction), Some(Fraction), None, Some(E), None],
        [Some(Exponent), Some(Exponent), None, None, Some(Sign)],
        [Some(Exponent), Some(Exponent), None, None, None],
        [Some(Exponent), Some(Exponent), None, None, None],
    ]
};

impl Number {
    /// The state after a number's first byte.
    pub(super) const fn start(byte: u8) -> Self {
        match byte {
            b'-' => Self::Minus,
            b'0' => Self::Zero,
            _ => Self::Integer,
        }
    }

    /// True if the number is complete as it stands.
    pub(super) const fn may_end(self) -> bool {
        matches!(self, Self::Zero | Self::Integer | Self::Fraction | Self::Exponent)
    }

    /// True if any number of digits may follow.
    const fn may_repeat(self) -> bool {
        matches!(self, Self::Integer | Self::Fraction | Self::Exponent)
    }

    #[allow(clippy::as_conversions, reason = "the number of a variant, from 0")]
    fn next(self, byte: u8) -> Option<Self> {
        NEXT.get(self as usize)?.get(class(byte)).copied().flatten()
    }

    /// Consumes the rest of the number, not the byte after it; `Some(state)` when the input ends
    /// first, since more digits may come.
    pub(super) fn run(mut self, input: &mut &[u8]) -> Result<Option<Self>, Refusal> {
        while let Some((&byte, rest)) = input.split_first() {
            match self.next(byte) {
                Some(next) => {
                    (self, *input) = (next, if next.may_repeat() { after_digits(rest) } else { rest })
                }
                None if self.may_end() => return Ok(None),
                None => return Err((Found::Byte(byte), Expected::Digit)),
            }
        }
        Ok(Some(self))
    }
}

/// What follows the digits at the front.
fn after_digits(mut input: &[u8]) -> &[u8] {
    while let Some((b'0'..=b'9', rest)) = input.split_first() {
        input = rest;
    }
    input
}

/// What follows the plain integer at the front; `None` if there is none, it goes on as a fraction or
/// an exponent, or no byte follows that would end it.
pub(super) fn after_integer(input: &[u8]) -> Option<&[u8]> {
    let unsigned = input.strip_prefix(b"-").unwrap_or(input);
    let rest = match unsigned.split_first()? {
        (b'0', rest) => rest,
        (b'1'..=b'9', rest) => after_digits(rest),
        _ => return None,
    };
    (!matches!(rest.first()?, b'.' | b'e' | b'E')).then_some(rest)
}

/// What follows an array of plain integers; its `[` was consumed. `None` if it is none, or not all there:
/// the slow way then judges it.
pub(super) fn after_integers(mut input: &[u8]) -> Option<&[u8]> {
    if let Some(rest) = after_space(input).strip_prefix(b"]") {
        return Some(rest);
    }
    loop {
        input = after_space(after_integer(after_space(input))?);
        input = match input.split_first()? {
            (b',', rest) => rest,
            (b']', rest) => return Some(rest),
            _ => return None,
        };
    }
}
