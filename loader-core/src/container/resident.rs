//! A payload whose members are slices of one store.

use super::Container;
use super::table::{MemberTable, NOT_STORED};
use crate::error::Error;
use crate::source::{MemberId, Payload, Visitor};

/// An unpacked container together with the store that holds its members' bytes.
#[derive(Clone, Copy, Debug)]
pub struct Resident<'a, 'm> {
    container: Container<'m>,
    store: &'a [u8],
}

impl<'a, 'm> Resident<'a, 'm> {
    /// Joins what [`super::unpack`] returned with the bytes of the store it filled.
    #[must_use]
    pub const fn new(container: Container<'m>, store: &'a [u8]) -> Self {
        Self { container, store }
    }

    /// Header, digest verdict and table.
    #[must_use]
    pub const fn container(&self) -> &Container<'m> {
        &self.container
    }

    /// A member's bytes.
    #[must_use]
    pub fn bytes(&self, id: MemberId) -> Option<&'a [u8]> {
        let (entry, _) = self.container.table.entry(id)?;
        let place = Some(entry.place.get()).filter(|&place| place != NOT_STORED)?;
        let start = usize::try_from(place).ok()?;
        let end = start.checked_add(usize::try_from(entry.size.get()).ok()?)?;
        self.store.get(start..end)
    }
}

impl<'m> Payload<'m> for Resident<'_, 'm> {
    fn table(&self) -> MemberTable<'m> {
        self.container.table
    }

    fn borrow(&self, id: MemberId) -> Option<&[u8]> {
        self.bytes(id)
    }

    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), Error> {
        for member in self.container.table.iter() {
            if !visitor.wants(member.id) {
                continue;
            }
            if let Some(bytes) = self.bytes(member.id).filter(|bytes| !bytes.is_empty()) {
                visitor.data(member.id, 0, bytes)?;
            }
            visitor.end(member.id)?;
        }
        Ok(())
    }

    fn passes(&self) -> u32 {
        1
    }
}
