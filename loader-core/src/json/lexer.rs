//! The lexer: strict RFC 8259, fed in pieces of any length, in constant memory.
//!
//! It judges and marks; it keeps no text. An event says that a value or a key begins or ends at the
//! present [`Lexer::offset`]; whoever wants the text takes it from the pieces between the two.
//!
//! Depth is a bit per level in a fixed array, so nesting costs no stack. Inside a string eight bytes
//! are looked at together.

mod number;
mod stack;
mod structure;
mod text;
mod whole;
mod word;

use super::fault::{Expected, Fault, Found};
use super::kind::Kind;
use crate::layout::SMALL;
use crate::limits::Limits;
use number::{Number, after_integers};
use stack::Stack;
use text::Text;

use word::Word;

pub(super) use text::{after_plain, hex_digit};
pub(super) use whole::Start;

/// The deepest nesting that any limit allows (manifests.md §3).
pub const DEPTH_MAX: u16 = 1024;

/// A boundary in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A value's first byte was just consumed: it lies at [`Lexer::offset`] − 1.
    Begin(Kind),
    /// A value's last byte lies at [`Lexer::offset`] − 1.
    End(Kind),
    /// The opening quote of a key was just consumed.
    Key,
    /// The closing quote of a key was just consumed.
    KeyEnd,
}

/// What the next byte may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the start, so many bytes of a byte-order mark in.
    Bom(u8),
    /// A value.
    Value,
    /// A value or `]`.
    FirstItem,
    /// A key or `}`.
    FirstKey,
    /// A key.
    NextKey,
    /// `:`
    Colon,
    /// After a value: a comma, an end, or at depth 0 nothing.
    After,
    /// Inside a key.
    KeyText(Text),
    /// Inside a string.
    StringText(Text),
    /// Inside a number.
    Number(Number),
    /// Inside a word.
    Word(Word),
}

/// A strict, streaming JSON lexer. See the module's page.
///
/// ```
/// use loader_core::json::{Event, Kind, Lexer};
/// use loader_core::limits::Limits;
///
/// let mut lexer = Lexer::new(&Limits::DEFAULT);
/// let mut events = 0;
/// for piece in [b"{\"size\"".as_slice(), b": 12", b"8}"] {
///     let mut rest = piece;
///     while let Some(event) = lexer.next(&mut rest).unwrap() {
///         events += 1;
///         if event == Event::End(Kind::Number) {
///             assert_eq!(lexer.offset(), 12);
///         }
///     }
/// }
/// assert_eq!(lexer.finish(), Ok(None));
/// assert_eq!(events, 6);
/// ```
#[derive(Clone, Debug)]
pub struct Lexer {
    state: State,
    stack: Stack,
    offset: u64,
    most: u64,
    escaped: bool,
}

