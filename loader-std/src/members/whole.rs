//! Every member whole, as a load holds them.

use super::unpacked::kept_name;
use crate::container::VecStore;
use crate::room;
use loader_core::arena::Arena;
use loader_core::container::{Entry, Events, MemberTable, Store};
use loader_core::error::{ContainerCode, Error, Stage};

/// All members in one store, taken from the events of a pass that somebody else makes for a question of their own: the
/// file need not be read a second time to be loaded.
#[derive(Debug, Default)]
pub struct Whole {
    store: VecStore,
    members: Vec<Place>,
    /// Content comes for the newest member.
    open: bool,
}

#[derive(Debug)]
struct Place {
    name: Vec<u8>,
    size: u64,
    start: u64,
}

impl Whole {
    /// The bytes of all members, one after the other.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.store.bytes()
    }

    /// The table of the members, to be joined with [`Whole::bytes`] by [`loader_core::container::Resident::new`].
    ///
    /// # Errors
    /// The arena is full.
    pub fn table<'m>(&self, arena: &mut Arena<'m>) -> Result<MemberTable<'m>, Error> {
        let members = self.members.iter();
        MemberTable::stored(members.map(|member| (member.name.as_slice(), member.size, member.start)), arena)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Some(member) = self.members.last().filter(|_| self.open) else { return Ok(()) };
        self.store.append(bytes).map_err(|_| {
            let full = Error::new(Stage::Unpack, ContainerCode::StoreFull).numbers(member.size, 0);
            full.name(&member.name)
        })
    }
}

impl Events for Whole {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        let name = entry.table_name();
        self.open = name.is_some();
        if let Some(name) = name {
            let start = self.store.bytes().len() as u64;
            let name = kept_name(name)?;
            room::grow(&mut self.members, 1).map_err(|full| full.error(Stage::Unpack, "the members"))?;
            self.members.push(Place { name, size: entry.size, start });
        }
        Ok(())
    }

    fn data(&mut self, _: u64, bytes: &[u8]) -> Result<(), Error> {
        self.append(bytes)
    }

    fn end(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
