//! The place in the error itself.

use crate::error::{At, Code, Stage};

/// What an error is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::error) struct Kept {
    stage: Stage,
    code: Code,
    at: At,
}

impl Kept {
    pub(in crate::error) const fn new(stage: Stage, code: Code) -> Self {
        Self { stage, code, at: At::NOWHERE }
    }

    pub(in crate::error) const fn stage(&self) -> Stage {
        self.stage
    }

    pub(in crate::error) const fn code(&self) -> Code {
        self.code
    }

    pub(in crate::error) const fn at(&self) -> At {
        self.at
    }

    pub(in crate::error) const fn put(&mut self, at: &At) {
        self.at = *at;
    }
}
