//! The inside of a string or key: escapes, surrogate pairs, UTF-8.

use super::super::fault::{Expected, Found};
use super::Refusal;
use crate::layout::SMALL;

/// Where in a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// Between characters.
    Plain,
    /// After a backslash.
    Escape,
    /// In a `\u` escape: hex digits still to come, value so far, and whether it must be low.
    Hex { left: u8, value: u16, low: bool },
    /// After a high surrogate: the backslash of the low one.
    PairSlash,
    /// After a high surrogate and a backslash: the `u`.
    PairU,
    /// In a UTF-8 sequence: bytes to come after the next, and the next one's range.
    Tail { left: u8, from: u8, to: u8 },
}

type Moved = Result<Text, Refusal>;

impl Text {
    /// What the text lacks if it ends here.
    pub(super) const fn expected(self) -> Expected {
        match self {
            Self::Plain => Expected::Pair,
            Self::Escape => Expected::Escape,
            Self::Hex { .. } => Expected::HexDigit,
            Self::PairSlash | Self::PairU => Expected::LowSurrogate,
            Self::Tail { .. } => Expected::Utf8,
        }
    }

    /// Consumes up to and with the closing quote; `Some(state)` when the input ends first.
    /// `escaped` is set if there was an escape.
    pub(super) fn run(mut self, input: &mut &[u8], escaped: &mut bool) -> Result<Option<Self>, Refusal> {
        loop {
            if self == Self::Plain {
                *input = after_plain(input);
            }
            let Some((&byte, rest)) = input.split_first() else { return Ok(Some(self)) };
            if self == Self::Plain && byte == b'"' {
                *input = rest;
                return Ok(None);
            }
            *escaped |= byte == b'\\';
            self = self.next(byte)?;
            *input = rest;
        }
    }

    fn next(self, byte: u8) -> Moved {
        match self {
            Self::Plain => plain(byte),
            Self::Escape => escape(byte),
            Self::Hex { left, value, low } => hex(byte, left, value, low),
            Self::PairSlash if byte == b'\\' => Ok(Self::PairU),
            Self::PairU if byte == b'u' => Ok(Self::Hex { left: 4, value: 0, low: true }),
            Self::PairSlash | Self::PairU => Err((Found::LoneSurrogate, Expected::LowSurrogate)),
            Self::Tail { left, from, to } if (from..=to).contains(&byte) => Ok(tail(left)),
            Self::Tail { .. } => Err((Found::Byte(byte), Expected::Utf8)),
        }
    }
}

/// First bytes of characters beyond ASCII, up to which they go: how many bytes follow the second, and its range.
const LEADS: [(u8, u8, u8, u8); 10] = [
    (0xC1, 0, 1, 0), // nothing begins so
    (0xDF, 0, 0x80, 0xBF),
    (0xE0, 1, 0xA0, 0xBF),
    (0xEC, 1, 0x80, 0xBF),
    (0xED, 1, 0x80, 0x9F),
    (0xEF, 1, 0x80, 0xBF),
    (0xF0, 2, 0x90, 0xBF),
    (0xF3, 2, 0x80, 0xBF),
    (0xF4, 2, 0x80, 0x8F),
    (0xFF, 0, 1, 0), // nothing begins so
];

/// One byte between characters; the closing quote was handled before.
fn plain(byte: u8) -> Moved {
    match byte {
        b'\\' => Ok(Text::Escape),
        0x00..=0x1F => Err((Found::Byte(byte), Expected::PlainCharacter)),
        0x20..=0x7F => Ok(Text::Plain),
        _ => match LEADS.iter().find(|row| byte <= row.0) {
            Some(&(_, left, from, to)) if from < to => Ok(Text::Tail { left, from, to }),
            _ => Err((Found::Byte(byte), Expected::Utf8)),
        },
    }
}

const fn tail(left: u8) -> Text {
    match left.checked_sub(1) {
        Some(left) => Text::Tail { left, from: 0x80, to: 0xBF },
        None => Text::Plain,
    }
}

fn escape(byte: u8) -> Moved {
    match byte {
        _ if b"\"\\/bfnrt".contains(&byte) => Ok(Text::Plain),
        b'u' => Ok(Text::Hex { left: 4, value: 0, low: false }),
        _ => Err((Found::Byte(byte), Expected::Escape)),
    }
}

/// The upper six bits of the halves of a pair: 0xD800 to 0xDBFF, 0xDC00 to 0xDFFF.
const HIGH: u16 = 0xD800 >> 10;
const LOW: u16 = 0xDC00 >> 10;

fn hex(byte: u8, left: u8, value: u16, low: bool) -> Moved {
    let Some(digit) = hex_digit(byte) else {
        return Err((Found::Byte(byte), Expected::HexDigit));
    };
    let value = value.wrapping_shl(4) | digit;
    if left > 1 {
        return Ok(Text::Hex { left: left.saturating_sub(1), value, low });
    }
    match (value >> 10, low) {
        (LOW, true) => Ok(Text::Plain),
        (_, true) => Err((Found::LoneSurrogate, Expected::LowSurrogate)),
        (HIGH, false) => Ok(Text::PairSlash),
        (LOW, false) => Err((Found::LoneSurrogate, Expected::Pair)),
        _ => Ok(Text::Plain),
    }
}

/// The value of a hex digit.
#[cfg_attr(small, inline(never))]
pub(in crate::json) fn hex_digit(byte: u8) -> Option<u16> {
    let digit = char::from(byte).to_digit(16)?;
    u16::try_from(digit).ok()
}

const ONES: u64 = u64::from_le_bytes([0x01; 8]);
const HIGHS: u64 = u64::from_le_bytes([0x80; 8]);

/// Marks the bytes of a word that end a plain run: quote, backslash, control, non-ASCII. The lowest
/// mark is exact; ones above it need not be.
const fn special(word: u64) -> u64 {
    let quote = word ^ u64::from_le_bytes([b'"'; 8]);
    let slash = word ^ u64::from_le_bytes([b'\\'; 8]);
    let control = word.wrapping_sub(u64::from_le_bytes([0x20; 8]));
    let zero = (quote.wrapping_sub(ONES) & !quote) | (slash.wrapping_sub(ONES) & !slash);
    (zero | (control & !word) | word) & HIGHS
}

/// What follows the plain characters at the front of `input`.
pub(in crate::json) fn after_plain(mut input: &[u8]) -> &[u8] {
    while !SMALL && let Some((word, rest)) = input.split_first_chunk::<8>() {
        let marks = special(u64::from_le_bytes(*word));
        if marks != 0 {
            let count = usize::try_from(marks.trailing_zeros() >> 3).unwrap_or(0);
            return input.get(count..).unwrap_or(&[]);
        }
        input = rest;
    }
    while let Some((&byte, rest)) = input.split_first() {
        if !matches!(byte, 0x20..=0x7F) || byte == b'"' || byte == b'\\' {
            break;
        }
        input = rest;
    }
    input
}
