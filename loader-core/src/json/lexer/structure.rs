//! The bytes between values: white space, brackets, commas, colons, and each value's first byte.

use super::super::fault::{Expected, Found};
use super::super::kind::Kind;
use super::number::Number;
use super::text::Text;
use super::whole::after_space;
use super::word::Word;
use super::{Event, Lexer, Refusal, State};

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// `None`: the byte made no event.
type Made = Result<Option<Event>, Refusal>;

/// Consumes the byte that was just looked at.
fn consume(input: &mut &[u8]) {
    *input = input.get(1..).unwrap_or(&[]);
}

impl Lexer {
    /// Consumes up to the next event that a byte between values makes; `None` when the input ends.
    pub(super) fn structure(&mut self, input: &mut &[u8]) -> Made {
        loop {
            if let State::Bom(seen) = self.state
                && !self.start(seen, input)?
            {
                return Ok(None);
            }
            *input = after_space(input);
            let Some(&byte) = input.first() else { return Ok(None) };
            let made = match self.state {
                State::After => self.after(byte)?,
                State::NextKey | State::FirstKey => Some(self.key(byte)?),
                State::Colon => self.colon(byte)?,
                State::FirstItem if byte == b']' => Some(self.close(Kind::Array)),
                _ => Some(self.begin(byte)?),
            };
            consume(input);
            if made.is_some() {
                return Ok(made);
            }
        }
    }

    fn refused<T>(&self, byte: u8) -> Result<T, Refusal> {
        Err((Found::Byte(byte), self.expected()))
    }

    fn after(&mut self, byte: u8) -> Made {
        let inside = self.depth() > 0;
        match (byte, self.stack.in_object()) {
            (b',', true) => self.state = State::NextKey,
            (b',', false) if inside => self.state = State::Value,
            (b'}', true) => return Ok(Some(self.close(Kind::Object))),
            (b']', false) if inside => return Ok(Some(self.close(Kind::Array))),
            _ => return self.refused(byte),
        }
        Ok(None)
    }

    fn key(&mut self, byte: u8) -> Result<Event, Refusal> {
        match byte {
            b'"' => {
                self.escaped = false;
                Ok(self.to(State::KeyText(Text::Plain), Event::Key))
            }
            b'}' if self.state == State::FirstKey => Ok(self.close(Kind::Object)),
            _ => self.refused(byte),
        }
    }

    fn colon(&mut self, byte: u8) -> Made {
        if byte != b':' {
            return self.refused(byte);
        }
        self.state = State::Value;
        Ok(None)
    }

    fn close(&mut self, kind: Kind) -> Event {
        self.stack.pop();
        self.to(State::After, Event::End(kind))
    }

    /// The first byte of a value.
    fn begin(&mut self, byte: u8) -> Result<Event, Refusal> {
        let Some(kind) = Kind::of(byte) else {
            return Err((Found::Byte(byte), Expected::Value));
        };
        self.state = match kind {
            Kind::Object => self.open(true)?,
            Kind::Array => self.open(false)?,
            Kind::String => State::StringText(Text::Plain),
            Kind::Number => State::Number(Number::start(byte)),
            Kind::True | Kind::False | Kind::Null => State::Word(Word::start(kind)),
        };
        Ok(Event::Begin(kind))
    }

    fn open(&mut self, object: bool) -> Result<State, Refusal> {
        if !self.stack.push(object) {
            return Err((Found::Depth, Expected::Shallower));
        }
        Ok(if object { State::FirstKey } else { State::FirstItem })
    }

    /// The very start: one byte-order mark is skipped (§3). False when the input ends within it.
    fn start(&mut self, mut seen: u8, input: &mut &[u8]) -> Result<bool, Refusal> {
        while seen < 3 {
            let Some((&byte, rest)) = input.split_first() else { return Ok(false) };
            if BOM.get(usize::from(seen)) != Some(&byte) {
                if seen != 0 {
                    return Err((Found::Byte(byte), Expected::Bom));
                }
                break;
            }
            seen = seen.saturating_add(1);
            self.state = State::Bom(seen);
            *input = rest;
        }
        self.state = State::Value;
        Ok(true)
    }

    /// What the present state, between values or at the end of one, waits for.
    pub(super) fn expected(&self) -> Expected {
        match self.state {
            State::FirstKey => Expected::KeyOrEnd,
            State::NextKey => Expected::Key,
            State::Colon => Expected::Colon,
            State::After if self.depth() == 0 => Expected::Nothing,
            State::After | State::Number(_) if self.stack.in_object() => Expected::CommaOrBrace,
            State::After | State::Number(_) => Expected::CommaOrBracket,
            _ => Expected::Value,
        }
    }
}
