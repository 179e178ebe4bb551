//! The member table: exact byte lookup, deterministic listing (container.md §11).
//!
//! Three arrays in sealed arena tail: records by id, ids by name, and hash slots. The hash is keyed and its
//! probe length bounded; where no key gives short probes, lookups fall back to the sorted array.

mod build;
mod hash;

pub(crate) use build::{Builder, Kept};

use crate::arena::{Arena, Tail, TailRef};
use crate::error::{Error, Ignored, Stage};
use crate::layout::SMALL;
use crate::source::{MemberId, MemberNames};
use core::cmp::Ordering;
use core::mem::size_of;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

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

/// A table entry in the arena; its name follows it.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Entry {
    /// Content bytes.
    pub(crate) size: U64,
    /// First byte in the store, or [`NOT_STORED`].
    pub(crate) place: U64,
    /// Content kept in the arena by a scan, or null.
    pub(crate) kept: TailRef,
    /// Length of the name.
    pub(crate) name_len: U32,
    /// Counts the stored members of the archive, replaced ones included.
    pub(crate) ordinal: U32,
    /// The entry before this one.
    pub(crate) previous: TailRef,
}

const _: () = assert!(size_of::<Entry>() == 32);

/// [`Entry::place`] of a member whose bytes are not in a store.
pub(crate) const NOT_STORED: u64 = u64::MAX;

/// The finished table; plain data, `Copy`, as long-lived as the caller's memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemberTable<'m> {
    /// Entries and names.
    entries: Option<Tail<'m>>,
    /// Entry of each id.
    by_id: &'m [TailRef],
    /// Ids in ascending byte order of the names.
    sorted: &'m [U32],
    /// Open-addressed hash slots: id + 1, or 0. Empty if no key gave short probes.
    slots: &'m [U32],
    key: u64,
}

impl<'m> MemberTable<'m> {
    /// A table of members that were read elsewhere: names and sizes in archive order. Of equal names the last
    /// counts.
    ///
    /// # Errors
    /// The arena is full.
    pub fn of<'n>(
        members: impl IntoIterator<Item = (&'n [u8], u64)>,
        arena: &mut Arena<'m>,
    ) -> Result<Self, Error> {
        Self::build(members.into_iter().map(|(name, size)| (name, size, Kept::No)), arena)
    }

    /// The same for members whose bytes lie in a store: names, sizes, and the first byte of each in it.
    ///
    /// # Errors
    /// The arena is full.
    pub fn stored<'n>(
        members: impl IntoIterator<Item = (&'n [u8], u64, u64)>,
        arena: &mut Arena<'m>,
    ) -> Result<Self, Error> {
        let stored = |(name, size, place)| (name, size, Kept::InStore(place));
        Self::build(members.into_iter().map(stored), arena)
    }

    fn build<'n>(
        members: impl Iterator<Item = (&'n [u8], u64, Kept)>,
        arena: &mut Arena<'m>,
    ) -> Result<Self, Error> {
        let mut builder = Builder::default();
        for (name, size, keep) in members {
            let push = builder.push(arena, name, size, keep);
            push.map_err(|full| Error::arena(Stage::Unpack, full))?;
        }
        builder.finish(arena, &mut Ignored)
    }

    /// Number of members.
    #[must_use]
    pub fn len(&self) -> u32 {
        u32::try_from(self.by_id.len()).unwrap_or(u32::MAX)
    }

    /// True if there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The member with that id.
    #[must_use]
    pub fn get(&self, id: MemberId) -> Option<Member<'m>> {
        let (entry, name) = self.entry(id)?;
        Some(Member { id, name, size: entry.size.get() })
    }

    /// Exact lookup of the name that the parts make when joined (`["sg00", "/", "def.json"]`).
    #[must_use]
    pub fn find(&self, parts: &[&[u8]]) -> Option<Member<'m>> {
        if SMALL || self.slots.is_empty() {
            return self.search(parts);
        }
        hash::probes(hash::of(self.key, parts), self.slots.len())
            .map_while(|slot| self.slots.get(slot)?.get().checked_sub(1))
            .filter_map(|id| self.get(MemberId(id)))
            .find(|member| compare(member.name, parts) == Ordering::Equal)
    }

    /// Lookup in the sorted array: at most 32 comparisons whatever the names are.
    fn search(&self, parts: &[&[u8]]) -> Option<Member<'m>> {
        let order = |id: &U32| {
            self.get(MemberId(id.get())).map_or(Ordering::Less, |member| compare(member.name, parts))
        };
        let at = self.sorted.binary_search_by(order).ok()?;
        self.get(MemberId(self.sorted.get(at)?.get()))
    }

    /// All members in archive order, which is the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = Member<'m>> + use<'m> {
        let table = *self;
        (0..self.len()).filter_map(move |id| table.get(MemberId(id)))
    }

    /// All members in ascending byte order of their names.
    pub fn iter_sorted(&self) -> impl Iterator<Item = Member<'m>> + use<'m> {
        let table = *self;
        self.sorted.iter().filter_map(move |id| table.get(MemberId(id.get())))
    }

    pub(crate) fn entry(&self, id: MemberId) -> Option<(&'m Entry, &'m [u8])> {
        let place = *self.by_id.get(usize::try_from(id.0).ok()?)?;
        entry_at(self.entries.as_ref()?, place)
    }

    /// Content that a scan kept in the arena.
    pub(crate) fn kept(&self, id: MemberId) -> Option<&'m [u8]> {
        let (entry, _) = self.entry(id)?;
        if entry.size.get() == 0 {
            return Some(&[]);
        }
        if entry.kept.is_null() {
            return None;
        }
        self.entries.as_ref()?.octets(entry.kept, usize::try_from(entry.size.get()).ok()?)
    }
}

/// An entry and its name.
fn entry_at<'m>(tail: &Tail<'m>, place: TailRef) -> Option<(&'m Entry, &'m [u8])> {
    let fixed = tail.octets(place, size_of::<Entry>())?;
    let entry = Entry::ref_from_bytes(fixed).ok()?;
    let name_len = usize::try_from(entry.name_len.get()).ok()?;
    let all = tail.octets(place, size_of::<Entry>().checked_add(name_len)?)?;
    Some((entry, all.get(size_of::<Entry>()..)?))
}

/// Compares a name with the concatenation of `parts`.
fn compare(name: &[u8], parts: &[&[u8]]) -> Ordering {
    name.iter().cmp(parts.iter().copied().flatten())
}

impl MemberNames for MemberTable<'_> {
    fn name_of(&self, id: MemberId) -> Option<&[u8]> {
        self.get(id).map(|member| member.name)
    }
}

#[cfg(test)]
mod tests;
