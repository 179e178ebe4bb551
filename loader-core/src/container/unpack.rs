//! S1 from a source, resident: every member's bytes go to a store.

use super::events::{Entry, Events, Shared};
use super::reader::{Digesting, Progress, Reader};
use super::streamed::KEEP_GRAPH_BYTES;
use super::table::{Builder, Kept};
use super::{Container, Store, Workspace};
use crate::arena::{Arena, Mark};
use crate::error::{ContainerCode, Error, Notes, Stage};
use crate::limits::Limits;
use crate::policy::Policy;
use crate::source::Source;

/// Bytes of a file in memory that are digested and inflated at a time, so that the second step finds
/// them in the cache.
pub(super) const PIECE: usize = 32 << 10;

/// Reads `source` from its start into `reader`, through `input` unless it is in memory anyway.
///
/// # Errors
/// The source's. What is wrong with the file is the reader's to say.
pub fn drive<S: Source, E: Events>(
    source: &mut S,
    input: &mut [u8],
    reader: &mut Reader<'_>,
    events: &mut E,
) -> Result<(), Error> {
    if let Some(file) = source.bytes() {
        file.chunks(PIECE).find(|piece| reader.feed(piece, events) == Progress::Done);
        return Ok(());
    }
    loop {
        let count = source.read_at(reader.taken(), input)?;
        let piece = input.get(..count).unwrap_or(&[]);
        if piece.is_empty() || reader.feed(piece, events) == Progress::Done {
            return Ok(());
        }
    }
}

/// Checks the file and unpacks it: member bytes are appended to `store`, the member table is sealed at
/// the arena's tail. Join both with [`super::Resident::new`].
///
/// # Errors
/// The first refusal in the order of container.md §7.2; a digest mismatch goes before archive errors.
/// The arena is as before then, the store is not.
pub fn unpack<'m, S: Source, K: Store>(
    source: &mut S,
    work: Workspace<'_>,
    store: &mut K,
    arena: &mut Arena<'m>,
    limits: &Limits,
    policy: &Policy,
    notes: &mut impl Notes,
) -> Result<Container<'m>, Error> {
    let mark = arena.mark();
    let mut collect =
        Collect { arena, store: Some(store), keep: 0, builder: Builder::default(), current: None, notes };
    let outcome = read(source, work, &mut collect, limits, policy);
    let Collect { arena, builder, notes, .. } = collect;
    finish(outcome, builder, arena, mark, notes)
}

/// One pass over the source.
pub(super) fn read<S: Source, E: Events>(
    source: &mut S,
    work: Workspace<'_>,
    events: &mut E,
    limits: &Limits,
    policy: &Policy,
) -> Result<super::Summary, Error> {
    let Workspace { input, layers, names, extents } = work;
    let work = Workspace { input: &mut [], layers, names, extents };
    let mut reader = Reader::new(source.len(), work, limits, policy, Digesting::of(policy));
    walk(source, input, &mut reader, events)
}

/// [`drive`] and [`Reader::finish`].
fn walk<S: Source, E: Events>(
    source: &mut S,
    input: &mut [u8],
    reader: &mut Reader<'_>,
    events: &mut E,
) -> Result<super::Summary, Error> {
    if crate::layout::SMALL {
        let mut shared = Shared(events);
        drive(source, input, reader, &mut shared)?;
        return reader.finish(&mut shared);
    }
    drive(source, input, reader, events)?;
    reader.finish(events)
}

/// Seals the table, or leaves the arena as it was at `mark`.
pub(super) fn finish<'m>(
    outcome: Result<super::Summary, Error>,
    builder: Builder,
    arena: &mut Arena<'m>,
    mark: Mark,
    notes: &mut impl Notes,
) -> Result<Container<'m>, Error> {
    let sealed = match outcome {
        Ok(super::Summary { header, digest, payload }) => {
            builder.finish(arena, notes).map(|table| Container { header, digest, table, payload })
        }
        Err(error) => Err(error),
    };
    if sealed.is_err() {
        arena.release(mark);
    }
    sealed
}

/// The member whose bytes are coming.
#[derive(Clone, Copy, Debug)]
pub(super) struct Current {
    size: u64,
    stored: bool,
}

/// Builds the table, and stores or keeps content.
pub(super) struct Collect<'a, 'm, K: Store, N: Notes> {
    pub(super) arena: &'a mut Arena<'m>,
    pub(super) store: Option<&'a mut K>,
    /// Members up to this size are kept in the arena when there is no store.
    pub(super) keep: u64,
    pub(super) builder: Builder,
    pub(super) current: Option<Current>,
    pub(super) notes: &'a mut N,
}

/// Names of a graph manifest (manifests.md §4).
const GRAPHS: [&[u8]; 2] = [b"neff.json", b"kelp.json"];

impl<K: Store, N: Notes> Collect<'_, '_, K, N> {
    /// The largest size of a member of that name that is kept in the arena.
    fn keep_of(&self, name: &[u8]) -> u64 {
        if self.keep > 0 && GRAPHS.contains(&name) { self.keep.max(KEEP_GRAPH_BYTES) } else { self.keep }
    }
}

impl<K: Store, N: Notes> Events for Collect<'_, '_, K, N> {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        self.current = None;
        let Some(name) = entry.table_name() else { return Ok(()) };
        let keep = match &self.store {
            Some(store) => Kept::InStore(u64::try_from(store.bytes().len()).unwrap_or(u64::MAX)),
            None if entry.size <= self.keep_of(name) => Kept::InArena,
            None => Kept::No,
        };
        let push = self.builder.push(self.arena, name, entry.size, keep);
        push.map_err(|full| Error::arena(Stage::Unpack, full))?;
        self.current = Some(Current { size: entry.size, stored: self.store.is_some() });
        Ok(())
    }

    fn data(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let Some(Current { size, stored }) = self.current else { return Ok(()) };
        let Some(store) = self.store.as_mut().filter(|_| stored) else {
            self.builder.keep(self.arena, size, offset, bytes);
            return Ok(());
        };
        store.append(bytes).map_err(|_| {
            let full = Error::new(Stage::Unpack, ContainerCode::StoreFull).numbers(size, offset);
            full.name(self.builder.last_name(self.arena))
        })
    }

    fn hole(&mut self, offset: u64, length: u64) -> Result<(), Error> {
        // Content that nobody stores need not be made.
        if self.current.is_none() || (self.store.is_none() && !self.builder.keeps()) {
            return Ok(());
        }
        super::events::zeros(offset, length, |at, piece| self.data(at, piece))
    }

    fn end(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn note(&mut self, note: Error) {
        self.notes.note(note);
    }
}
