//! The place in the error itself.

use super::Part;
use crate::error::table::Row;
use crate::error::{At, Code, Name, Stage};
use crate::source::MemberId;

/// What an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::error) struct Kept {
    stage: Stage,
    code: Code,
    at: At,
}

/// An error that needs nothing else.
pub(in crate::error) type Whole = Kept;

impl Kept {
    pub(in crate::error) const fn new(stage: Stage, code: Code) -> Self {
        Self { stage, code, at: At::NOWHERE }
    }

    pub(in crate::error) const fn stage(&self) -> Stage {
        self.stage
    }

    pub(in crate::error) const fn of_stage(self, stage: Stage) -> Self {
        Self { stage, ..self }
    }

    pub(in crate::error) const fn code(&self) -> Code {
        self.code
    }

    pub(in crate::error) const fn numbers(&self) -> [u8; 2] {
        self.code.numbers()
    }

    pub(in crate::error) fn row(&self) -> Row {
        Code::row(self.numbers())
    }

    pub(in crate::error) const fn at(&self) -> At {
        self.at
    }

    /// Whether the place has that part.
    pub(in crate::error) const fn has(&self, part: Part) -> bool {
        match part {
            Part::Member => self.at.member.is_some(),
            Part::Offset => self.at.offset.is_some(),
            Part::Element => self.at.element.is_some(),
            Part::Subgraph => self.at.subgraph.is_some(),
            Part::A | Part::B | Part::C => true,
        }
    }

    /// The same with that part, which has as many bits as its field.
    pub(in crate::error) fn with(mut self, part: Part, number: u64) -> Self {
        let word = u32::try_from(number).unwrap_or(u32::MAX);
        match part {
            Part::Member => self.at.member = Some(MemberId(word)),
            Part::Offset => self.at.offset = Some(number),
            Part::Element => self.at.element = Some(word),
            Part::Subgraph => self.at.subgraph = Some(u8::try_from(number).unwrap_or(u8::MAX)),
            Part::A => self.at.a = number,
            Part::B => self.at.b = number,
            Part::C => self.at.c = number,
        }
        self
    }

    pub(in crate::error) const fn named(mut self, name: &Name<32>) -> Self {
        self.at.name = *name;
        self
    }

    pub(in crate::error) const fn named2(mut self, name: &Name<16>) -> Self {
        self.at.name2 = *name;
        self
    }

    pub(in crate::error) const fn whole(self) -> Whole {
        self
    }

    pub(in crate::error) const fn kept(&self) -> Self {
        *self
    }
}
