//! An error that is kept while others may be made.

use super::{At, Code, Error, Stage};

/// An error with its place in itself: the shelf of small builds does not keep places for long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    stage: Stage,
    code: Code,
    at: At,
}

impl From<Error> for Held {
    fn from(error: Error) -> Self {
        Self { stage: error.stage(), code: error.code(), at: error.at() }
    }
}

impl Held {
    pub(super) const fn new(stage: Stage, code: Code, at: At) -> Self {
        Self { stage, code, at }
    }

    /// The error again.
    pub(crate) fn error(&self) -> Error {
        let Self { stage, code, at } = *self;
        Error::new(stage, code).edit(|place| *place = at)
    }
}
