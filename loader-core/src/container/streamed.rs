//! A payload that is read again from its file whenever members are wanted.

use super::archive::Archive;
use super::events::{Entry, Events, Shared};
use super::header::{HEADER_BYTES, PAYLOAD_OFFSET};
use super::store::{Store, StoreFull};
use super::table::{Builder, MemberTable};
use super::unpack::{Collect, PIECE, finish, read};
use super::{Container, Workspace};
use crate::arena::Arena;
use crate::error::{ContainerCode, Error, Notes, Stage};
use crate::layout::SMALL;
use crate::limits::Limits;
use crate::policy::Policy;
use crate::source::{MemberId, Payload, Source, Visitor};

/// Members up to this size are worth keeping from the first pass on (DESIGN: streamed mode).
pub const KEEP_BYTES: u64 = 4096;

/// The graph manifest is worth keeping up to this size: the chain of names starts with it, and it is the last
/// member of every known file, so reading it again would cost a pass of its own.
pub const KEEP_GRAPH_BYTES: u64 = 65536;

/// No store at all.
#[derive(Debug)]
enum Nowhere {}

impl Store for Nowhere {
    fn append(&mut self, _: &[u8]) -> Result<(), StoreFull> {
        match *self {}
    }

    fn bytes(&self) -> &[u8] {
        match *self {}
    }
}

/// Checks the file as [`super::unpack`] does, but keeps only the table, and in the arena the content of
/// members of at most `keep` bytes and of a graph manifest of at most [`KEEP_GRAPH_BYTES`] (0 keeps none).
///
/// # Errors
/// As [`super::unpack`].
pub fn scan<'m, S: Source>(
    source: &mut S,
    work: Workspace<'_>,
    keep: u64,
    arena: &mut Arena<'m>,
    limits: &Limits,
    policy: &Policy,
    notes: &mut impl Notes,
) -> Result<Container<'m>, Error> {
    let mark = arena.mark();
    let store: Option<&mut Nowhere> = None;
    let mut collect = Collect { arena, store, keep, builder: Builder::default(), current: None, notes };
    let outcome = read(source, work, &mut collect, limits, policy);
    let Collect { arena, builder, notes, .. } = collect;
    finish(outcome, builder, arena, mark, notes)
}

/// A scanned container and the source it came from. Every pass walks the whole archive again.
#[derive(Debug)]
pub struct Streamed<'a, 'm, S: Source> {
    source: &'a mut S,
    work: Workspace<'a>,
    table: MemberTable<'m>,
    /// Where the payload ends in the file.
    end: u64,
    limits: Limits,
    passes: u32,
}

impl<'a, 'm, S: Source> Streamed<'a, 'm, S> {
    /// Joins what [`scan`] returned with its source, which must be readable again from its start.
    ///
    /// # Errors
    /// C702 if the source does not know its length: a pipe cannot be read twice.
    pub fn new(
        source: &'a mut S,
        work: Workspace<'a>,
        container: Container<'m>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        if source.len().is_none() {
            return Err(Error::new(Stage::Unpack, ContainerCode::NotSeekable));
        }
        let Container { header, table, .. } = &container;
        Ok(Self::over(source, work, *table, header.payload_end(), limits))
    }

    /// The same from the parts that passes need, where there is no room to keep the rest: the table, and where in
    /// the file the payload ends. The source must know its length.
    #[must_use]
    pub const fn over(
        source: &'a mut S,
        work: Workspace<'a>,
        table: MemberTable<'m>,
        payload_end: u64,
        limits: &Limits,
    ) -> Self {
        Self { source, work, table, end: payload_end, limits: *limits, passes: 1 }
    }

    #[inline(never)]
    fn visit_any(&mut self, visitor: &mut dyn Visitor) -> Result<(), Error> {
        let table = self.table;
        for member in table.iter() {
            if !visitor.wants(member.id) {
                continue;
            }
            match table.kept(member.id) {
                Some([]) => {}
                Some(bytes) => visitor.data(member.id, 0, bytes)?,
                None => return self.pass(member.id, visitor),
            }
            visitor.end(member.id)?;
        }
        Ok(())
    }

    /// One pass over the payload, for the members from `first` on. The first one is known to be wanted. The
    /// header passed its gates in the scan, and says where the payload ends.
    #[inline(never)]
    fn pass(&mut self, first: MemberId, visitor: &mut dyn Visitor) -> Result<(), Error> {
        self.passes = self.passes.saturating_add(1);
        let table = self.table;
        let mut events =
            Pass { table, next: MemberId(0), ordinal: 0, first, current: None, wanted: false, visitor };
        match SMALL {
            true => self.walk(&mut Shared(&mut events))?,
            false => self.walk(&mut events)?,
        }
        if events.next.0 == table.len() { Ok(()) } else { Err(changed()) }
    }

    #[inline(never)]
    fn walk<E: Events>(&mut self, events: &mut E) -> Result<(), Error> {
        let Workspace { input, layers, names, extents } = self.work.reborrow();
        let work = Workspace { input: &mut [], layers, names, extents };
        let mut archive = Archive::new(work, &self.limits);
        payload(self.source, input, self.end, &mut archive, events)
    }
}

