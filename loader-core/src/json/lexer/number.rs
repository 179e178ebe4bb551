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

enum Next {
    Go(Number),
    End,
    Bad,
}

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

    const fn next(self, byte: u8) -> Next {
        match (self, byte) {
            (Self::Minus, b'0') => Next::Go(Self::Zero),
            (Self::Minus | Self::Integer, b'0'..=b'9') => Next::Go(Self::Integer),
            (Self::Zero | Self::Integer, b'.') => Next::Go(Self::Dot),
            (Self::Dot | Self::Fraction, b'0'..=b'9') => Next::Go(Self::Fraction),
            (Self::Zero | Self::Integer | Self::Fraction, b'e' | b'E') => Next::Go(Self::E),
            (Self::E, b'+' | b'-') => Next::Go(Self::Sign),
            (Self::E | Self::Sign | Self::Exponent, b'0'..=b'9') => Next::Go(Self::Exponent),
            _ if self.may_end() => Next::End,
            _ => Next::Bad,
        }
    }

    /// Consumes the rest of the number, not the byte after it; `Some(state)` when the input ends
    /// first, since more digits may come.
    pub(super) fn run(mut self, input: &mut &[u8]) -> Result<Option<Self>, Refusal> {
        while let Some((&byte, rest)) = input.split_first() {
            match self.next(byte) {
                Next::Go(next) => {
                    (self, *input) = (next, if next.may_repeat() { after_digits(rest) } else { rest })
                }
                Next::End => return Ok(None),
                Next::Bad => return Err((Found::Byte(byte), Expected::Digit)),
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
