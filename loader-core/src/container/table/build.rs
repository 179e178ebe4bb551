//! Building the table: entries are appended while the archive is read, indexed when it has ended.

use super::hash;
use super::{Entry, MemberTable, NOT_STORED, entry_at};
use crate::arena::{Arena, ArenaFull, Tail, TailRef};
use crate::error::{ContainerCode, Error, Notes, Stage};
use crate::layout::SMALL;
use core::mem::size_of;
use zerocopy::IntoBytes;
use zerocopy::little_endian::{U32, U64};

/// Keys that are tried before lookups fall back to the sorted array.
const KEYS: u64 = 8;

/// What happens to a member's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// They are not kept.
    No,
    /// They start at this byte of a store.
    InStore(u64),
    /// They are copied behind the entry, in the arena.
    InArena,
}

/// Entries so far. The newest one is linked to the ones before it.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    last: TailRef,
    kept: TailRef,
    count: u32,
}

impl Builder {
    /// Appends an entry.
    pub(crate) fn push(
        &mut self,
        arena: &mut Arena<'_>,
        name: &[u8],
        size: u64,
        keep: Kept,
    ) -> Result<(), ArenaFull> {
        let full = ArenaFull { needed: usize::MAX, available: arena.available() };
        self.kept = match keep {
            Kept::InArena if size > 0 => arena.alloc_tail::<u8>(usize::try_from(size).map_err(|_| full)?)?,
            _ => TailRef::NULL,
        };
        let entry = Entry {
            size: U64::new(size),
            place: U64::new(if let Kept::InStore(place) = keep { place } else { NOT_STORED }),
            kept: self.kept,
            name_len: U32::new(u32::try_from(name.len()).map_err(|_| full)?),
            ordinal: U32::new(self.count),
            previous: self.last,
        };
        let bytes = size_of::<Entry>().checked_add(name.len()).ok_or(full)?;
        let place = arena.alloc_tail::<u8>(bytes)?;
        let slot = arena.tail_octets_mut(place, bytes).ok_or(full)?;
        if let Some((fixed, rest)) = slot.split_at_mut_checked(size_of::<Entry>()) {
            crate::bytes::copy(fixed, entry.as_bytes());
            crate::bytes::copy(rest, name);
        }
        self.last = place;
        self.count = self.count.saturating_add(1);
        Ok(())
    }

    /// Name of the newest entry.
    pub(crate) fn last_name<'a>(&self, arena: &'a Arena<'_>) -> &'a [u8] {
        entry_at(&arena.tail(), self.last).map_or(&[], |(_, name)| name)
    }

    /// True if the newest entry keeps its content in the arena.
    pub(crate) fn keeps(&self) -> bool {
        !self.kept.is_null()
    }

    /// Copies bytes of the newest entry, if it keeps them in the arena.
    pub(crate) fn keep(&self, arena: &mut Arena<'_>, size: u64, offset: u64, bytes: &[u8]) {
        let (Ok(size), Ok(offset)) = (usize::try_from(size), usize::try_from(offset)) else { return };
        let Some(end) = offset.checked_add(bytes.len()) else { return };
        if self.kept.is_null() {
            return;
        }
        if let Some(slot) = arena.tail_octets_mut(self.kept, size).and_then(|all| all.get_mut(offset..end)) {
            crate::bytes::copy(slot, bytes);
        }
    }

    /// Seals the entries and indexes them; the last of several equal names counts.
    pub(crate) fn finish<'m>(
        self,
        arena: &mut Arena<'m>,
        notes: &mut impl Notes,
    ) -> Result<MemberTable<'m>, Error> {
        let full = |full| Error::arena(Stage::Unpack, full);
        let count = usize::try_from(self.count).unwrap_or(usize::MAX);
        let slots = count.saturating_mul(2).checked_next_power_of_two().unwrap_or(usize::MAX);
        let index = count.saturating_mul(12).saturating_add(slots.saturating_mul(4)).saturating_add(32);
        arena.require(index).map_err(full)?;
        if count == 0 {
            return Ok(MemberTable::default());
        }
        let entries = arena.seal_tail();
        let names = collect(&entries, self.last, arena, count).map_err(full)?;
        let live = sort_and_drop_replaced(&entries, arena, names, count, notes);
        let (ids, sorted) = number(arena, names, live).map_err(full)?;
        // Where small code goes before speed, the sorted array serves for lookups. The room is asked for all the same.
        let hashed =
            if SMALL { None } else { hash_names(&entries, arena, ids, live, slots).map_err(full)? };
        let tail = arena.seal_tail();
        Ok(MemberTable {
            entries: Some(entries),
            by_id: tail.slice(ids, live).unwrap_or(&[]),
            sorted: tail.slice(sorted, live).unwrap_or(&[]),
            slots: hashed.and_then(|(place, _)| tail.slice(place, slots)).unwrap_or(&[]),
            key: hashed.map_or(0, |(_, key)| key),
        })
    }
}

