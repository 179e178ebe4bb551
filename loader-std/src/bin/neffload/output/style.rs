//! Colour, where a terminal shows it.

use std::fmt;

/// The few ways in which a word can stand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// As it is.
    Plain,
    /// A heading.
    Bold,
    /// Of less interest.
    Dim,
    /// Accepted.
    Good,
    /// Worth a look.
    Warn,
    /// Refused.
    Bad,
}

impl Paint {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "0",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Warn => "33",
            Self::Bad => "31",
        }
    }
}

/// Whether words are painted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    colour: bool,
}

impl Style {
    pub(super) const fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// The text, painted if colour is on.
    pub(crate) fn paint(self, paint: Paint, text: impl fmt::Display) -> String {
        if self.colour && paint != Paint::Plain {
            format!("\x1b[{}m{text}\x1b[0m", paint.code())
        } else {
            text.to_string()
        }
    }
}
