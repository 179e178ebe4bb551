//! Where an error keeps its place.
//!
//! A place takes a hundred bytes, and every `?` on the way up would copy them. A host has room for that. Where small
//! code goes before speed, an error is four bytes in a register and its place lies on a shelf that all share; the
//! copies would be a seventh of the code and a fifth of the stack.

#[cfg(not(small))]
mod inline;
// Tests of a host see to the shelf, too.
#[cfg(any(small, test))]
#[cfg_attr(not(small), allow(dead_code, reason = "built for its tests"))]
mod shelf;

#[cfg(not(small))]
pub(super) use inline::{Kept, Whole};
#[cfg(small)]
pub(super) use shelf::{Kept, Whole};

/// A number of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Member,
    Offset,
    Element,
    Subgraph,
    A,
    B,
    C,
}