/// Writes the places of all entries into an array, following the links back.
fn collect(
    entries: &Tail<'_>,
    last: TailRef,
    arena: &mut Arena<'_>,
    count: usize,
) -> Result<TailRef, ArenaFull> {
    let array = arena.alloc_tail::<TailRef>(count)?;
    let mut place = last;
    for slot in arena.tail_slice_mut::<TailRef>(array, count).unwrap_or(&mut []).iter_mut().rev() {
        *slot = place;
        place = entry_at(entries, place).map_or(TailRef::NULL, |(entry, _)| entry.previous);
    }
    Ok(array)
}

fn name_at<'m>(entries: &Tail<'m>, place: TailRef) -> &'m [u8] {
    entry_at(entries, place).map_or(&[], |(_, name)| name)
}

/// Sorts by name, then by archive order; keeps the last of equal names. Returns how many are left.
fn sort_and_drop_replaced(
    entries: &Tail<'_>,
    arena: &mut Arena<'_>,
    array: TailRef,
    count: usize,
    notes: &mut impl Notes,
) -> usize {
    let places = arena.tail_slice_mut::<TailRef>(array, count).unwrap_or(&mut []);
    // A later entry lies further from the arena's end.
    crate::sort::sort(places, |a, b| {
        let names = name_at(entries, *a).cmp(name_at(entries, *b));
        names.then(a.0.get().cmp(&b.0.get()))
    });
    let mut live = 0usize;
    for at in 0..places.len() {
        let Some(&place) = places.get(at) else { break };
        let name = name_at(entries, place);
        let next = at.checked_add(1).and_then(|next| places.get(next));
        if next.is_some_and(|&next| name_at(entries, next) == name) {
            notes.note(Error::new(Stage::Unpack, ContainerCode::WDuplicate).name(name));
            continue;
        }
        if let Some(slot) = places.get_mut(live) {
            *slot = place;
        }
        live = live.saturating_add(1);
    }
    live
}

/// Element `at` of an array of places.
#[inline(never)]
fn place_at(arena: &Arena<'_>, array: TailRef, count: usize, at: usize) -> TailRef {
    arena.tail_slice::<TailRef>(array, count).and_then(|all| all.get(at)).copied().unwrap_or(TailRef::NULL)
}

/// Numbers the members in archive order. Returns their places by id, and their ids by name.
fn number(arena: &mut Arena<'_>, names: TailRef, live: usize) -> Result<(TailRef, TailRef), ArenaFull> {
    let ids = arena.alloc_tail::<TailRef>(live)?;
    for at in 0..live {
        let place = place_at(arena, names, live, at);
        if let Some(slot) = arena.tail_slice_mut::<TailRef>(ids, live).and_then(|all| all.get_mut(at)) {
            *slot = place;
        }
    }
    if let Some(all) = arena.tail_slice_mut::<TailRef>(ids, live) {
        crate::sort::sort_by_key(all, |place| place.0.get());
    }
    let sorted = arena.alloc_tail::<U32>(live)?;
    for at in 0..live {
        let place = place_at(arena, names, live, at).0.get();
        let by_id = arena.tail_slice::<TailRef>(ids, live).unwrap_or(&[]);
        let id = by_id.binary_search_by_key(&place, |place| place.0.get()).unwrap_or(0);
        if let Some(slot) = arena.tail_slice_mut::<U32>(sorted, live).and_then(|all| all.get_mut(at)) {
            slot.set(u32::try_from(id).unwrap_or(0));
        }
    }
    Ok((ids, sorted))
}

/// Fills hash slots under the first key that keeps every probe short.
fn hash_names(
    entries: &Tail<'_>,
    arena: &mut Arena<'_>,
    ids: TailRef,
    live: usize,
    slots: usize,
) -> Result<Option<(TailRef, u64)>, ArenaFull> {
    let place = arena.alloc_tail::<U32>(slots)?;
    for key in 0..KEYS {
        if let Some(all) = arena.tail_slice_mut::<U32>(place, slots) {
            all.fill(U32::ZERO);
        }
        if (0..live).all(|id| insert(entries, arena, (ids, live), (place, slots), id, key).is_some()) {
            return Ok(Some((place, key)));
        }
    }
    Ok(None)
}

fn insert(
    entries: &Tail<'_>,
    arena: &mut Arena<'_>,
    (ids, live): (TailRef, usize),
    (slots, len): (TailRef, usize),
    id: usize,
    key: u64,
) -> Option<()> {
    let entry = *arena.tail_slice::<TailRef>(ids, live)?.get(id)?;
    let hash = hash::of(key, &[name_at(entries, entry)]);
    let table = arena.tail_slice_mut::<U32>(slots, len)?;
    let free = hash::probes(hash, len).find(|&slot| table.get(slot).is_some_and(|slot| slot.get() == 0))?;
    table.get_mut(free)?.set(u32::try_from(id).ok()?.checked_add(1)?);
    Some(())
}
