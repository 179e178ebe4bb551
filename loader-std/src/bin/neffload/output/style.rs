//! Colour, where a terminal shows it.

use super::shown;
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
    /// Paints nothing.
    pub(crate) const PLAIN: Self = Self { colour: false };

    pub(super) const fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// True if words are painted.
    pub(super) const fn is_coloured(self) -> bool {
        self.colour
    }

    /// The text, painted if colour is on, hidden characters made visible.
    pub(crate) fn paint(self, paint: Paint, text: impl fmt::Display) -> String {
        let text = shown::text(&text.to_string());
        if self.colour && paint != Paint::Plain {
            format!("\x1b[{}m{text}\x1b[0m", paint.code())
        } else {
            text
        }
    }
}
