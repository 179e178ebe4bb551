//! Members out of a container, with as much of each as a question needs.

use super::Members;
use super::sieve::Sieve;
use crate::file::Buffers;
use crate::refusal::Refusal;
use crate::room::{self, Full};
use loader_core::arena::Arena;
use loader_core::container::{Digesting, Entry, Events, MemberTable, Reader, drive};
use loader_core::error::{ContainerCode, Error, Stage};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_core::source::{MemberId, Payload, Source, Visitor};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    size: u64,
    /// Counts the members of the archive.
    place: usize,
}

impl Kept {
    fn whole(&self) -> Option<&[u8]> {
        (self.bytes.len() as u64 == self.size).then_some(&self.bytes)
    }
}

/// The members of a container. Names and sizes are known of all, contents of the wanted ones and of those that
/// read like JSON; of the others the first bytes.
#[derive(Clone, Debug, Default)]
pub struct Unpacked {
    members: BTreeMap<Vec<u8>, Kept>,
}

impl Unpacked {
    /// Unpacks a file in one pass. Its digest is not verified: a tool also answers for a file that
    /// was changed. Of a name that is there twice, the last member counts.
    ///
    /// # Errors
    /// The container's refusal.
    pub fn read<S: Source>(
        source: &mut S,
        buffers: &mut Buffers,
        limits: &Limits,
        wanted: impl FnMut(&[u8]) -> bool,
    ) -> Result<Self, Refusal> {
        let policy = Policy { verify_digest: false, ..Policy::DEFAULT };
        let mut work = buffers.workspace();
        let input = std::mem::take(&mut work.input);
        let mut reader = Reader::new(source.len(), work, limits, &policy, Digesting::of(&policy));
        let mut unpacking = Unpacking::new(wanted);
        drive(source, input, &mut reader, &mut unpacking)?;
        reader.finish(&mut unpacking)?;
        Ok(unpacking.unpacked())
    }

    /// Bytes of contents that are in memory.
    #[must_use]
    pub fn kept_bytes(&self) -> u64 {
        self.members.values().map(|kept| kept.bytes.len() as u64).sum()
    }

    /// The members as a payload for S2, which reads documents whole and of other members the first bytes.
    ///
    /// # Errors
    /// The arena is full.
    pub fn payload<'m>(&self, arena: &mut Arena<'m>) -> Result<impl Payload<'m> + use<'_, 'm>, Error> {
        let mut members: Vec<(&[u8], &Kept)> =
            self.members.iter().map(|(name, kept)| (name.as_slice(), kept)).collect();
        members.sort_unstable_by_key(|(_, kept)| kept.place);
        let table = MemberTable::of(members.iter().map(|(name, kept)| (*name, kept.size)), arena)?;
        Ok(Documents { table, members: members.into_iter().map(|(_, kept)| kept).collect() })
    }
}

impl Members for Unpacked {
    fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.members.keys().map(Vec::as_slice)
    }

    fn content(&self, name: &[u8]) -> Option<&[u8]> {
        self.members.get(name)?.whole()
    }

    fn size(&self, name: &[u8]) -> Option<u64> {
        self.members.get(name).map(|kept| kept.size)
    }

    fn start(&self, name: &[u8]) -> Option<&[u8]> {
        self.members.get(name).map(|kept| kept.bytes.as_slice())
    }
}

/// Takes the events of a pass.
#[derive(Debug)]
pub struct Unpacking<F> {
    wanted: F,
    members: BTreeMap<Vec<u8>, Kept>,
    seen: usize,
    /// Name, size and what is kept of the present member.
    current: Option<(Vec<u8>, u64, Sieve)>,
}

impl<F: FnMut(&[u8]) -> bool> Unpacking<F> {
    /// Keeps the content of wanted members, whatever it is.
    pub const fn new(wanted: F) -> Self {
        Self { wanted, members: BTreeMap::new(), seen: 0, current: None }
    }

    fn keep(&mut self, more: impl FnOnce(&mut Sieve) -> Result<(), Full>) -> Result<(), Error> {
        let Some((name, size, sieve)) = &mut self.current else { return Ok(()) };
        more(sieve)
            .map_err(|_| Error::new(Stage::Unpack, ContainerCode::StoreFull).numbers(*size, 0).name(name))
    }

    /// What was unpacked.
    #[must_use]
    pub fn unpacked(self) -> Unpacked {
        Unpacked { members: self.members }
    }
}

impl<F: FnMut(&[u8]) -> bool> Events for Unpacking<F> {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        self.current = match entry.table_name() {
            Some(name) => Some((kept_name(name)?, entry.size, Sieve::new((self.wanted)(name)))),
            None => None,
        };
        Ok(())
    }

    fn data(&mut self, _: u64, bytes: &[u8]) -> Result<(), Error> {
        self.keep(|sieve| sieve.take(bytes))
    }

    fn hole(&mut self, _: u64, length: u64) -> Result<(), Error> {
        self.keep(|sieve| sieve.zeros(length))
    }

    fn end(&mut self) -> Result<(), Error> {
        if let Some((name, size, sieve)) = self.current.take() {
            let place = self.seen;
            self.seen += 1;
            self.members.insert(name, Kept { bytes: sieve.kept(), size, place });
        }
        Ok(())
    }
}

/// A copy of a member's name.
pub(crate) fn kept_name(name: &[u8]) -> Result<Vec<u8>, Error> {
    room::copy(name).map_err(|full| full.error(Stage::Unpack, "the names of the members"))
}

/// Unpacked members as a payload.
struct Documents<'a, 'm> {
    table: MemberTable<'m>,
    /// By id, which counts in archive order.
    members: Vec<&'a Kept>,
}

impl Documents<'_, '_> {
    fn get(&self, id: MemberId) -> Option<&Kept> {
        self.members.get(usize::try_from(id.0).ok()?).copied()
    }
}

impl<'m> Payload<'m> for Documents<'_, 'm> {
    fn table(&self) -> MemberTable<'m> {
        self.table
    }

    fn borrow(&self, id: MemberId) -> Option<&[u8]> {
        self.get(id)?.whole()
    }

    /// Of a member that is not whole, all that is there: up to the byte that no document can have.
    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), Error> {
        for member in self.table.iter() {
            if visitor.wants(member.id) {
                let bytes = self.get(member.id).map_or(&[][..], |kept| &kept.bytes);
                if !bytes.is_empty() {
                    visitor.data(member.id, 0, bytes)?;
                }
                visitor.end(member.id)?;
            }
        }
        Ok(())
    }

    fn passes(&self) -> u32 {
        1
    }
}
