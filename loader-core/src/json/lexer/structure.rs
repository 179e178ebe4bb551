//! The bytes between values: white space, brackets, commas, colons, and each value's first byte.

use super::super::fault::{Expected, Found};
use super::super::kind::Kind;
use super::number::Number;
use super::text::Text;
use super::{Event, Lexer, Refusal, State, Step};

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

impl Lexer {
    /// Consumes up to the next event that a byte between values makes.
    pub(super) fn structure(&mut self, input: &mut &[u8]) -> Step {
        while let Some((&byte, rest)) = input.split_first() {
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                let event = self.significant(byte)?;
                *input = rest;
                if event.is_some() {
                    return Ok(event);
                }
                continue;
            }
            if let State::Bom(seen) = self.state {
                self.start(seen, byte)?;
            }
            *input = rest;
        }
        Ok(None)
    }

    /// A byte that is not white space.
    fn significant(&mut self, byte: u8) -> Step {
        match (self.state, byte) {
            (State::After, b',') if self.depth() > 0 => {
                self.state = if self.stack.in_object() { State::NextKey } else { State::Value };
                Ok(None)
            }
            (State::After, b'}') if self.stack.in_object() => Ok(Some(self.close(Kind::Object))),
            (State::After, b']') if self.depth() > 0 && !self.stack.in_object() => {
                Ok(Some(self.close(Kind::Array)))
            }
            (State::FirstKey | State::NextKey, b'"') => {
                Ok(Some(self.to(State::KeyText(Text::Plain), Event::Key)))
            }
            (State::FirstKey, b'}') => Ok(Some(self.close(Kind::Object))),
            (State::FirstItem, b']') => Ok(Some(self.close(Kind::Array))),
            (State::Colon, b':') => {
                self.state = State::Value;
                Ok(None)
            }
            (State::Value | State::FirstItem, _) => self.begin(byte),
            (State::Bom(seen), _) => self.bom(seen, byte),
            _ => Err((Found::Byte(byte), self.expected())),
        }
    }

    fn close(&mut self, kind: Kind) -> Event {
        self.stack.pop();
        self.to(State::After, Event::End(kind))
    }

    /// The first byte of a value.
    fn begin(&mut self, byte: u8) -> Step {
        let Some(kind) = Kind::of(byte) else {
            return Err((Found::Byte(byte), Expected::Value));
        };
        self.state = match kind {
            Kind::Object => self.open(true)?,
            Kind::Array => self.open(false)?,
            Kind::String => State::StringText(Text::Plain),
            Kind::Number => State::Number(Number::start(byte)),
            Kind::True => State::Word(kind, b"rue"),
            Kind::False => State::Word(kind, b"alse"),
            Kind::Null => State::Word(kind, b"ull"),
        };
        Ok(Some(Event::Begin(kind)))
    }

    fn open(&mut self, object: bool) -> Result<State, Refusal> {
        if !self.stack.push(object) {
            return Err((Found::Depth, Expected::Shallower));
        }
        Ok(if object { State::FirstKey } else { State::FirstItem })
    }

    /// A byte at the very start: of a byte-order mark (§3: one is skipped), or of the root.
    fn bom(&mut self, seen: u8, byte: u8) -> Step {
        let place = usize::from(seen);
        if BOM.get(place) == Some(&byte) {
            let seen = seen.saturating_add(1);
            self.state = if seen == 3 { State::Value } else { State::Bom(seen) };
            return Ok(None);
        }
        if seen != 0 {
            return Err((Found::Byte(byte), Expected::Bom));
        }
        self.begin(byte)
    }

    /// White space at the very start.
    fn start(&mut self, seen: u8, byte: u8) -> Result<(), Refusal> {
        if seen != 0 {
            return Err((Found::Byte(byte), Expected::Bom));
        }
        self.state = State::Value;
        Ok(())
    }

    /// What the present state between values waits for.
    pub(super) fn expected(&self) -> Expected {
        match self.state {
            State::FirstKey => Expected::KeyOrEnd,
            State::NextKey => Expected::Key,
            State::Colon => Expected::Colon,
            State::After if self.depth() == 0 => Expected::Nothing,
            State::After if self.stack.in_object() => Expected::CommaOrBrace,
            State::After => Expected::CommaOrBracket,
            _ => Expected::Value,
        }
    }
}