impl Lexer {
    /// A lexer at the start of a document, bounded by `json_depth` and `json_bytes`.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            state: State::Bom(0),
            stack: Stack::new(limits.json_depth.min(DEPTH_MAX)),
            offset: 0,
            most: limits.json_bytes,
            escaped: false,
        }
    }

    /// Goes to the start of another document, with the same bounds.
    pub(super) const fn restart(&mut self) {
        self.state = State::Bom(0);
        self.stack.clear();
        (self.offset, self.escaped) = (0, false);
    }

    /// Bytes consumed so far.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Containers that are open.
    #[must_use]
    pub const fn depth(&self) -> u16 {
        self.stack.depth()
    }

    /// True if the last key was spelt with an escape.
    pub(super) const fn key_escaped(&self) -> bool {
        self.escaped
    }

    /// Consumes from the front of `input` up to the next event; `None` when all of it is consumed.
    ///
    /// # Errors
    /// The first [`Fault`]; the lexer is of no use after it.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Event>, Fault> {
        self.next_within(input, u16::MAX)
    }

    /// The same, passing over every event more than `depth` levels deep. After the `Begin` of a
    /// value in a container at that depth, the next event is the value's `End`.
    ///
    /// # Errors
    /// As [`Lexer::next`].
    pub fn next_within(&mut self, input: &mut &[u8], depth: u16) -> Result<Option<Event>, Fault> {
        let given = *input;
        let mut part = self.window(given);
        let before = part.len();
        let result = self.run(&mut part, depth);
        let used = before.saturating_sub(part.len());
        self.offset = self.offset.saturating_add(wide(used));
        *input = given.get(used..).unwrap_or(&[]);
        match result {
            Ok(None) if given.len() > before => Err(self.fault(Found::Size, Expected::Shorter)),
            Ok(event) => Ok(event),
            Err((found, expected)) => Err(self.fault(found, expected)),
        }
    }

    /// The document is complete. An event is due if it is a bare number, which ends here.
    ///
    /// # Errors
    /// The [`Fault`] of a document that ends too early.
    pub fn finish(&mut self) -> Result<Option<Event>, Fault> {
        let expected = match self.state {
            State::After if self.depth() == 0 => return Ok(None),
            State::Number(number) if self.depth() == 0 && number.may_end() => {
                self.state = State::After;
                return Ok(Some(Event::End(Kind::Number)));
            }
            State::Bom(1..) => Expected::Bom,
            State::FirstKey => Expected::Key,
            State::Number(number) if !number.may_end() => Expected::Digit,
            State::KeyText(text) | State::StringText(text) => text.expected(),
            State::Word(_) => Expected::Literal,
            _ => self.expected(),
        };
        Err(self.fault(Found::End, expected))
    }

    /// The part of `input` that the size limit leaves.
    pub(super) fn window<'b>(&self, input: &'b [u8]) -> &'b [u8] {
        let room = usize::try_from(self.most.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        input.get(..room).unwrap_or(input)
    }

    const fn fault(&self, found: Found, expected: Expected) -> Fault {
        Fault { offset: self.offset, found, expected }
    }

    /// Steps until an event at most `depth` deep. The bytes left in `input` tell how far it came;
    /// on an error its first byte is the culprit.
    fn run(&mut self, input: &mut &[u8], depth: u16) -> Step {
        loop {
            let event = match self.state {
                State::KeyText(text) => match text.run(input, &mut self.escaped)? {
                    Some(text) => return self.rest(State::KeyText(text)),
                    None => self.to(State::Colon, Event::KeyEnd),
                },
                State::StringText(text) => match text.run(input, &mut self.escaped)? {
                    Some(text) => return self.rest(State::StringText(text)),
                    None => self.to(State::After, Event::End(Kind::String)),
                },
                State::Number(number) => match number.run(input)? {
                    Some(number) => return self.rest(State::Number(number)),
                    None => self.to(State::After, Event::End(Kind::Number)),
                },
                State::Word(word) => match word.run(input)? {
                    Some(word) => return self.rest(State::Word(word)),
                    None => self.to(State::After, Event::End(word.kind)),
                },
                // Where small code goes before speed, the slow way only.
                State::FirstItem if !SMALL && self.depth() > depth => match after_integers(input) {
                    Some(rest) => self.passed(rest, input),
                    None => match self.structure(input)? {
                        Some(event) => event,
                        None => return Ok(None),
                    },
                },
                _ => match self.structure(input)? {
                    Some(event) => event,
                    None => return Ok(None),
                },
            };
            if self.level(event) <= depth {
                return Ok(Some(event));
            }
        }
    }

    /// Passes over an array of plain integers that nobody looks into.
    fn passed<'b>(&mut self, rest: &'b [u8], input: &mut &'b [u8]) -> Event {
        *input = rest;
        self.stack.pop();
        self.to(State::After, Event::End(Kind::Array))
    }

    fn rest(&mut self, state: State) -> Step {
        self.state = state;
        Ok(None)
    }

    fn to(&mut self, state: State, event: Event) -> Event {
        self.state = state;
        event
    }

    /// The depth of the container in which the event's value or key stands.
    fn level(&self, event: Event) -> u16 {
        match event {
            Event::Begin(kind) if kind.is_container() => self.depth().saturating_sub(1),
            _ => self.depth(),
        }
    }
}

type Step = Result<Option<Event>, Refusal>;

/// A fault whose offset the caller adds.
type Refusal = (Found, Expected);

/// Widens a length.
pub(super) fn wide(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
