//! What an error says.

use super::table::Template;
use super::{At, Error};
use crate::layout::SMALL;
use crate::source::MemberId;
use core::fmt;

impl At {
    /// What would fill the placeholders of a text that is not there: ` inf1 a=2`.
    fn bare(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.name.is_empty() {
            write!(f, " {}", self.name)?;
        }
        if !self.name2.is_empty() {
            write!(f, " {}", self.name2)?;
        }
        for (key, number) in [('a', self.a), ('b', self.b), ('c', self.c)] {
            if number != 0 {
                write!(f, " {key}={number}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Whole(Message { error: self, name: |_| None::<&[u8]> }), f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for Error {}

/// What an error says of a member, by a name that `name` finds.
pub(super) struct Message<'a, F> {
    pub(super) error: &'a Error,
    pub(super) name: F,
}

impl<'n, F: Fn(MemberId) -> Option<&'n [u8]>> fmt::Display for Message<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (stage, at) = (self.error.stage(), self.error.at());
        write!(f, "{}", self.error.id())?;
        if SMALL {
            at.bare(f)?
        } else {
            write!(f, " {}", self.error.log())?
        }
        let mut place = Parts { f, open: false };
        match at.member {
            Some(id) => match (self.name)(id) {
                Some(name) => place.part(format_args!("{}", name.escape_ascii()))?,
                None => place.part(format_args!("member {}", id.0))?,
            },
            None => place.part(format_args!("{}", stage.name()))?,
        }
        if let Some(offset) = at.offset {
            place.part(format_args!("byte {offset}"))?;
        }
        if let Some(element) = at.element {
            place.part(format_args!("element {element}"))?;
        }
        if let Some(subgraph) = at.subgraph {
            place.part(format_args!("subgraph {subgraph}"))?;
        }
        place.close()?;
        let expected = if SMALL { "" } else { self.error.code().info().expected };
        if expected.is_empty() {
            return Ok(());
        }
        write!(f, "; expected {}", Template { text: expected, at })
    }
}

/// A message and what to do.
pub(super) struct Whole<'a, F>(pub(super) Message<'a, F>);

impl<'n, F: Fn(MemberId) -> Option<&'n [u8]>> fmt::Display for Whole<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {}", self.0, self.0.error.remedy())
    }
}

struct Parts<'a, 'f> {
    f: &'a mut fmt::Formatter<'f>,
    open: bool,
}

impl Parts<'_, '_> {
    fn part(&mut self, part: fmt::Arguments<'_>) -> fmt::Result {
        self.f.write_str(if self.open { ", " } else { " (" })?;
        self.open = true;
        self.f.write_fmt(part)
    }

    fn close(self) -> fmt::Result {
        if self.open { self.f.write_str(")") } else { Ok(()) }
    }
}
