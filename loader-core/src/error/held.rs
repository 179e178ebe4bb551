//! An error that is kept while others may be made.

use super::Error;
use super::place::Whole;

/// An error with its place in itself: the shelf of small builds does not keep places for long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    whole: Whole,
}

impl From<Error> for Held {
    fn from(error: Error) -> Self {
        Self { whole: error.kept.whole() }
    }
}

impl Held {
    /// The error again.
    pub(crate) fn error(&self) -> Error {
        Error { kept: self.whole.kept() }
    }
}
