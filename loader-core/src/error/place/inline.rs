//! The place in the error itself.

use crate::error::At;

#[derive(Clone, Copy)]
pub(in crate::error) struct Place(At);

impl Place {
    pub(in crate::error) const NOWHERE: Self = Self(At::NOWHERE);

    pub(in crate::error) const fn get(self) -> At {
        self.0
    }

    pub(super) const fn put(&mut self, at: &At) {
        self.0 = *at;
    }
}
