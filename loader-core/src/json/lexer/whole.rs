//! The quick way: tokens that are plain and all there, without a state in between.
//!
//! Each of these either takes its token whole or takes nothing, and is `None` for whatever is not
//! plain: the slow way then judges it, faults included. So both ways accept the same texts.

use super::super::kind::Kind;
use super::number::{after_integer, after_integers};
use super::text::after_plain;
use super::word::Word;
use super::{Lexer, State, wide};
use crate::layout::SMALL;

const SPACES: u64 = u64::from_le_bytes([b' '; 8]);

/// What follows the white space at the front; the spaces of an indentation go eight at a time.
pub(in crate::json) fn after_space(mut input: &[u8]) -> &[u8] {
    if input.first().is_some_and(|&byte| byte > b' ') {
        return input;
    }
    loop {
        while !SMALL
            && let Some((word, rest)) = input.split_first_chunk::<8>()
            && u64::from_le_bytes(*word) == SPACES
        {
            input = rest;
        }
        match input.split_first() {
            Some((b' ' | b'\n' | b'\t' | b'\r', rest)) => input = rest,
            _ => return input,
        }
    }
}

/// The way to a value within its container.
#[derive(Clone, Copy, Debug)]
pub(in crate::json) enum Start<'b> {
    /// In an object: the key, which is plain, and the offset of its opening quote.
    Field(&'b [u8], u64),
    /// In an array, or at the root.
    Item,
}

impl Lexer {
    /// The bytes between the values `input` and its rest, which the state already passed, are consumed.
    fn consumed<'b>(&mut self, input: &mut &'b [u8], rest: &'b [u8], state: State) {
        self.offset = self.offset.saturating_add(wide(input.len().saturating_sub(rest.len())));
        *input = rest;
        self.state = state;
    }

    /// Goes to the first byte of the next value: over a comma, a key of at most `longest` bytes and
    /// its colon, as they are due. `input` lies within [`Lexer::window`], here and below.
    pub(in crate::json) fn next_value<'b>(
        &mut self,
        input: &mut &'b [u8],
        longest: usize,
    ) -> Option<Start<'b>> {
        let mut rest = after_space(input);
        let in_object = self.stack.in_object();
        match self.state {
            State::After if self.depth() > 0 => rest = after_space(rest.strip_prefix(b",")?),
            State::FirstKey | State::NextKey => {}
            State::FirstItem | State::Value if !in_object => {}
            _ => return None,
        }
        if !in_object {
            // A bracket ends the array, or is a fault.
            let start = rest.first().filter(|&&byte| byte != b']').map(|_| Start::Item)?;
            self.consumed(input, rest, State::Value);
            return Some(start);
        }
        let back = wide(input.len().saturating_sub(rest.len()));
        let text = rest.strip_prefix(b"\"")?;
        let after = after_plain(text);
        let key = text.get(..text.len().saturating_sub(after.len()))?;
        let after = after_space(after.strip_prefix(b"\"")?).strip_prefix(b":")?;
        if key.len() > longest {
            return None;
        }
        let start = Start::Field(key, self.offset.saturating_add(back));
        self.consumed(input, after_space(after), State::Value);
        Some(start)
    }

    /// Takes the string, integer or word that `input` begins with.
    pub(in crate::json) fn scalar<'b>(&mut self, input: &mut &'b [u8]) -> Option<(Kind, &'b [u8])> {
        let text = *input;
        let (&first, after) = text.split_first()?;
        let due = matches!(self.state, State::Value);
        let kind = Kind::of(first).filter(|_| due)?;
        let rest = match kind {
            Kind::String => after_plain(after).strip_prefix(b"\"")?,
            Kind::Number => after_integer(text)?,
            Kind::True | Kind::False | Kind::Null => text.strip_prefix(Word::spelling(kind))?,
            Kind::Object | Kind::Array => return None,
        };
        self.consumed(input, rest, State::After);
        Some((kind, text.get(..text.len().saturating_sub(rest.len()))?))
    }

    /// Takes the opening bracket that `input` begins with.
    pub(in crate::json) fn opening(&mut self, input: &mut &[u8]) -> Option<Kind> {
        let (kind, state, rest) = match input.split_first()? {
            (b'{', rest) => (Kind::Object, State::FirstKey, rest),
            (b'[', rest) => (Kind::Array, State::FirstItem, rest),
            _ => return None,
        };
        if !matches!(self.state, State::Value) || !self.stack.push(matches!(kind, Kind::Object)) {
            return None;
        }
        self.consumed(input, rest, state);
        Some(kind)
    }

    /// Takes plain integers up to the end of the array that was just opened. True if that is all it has.
    pub(in crate::json) fn integers(&mut self, input: &mut &[u8]) -> bool {
        let due = matches!(self.state, State::FirstItem);
        let rest = if due { after_integers(input) } else { None };
        rest.map(|rest| self.end_container(input, rest)).is_some()
    }

    /// Takes the closing bracket of the innermost container.
    pub(in crate::json) fn closing(&mut self, input: &mut &[u8]) -> bool {
        let due = match self.state {
            State::After | State::FirstKey if self.stack.in_object() => b'}',
            State::After | State::FirstItem if self.depth() > 0 => b']',
            _ => return false,
        };
        let rest = after_space(input).split_first().filter(|(byte, _)| **byte == due);
        rest.map(|(_, rest)| self.end_container(input, rest)).is_some()
    }

    fn end_container<'b>(&mut self, input: &mut &'b [u8], rest: &'b [u8]) {
        self.stack.pop();
        self.consumed(input, rest, State::After);
    }
}
