//! The member table: exact byte lookup, deterministic listing (container.md §11).

use crate::source::{MemberId, MemberNames};
use core::marker::PhantomData;

/// One member as the table knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'m> {
    /// Position in archive order.
    pub id: MemberId,
    /// Name bytes, one leading `./` removed.
    pub name: &'m [u8],
    /// Content bytes.
    pub size: u64,
}

/// The finished table; plain data, `Copy`, as long-lived as the caller's memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemberTable<'m> {
    marker: PhantomData<&'m [u8]>,
}

impl<'m> MemberTable<'m> {
    /// Number of members.
    #[must_use]
    pub const fn len(&self) -> u32 {
        0
    }

    /// True if there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The member with that id.
    #[must_use]
    pub const fn get(&self, _id: MemberId) -> Option<Member<'m>> {
        None
    }

    /// Exact lookup of the name that the parts make when joined (`["sg00", "/", "def.json"]`).
    #[must_use]
    pub const fn find(&self, _parts: &[&[u8]]) -> Option<Member<'m>> {
        None
    }
}

impl MemberNames for MemberTable<'_> {
    fn name_of(&self, id: MemberId) -> Option<&[u8]> {
        self.get(id).map(|member| member.name)
    }
}
