//! Changes of an error's place, for this library alone.

use super::Error;
use super::name::Name;
use super::place::Part;
use crate::source::MemberId;

impl Error {
    /// The same with a number of the place.
    pub(super) fn with(self, part: Part, number: u64) -> Self {
        Self { kept: self.kept.with(part, number) }
    }

    /// The same with a number of the place, unless it has one, or there is none.
    #[cold]
    #[inline(never)]
    fn or(self, part: Part, number: Option<u64>) -> Self {
        match number.filter(|_| !self.kept.has(part)) {
            Some(number) => self.with(part, number),
            None => self,
        }
    }

    /// The same with a member, unless it has one or there is none.
    pub(crate) fn member_or(self, member: Option<MemberId>) -> Self {
        self.or(Part::Member, member.map(|member| member.0.into()))
    }

    /// The same with a subgraph, unless it has one or there is none.
    pub(crate) fn subgraph_or(self, subgraph: Option<u8>) -> Self {
        self.or(Part::Subgraph, subgraph.map(Into::into))
    }

    /// The same with a byte offset, unless it has one.
    pub(crate) fn offset_or(self, offset: u64) -> Self {
        self.or(Part::Offset, Some(offset))
    }

    /// The same with an element index, unless it has one.
    pub(crate) fn element_or(self, element: u32) -> Self {
        self.or(Part::Element, Some(element.into()))
    }

    /// Sets the first name.
    #[cold]
    pub(crate) fn named(self, name: &Name<32>) -> Self {
        Self { kept: self.kept.named(name) }
    }
}
