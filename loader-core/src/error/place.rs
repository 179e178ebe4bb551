//! Where an error keeps its place.
//!
//! A place takes a hundred bytes, and every `?` on the way up would copy them. A host has room for that. Where small
//! code goes before speed, an error is four bytes in a register and its place lies on a shelf that all share; the
//! copies would be a seventh of the code and a fifth of the stack.

use super::At;

#[cfg(not(small))]
mod inline;
// Tests of a host see to the shelf, too.
#[cfg(any(small, test))]
#[cfg_attr(not(small), allow(dead_code, reason = "built for its tests"))]
mod shelf;

#[cfg(not(small))]
pub(super) use inline::Place;
#[cfg(small)]
pub(super) use shelf::Place;

impl Place {
    /// Changes what the place says.
    pub(super) fn edit(&mut self, change: impl FnOnce(&mut At)) {
        let mut at = self.get();
        change(&mut at);
        self.put(&at);
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Place {}
