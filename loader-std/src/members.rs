//! The members of a NEFF as the tooling view sees them: names in byte order, and contents.

mod sieve;
mod unpacked;
mod whole;

pub(crate) use unpacked::kept_name;
pub use unpacked::{Unpacked, Unpacking};
pub use whole::Whole;

use std::collections::BTreeMap;

/// An unpacked set of members. Names are the bytes of the archive, one leading `./` removed.
pub trait Members {
    /// All names in byte order, which is the order of the reader's selection rule.
    fn names(&self) -> impl Iterator<Item = &[u8]>;

    /// The content of exactly that member, if it is at hand.
    fn content(&self, name: &[u8]) -> Option<&[u8]>;

    /// Bytes of exactly that member.
    fn size(&self, name: &[u8]) -> Option<u64> {
        self.content(name).map(|content| u64::try_from(content.len()).unwrap_or(u64::MAX))
    }

    /// The first bytes of exactly that member: 16, or all of a shorter one, or more.
    fn start(&self, name: &[u8]) -> Option<&[u8]> {
        self.content(name)
    }
}

impl Members for BTreeMap<Vec<u8>, Vec<u8>> {
    fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.keys().map(Vec::as_slice)
    }

    fn content(&self, name: &[u8]) -> Option<&[u8]> {
        self.get(name).map(Vec::as_slice)
    }
}

impl<M: Members + ?Sized> Members for &M {
    fn names(&self) -> impl Iterator<Item = &[u8]> {
        (**self).names()
    }

    fn content(&self, name: &[u8]) -> Option<&[u8]> {
        (**self).content(name)
    }

    fn size(&self, name: &[u8]) -> Option<u64> {
        (**self).size(name)
    }

    fn start(&self, name: &[u8]) -> Option<&[u8]> {
        (**self).start(name)
    }
}
