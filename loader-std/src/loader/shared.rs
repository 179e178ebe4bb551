//! What two loads of one file share: the parse, S1 to S3, in memory of its own (staging.md §15).
//!
//! Only that is shared. Every load copies the records into its own arena, so that its plan may follow them
//! there, and takes its own device memory and ids.

use super::facts::{LoadTimes, Usage};
use super::io::Io;
use super::prepared::{Held, Prepared, PreparedResident, Work};
use super::{LoadError, LoadOptions, Memory};
use crate::cache::{Key, KeyPolicy};
use crate::room::{self, Full};
use loader_core::arch::Arch;
use loader_core::arena::{ArenaRef, NULL_AREA};
use loader_core::container::{Container, Header, MemberTable, Resident};
use loader_core::error::{Error, Stage};
use loader_core::limits::Limits;
use loader_core::lower::Kbins;
use loader_core::policy::Policy;
use loader_core::source::{MemberId, Payload, Visitor};
use std::ops::Range;
use std::sync::Arc;

/// Which loads may share a parse: the same file, read with the same rulings and limits.
pub type ParseKey = (Key, Policy, Limits);

/// The key of a file's parse.
#[must_use]
pub fn parse_key(header: &Header, options: &LoadOptions) -> ParseKey {
    (Key::of(KeyPolicy::default(), header), options.policy, options.limits)
}

/// A file that was read, checked and lowered, independent of any load's memory.
#[derive(Debug)]
pub struct Parse {
    container: Container<'static>,
    members: Vec<(Box<[u8]>, Range<usize>)>,
    payload: Vec<u8>,
    product: Vec<u8>,
    entries: ArenaRef,
    io: Io,
    arch: Arch,
    mac_count: Option<u64>,
    notes: Vec<Error>,
    usage: Vec<Usage>,
    pub(super) times: LoadTimes,
}

impl Parse {
    /// Takes a prepared file out of its arena.
    ///
    /// # Errors
    /// The host has no memory for it.
    pub(super) fn of(prepared: PreparedResident<'_>) -> Result<Self, LoadError> {
        let Prepared { work, container, kbins, held, io, arch, mac_count } = prepared;
        let payload = if let Held::Resident(bytes) = held { bytes.into_owned() } else { Vec::new() };
        let resident = Resident::new(container, &payload);
        let members = container.table.iter().map(|member| {
            let bytes = resident.bytes(member.id).unwrap_or(&[]);
            let start = bytes.as_ptr().addr().saturating_sub(payload.as_ptr().addr());
            let range = if bytes.is_empty() { 0..0 } else { start..start + bytes.len() };
            Ok((room::copy(member.name)?.into_boxed_slice(), range))
        });
        let refused = |full: Full| {
            let error = full.error(Stage::Lower, "what loads of one file share");
            work.refused(error, Some(container.header))
        };
        let members = room::try_collect(members).map_err(refused)?;
        let product = room::copy(kbins.head().bytes()).map_err(refused)?;
        let (notes, usage, times) = work.into_parts();
        Ok(Self {
            container: Container { table: MemberTable::default(), ..container },
            members,
            product,
            entries: kbins.place(),
            payload,
            io,
            arch,
            mac_count,
            notes,
            usage,
            times,
        })
    }

    /// The bytes of a member.
    fn member(&self, id: MemberId) -> Option<&[u8]> {
        let (_, range) = self.members.get(usize::try_from(id.0).ok()?)?;
        self.payload.get(range.clone())
    }

    pub(super) fn name_of(&self, id: MemberId) -> Option<&[u8]> {
        let (name, _) = self.members.get(usize::try_from(id.0).ok()?)?;
        Some(name)
    }

    pub(super) fn payload_bytes(&self) -> u64 {
        self.payload.len() as u64
    }

    /// The file as one load continues with it, its records copied into `memory`.
    pub(super) fn prepared<'m>(
        self: &Arc<Self>,
        memory: &'m mut Memory,
        work: impl FnOnce(&'m mut [u8], &[Error], &[Usage]) -> Result<Work<'m>, Error>,
    ) -> Result<PreparedResident<'m>, LoadError> {
        let early = |error| LoadError::new(error, Some(self.container.header), &self.notes);
        let mut work = work(memory.arena().map_err(early)?, &self.notes, &self.usage).map_err(early)?;
        let records = self.product.get(NULL_AREA..).unwrap_or(&[]);
        work.arena.alloc_bytes(records).map_err(|full| early(Error::arena(Stage::Lower, full)))?;
        let broken = || early(Error::internal(Stage::Lower, "a shared parse"));
        let kbins = Kbins::new(work.arena.seal_head(), self.entries).ok_or_else(broken)?;
        Ok(Prepared {
            work,
            container: self.container,
            kbins,
            held: Held::Shared(Arc::clone(self)),
            io: self.io.clone(),
            arch: self.arch,
            mac_count: self.mac_count,
        })
    }
}

/// The members of a [`Parse`].
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedMembers<'a>(pub(super) &'a Parse);

impl<'m> Payload<'m> for SharedMembers<'_> {
    fn table(&self) -> MemberTable<'m> {
        MemberTable::default()
    }

    fn borrow(&self, id: MemberId) -> Option<&[u8]> {
        self.0.member(id)
    }

    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), Error> {
        for id in (0u32..).map(MemberId).take(self.0.members.len()) {
            if !visitor.wants(id) {
                continue;
            }
            if let Some(bytes) = self.0.member(id).filter(|bytes| !bytes.is_empty()) {
                visitor.data(id, 0, bytes)?;
            }
            visitor.end(id)?;
        }
        Ok(())
    }

    fn passes(&self) -> u32 {
        1
    }
}