/// Feeds the archive with the payload, which ends at byte `end` of the file.
fn payload<S: Source, E: Events>(
    source: &mut S,
    input: &mut [u8],
    end: u64,
    archive: &mut Archive<'_>,
    events: &mut E,
) -> Result<(), Error> {
    if let Some(file) = source.bytes() {
        let whole = usize::try_from(end).ok().and_then(|end| file.get(HEADER_BYTES..end));
        for piece in whole.ok_or_else(changed)?.chunks(PIECE) {
            archive.feed(piece, events);
            if archive.result().is_some() {
                break;
            }
        }
        return archive.finish(events);
    }
    let mut at = PAYLOAD_OFFSET;
    while at < end && archive.result().is_none() {
        let count = source.read_at(at, input)?;
        let left = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
        let piece = input.get(..count.min(left)).unwrap_or(&[]);
        if piece.is_empty() {
            return Err(changed().offset(at));
        }
        archive.feed(piece, events);
        at = at.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
    }
    archive.finish(events)
}

fn changed() -> Error {
    Error::new(Stage::Unpack, ContainerCode::Changed)
}

impl<'m, S: Source> Payload<'m> for Streamed<'_, 'm, S> {
    fn table(&self) -> MemberTable<'m> {
        self.table
    }

    fn borrow(&self, id: MemberId) -> Option<&[u8]> {
        self.table.kept(id)
    }

    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), Error> {
        self.visit_any(visitor)
    }

    fn passes(&self) -> u32 {
        self.passes
    }
}

/// Finds the members of a known table in the archive again.
struct Pass<'v, 'm> {
    table: MemberTable<'m>,
    /// The member that comes next in the archive.
    next: MemberId,
    /// Stored members of the archive so far, replaced ones included.
    ordinal: u32,
    /// Members before this one have been offered to the visitor.
    first: MemberId,
    current: Option<MemberId>,
    wanted: bool,
    visitor: &'v mut dyn Visitor,
}

impl Pass<'_, '_> {
    /// Members before `first` were offered already, and `first` itself was accepted.
    fn wanted(&mut self, id: MemberId) -> bool {
        id.0 == self.first.0 || (id.0 > self.first.0 && self.visitor.wants(id))
    }
}

impl Events for Pass<'_, '_> {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        self.current = None;
        let Some(name) = entry.table_name() else { return Ok(()) };
        let Some((known, known_name)) = self.table.entry(self.next) else { return Err(changed()) };
        // A member that a later one replaces is in the archive but not in the table.
        let replaced = known.ordinal.get() != self.ordinal;
        self.ordinal = self.ordinal.saturating_add(1);
        if replaced {
            return Ok(());
        }
        if known_name != name || known.size.get() != entry.size {
            return Err(changed());
        }
        let id = self.next;
        self.next = MemberId(id.0.saturating_add(1));
        self.current = Some(id);
        self.wanted = self.wanted(id);
        Ok(())
    }

    fn data(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        match self.current {
            Some(id) if self.wanted => self.visitor.data(id, offset, bytes),
            _ => Ok(()),
        }
    }

    fn hole(&mut self, offset: u64, length: u64) -> Result<(), Error> {
        if self.current.is_none() || !self.wanted {
            return Ok(());
        }
        super::events::zeros(offset, length, |at, piece| self.data(at, piece))
    }

    fn end(&mut self) -> Result<(), Error> {
        match self.current {
            Some(id) if self.wanted => self.visitor.end(id),
            _ => Ok(()),
        }
    }
}
