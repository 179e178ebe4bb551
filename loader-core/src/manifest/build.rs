//! What every reader of S2 works with: the arena, the member table, the rules, the verdict.

use super::record::{DefRecord, Text, nth};
use super::table::Table;
use super::verdict::{Rank, Verdict};
use crate::arena::{Arena, ArenaFull, Record, TailRef};
use crate::container::{Member, MemberTable};
use crate::error::{Error, Held, ManifestCode, Name, Stage, Status};
use crate::json::{self, Element};
use crate::limits::Limits;
use crate::policy::Policy;
use crate::source::MemberId;

/// Shared state of one [`super::parse`].
pub(crate) struct Build<'a, 'm> {
    pub(crate) arena: &'a mut Arena<'m>,
    pub(crate) table: MemberTable<'m>,
    pub(crate) limits: Limits,
    pub(crate) policy: Policy,
    pub(crate) verdict: Verdict,
    /// The definitions' records in the tail, once the KELF was read.
    pub(crate) definitions: TailRef,
    /// The document being read, for messages.
    pub(crate) member: Option<MemberId>,
    /// The subgraph being read, for messages.
    pub(crate) subgraph: Option<u8>,
    /// What a load would refuse the file for before all that comes later, where the reading goes on (tools).
    pub(crate) gate: Option<Held>,
}

/// An error of S2.
pub(crate) fn fault(code: ManifestCode) -> Error {
    Error::new(Stage::Manifest, code)
}

/// The arena ran out during S2.
pub(crate) fn full(error: ArenaFull) -> Error {
    Error::arena(Stage::Manifest, error)
}

/// A promise within S2 was broken.
#[inline(always)]
pub(crate) fn broken(what: &'static str) -> Error {
    Error::internal(Stage::Manifest, what)
}

/// A key's value: not there, not of the key's type, or read. The first occurrence counts (§3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Slot<T> {
    #[default]
    Absent,
    Wrong,
    Got(T),
}

impl<T: Copy> Slot<T> {
    /// Takes the first value.
    pub(crate) fn set(&mut self, value: Option<T>) {
        if matches!(self, Self::Absent) {
            *self = value.map_or(Self::Wrong, Self::Got);
        }
    }

    pub(crate) const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

/// The first bytes of a string, for messages.
#[inline(never)]
pub(crate) fn shown(text: json::Text<'_>) -> Name<32> {
    // One byte more than there is room for shows that something is left out.
    let mut bytes = [0u8; 33];
    let len = text.write(&mut bytes);
    Name::new(bytes.get(..len).unwrap_or(&bytes))
}

/// The first bytes of a name, as many as there is room for beside another one.
pub(crate) fn short(name: &[u8]) -> &[u8] {
    name.get(..16).unwrap_or(name)
}

/// E810: more of something than the limits allow.
#[cold]
#[inline(never)]
pub(crate) fn beyond(what: &'static [u8], most: u32) -> Error {
    fault(ManifestCode::LimitExceeded).name(what).numbers(0, u64::from(most))
}

/// What the items of an array must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    U32,
    U64,
    I64,
}

/// Reads an array of numbers to slots of their size, least byte first, as many as there is room for; slots beyond the
/// last number are 0. Tells how many numbers there are.
#[inline(never)]
pub(crate) fn numbers(value: Element<'_>, of: Number, mut out: &mut [u8]) -> Option<u32> {
    let mut count = 0u32;
    out.fill(0);
    for item in value.as_integers()? {
        let number = match of {
            Number::U32 => item?.u64().filter(|number| u32::try_from(*number).is_ok())?,
            Number::U64 => item?.u64()?,
            Number::I64 => item?.i64()?.cast_unsigned(),
        };
        let width = if of == Number::U32 { 4 } else { 8 };
        if let Some((slot, rest)) = core::mem::take(&mut out).split_at_mut_checked(width) {
            crate::bytes::copy(slot, &number.to_le_bytes());
            out = rest;
        }
        count = count.saturating_add(1);
    }
    Some(count)
}

impl<'m> Build<'_, 'm> {
    /// The record of subgraph `graph`.
    #[cfg_attr(small, inline(never))]
    pub(crate) fn def(&self, graph: u32) -> Option<&DefRecord> {
        self.arena.tail().get(nth::<DefRecord>(self.definitions, graph))
    }

    /// The same, to write.
    #[cfg_attr(small, inline(never))]
    pub(crate) fn def_mut(&mut self, graph: u32) -> Option<&mut DefRecord> {
        self.arena.tail_mut(nth::<DefRecord>(self.definitions, graph))
    }

    /// Appends a record to a table.
    pub(crate) fn push<T: Record>(&mut self, table: &mut Table, record: &T) -> Result<(), Error> {
        self.append(table, record.as_bytes())
    }

    #[cfg_attr(small, inline(never))]
    fn append(&mut self, table: &mut Table, record: &[u8]) -> Result<(), Error> {
        table.append(self.arena, record).map(drop).map_err(full)
    }

    /// Takes zeroed room for records from the tail.
    pub(crate) fn room<T: Record>(&mut self, count: usize, place: &mut TailRef) -> Result<(), Error> {
        self.room_of(size_of::<T>(), count, place)
    }

    #[cfg_attr(small, inline(never))]
    fn room_of(&mut self, size: usize, count: usize, place: &mut TailRef) -> Result<(), Error> {
        *place = self.arena.alloc_tail::<u8>(size.saturating_mul(count)).map_err(full)?;
        Ok(())
    }

    /// The bytes of a text in the tail.
    #[cfg_attr(small, inline(never))]
    pub(crate) fn bytes(&self, text: Text) -> &[u8] {
        text.get(self.arena.tail())
    }

    /// Copies bytes to the tail.
    #[cfg_attr(small, inline(never))]
    pub(crate) fn keep(&mut self, bytes: &[u8], slot: &mut Text) -> Result<(), Error> {
        *slot = Text::keep(self.arena, bytes).map_err(full)?;
        Ok(())
    }

    /// Copies a JSON string to the tail, without its escapes.
    #[cfg_attr(small, inline(never))]
    pub(crate) fn keep_text(&mut self, text: json::Text<'_>, slot: &mut Text) -> Result<(), Error> {
        if let Some(plain) = text.plain() {
            return self.keep(plain, slot);
        }
        let len = text.len();
        // A text with an escape has at least one character.
        self.room::<u8>(len, &mut slot.place)?;
        let bytes = self.arena.tail_octets_mut(slot.place, len);
        bytes.and_then(|bytes| text.unescape(bytes)).ok_or_else(|| broken("an unescaped string"))?;
        slot.len = u32::try_from(len).map_err(|_| broken("length of a string"))?.into();
        Ok(())
    }

    /// The same for an element, if it is a string; else the slot stays as it is.
    #[cfg_attr(small, inline(never))]
    pub(crate) fn keep_string(&mut self, element: Element<'_>, slot: &mut Text) -> Result<bool, Error> {
        match element.as_text() {
            Some(text) => self.keep_text(text, slot).map(|()| true),
            None => Ok(false),
        }
    }

    /// The member `dir` + `/` + `name`, or `name` alone where `dir` is empty.
    pub(crate) fn find(&self, dir: Text, name: Text) -> Option<Member<'m>> {
        let tail = self.arena.tail();
        find_in(&self.table, dir.get(tail), name.get(tail))
    }

    /// The number of that member, for a record.
    #[cfg_attr(small, inline(never))]
    pub(crate) fn find_number(&self, dir: Text, name: Text) -> u32 {
        number(self.find(dir, name))
    }

    /// An error that names the member `dir` + `/` + `name`.
    pub(crate) fn missing(&self, code: ManifestCode, dir: Text, name: Text) -> Error {
        let tail = self.arena.tail();
        let (dir, name) = (dir.get(tail), name.get(tail));
        let (mut path, mut len) = ([0u8; 33], 0usize);
        // One byte more than an error has room for shows that something is left out.
        for part in [dir, if dir.is_empty() { b"" } else { b"/" }, name] {
            let room = path.get_mut(len..).unwrap_or(&mut []);
            let fits = part.len().min(room.len());
            crate::bytes::copy(room, part);
            len = len.saturating_add(fits);
        }
        fault(code).name(path.get(..len).unwrap_or(&[]))
    }

    /// Adds the document and the subgraph to an error that names none.
    pub(crate) fn placed(&self, error: Error) -> Error {
        error.member_or(self.member).subgraph_or(self.subgraph)
    }

    /// The same; a fault of a document as a whole stands at its first byte.
    pub(crate) fn pointed(&self, error: Error) -> Error {
        let error = self.placed(error);
        let at = error.at();
        let nowhere = at.offset.is_none() && at.element.is_none();
        let of_file = !matches!(error.status(), Status::Resource | Status::Failure);
        if nowhere && of_file && at.member.is_some() {
            return error.offset(0);
        }
        error
    }

    /// Collects a fault of the present document.
    pub(crate) fn offer(&mut self, rank: Rank, error: Error) {
        let error = self.pointed(error);
        self.verdict.offer(rank, error);
    }

    /// Collects a fault that does not keep the file from being read: it is reported where another one does,
    /// and comes first.
    pub(crate) fn offer_latent(&mut self, rank: Rank, error: Error) {
        let error = self.pointed(error);
        self.verdict.offer_latent(rank, error);
    }
}

/// Exact lookup of a name relative to a subgraph directory (manifests.md §2.2).
pub(crate) fn find_in<'m>(table: &MemberTable<'m>, dir: &[u8], name: &[u8]) -> Option<Member<'m>> {
    if dir.is_empty() { table.find(&[name]) } else { table.find(&[dir, b"/", name]) }
}

/// The number of a member, for a record.
pub(crate) fn number(member: Option<Member<'_>>) -> u32 {
    member.map_or(super::record::NONE, |member| member.id.0)
}

/// A reader of one kind of JSON document. Faults of the content go to the verdict; an `Err` ends S2.
pub(crate) trait Document {
    /// What the root must be.
    fn root(&self) -> json::Kind {
        json::Kind::Object
    }

    /// See [`json::Reader::value`].
    fn value(
        &mut self,
        build: &mut Build<'_, '_>,
        path: &json::Path<'_>,
        kind: json::Kind,
        offset: u64,
    ) -> Result<json::Want, Error>;

    /// See [`json::Reader::taken`].
    fn taken(
        &mut self,
        build: &mut Build<'_, '_>,
        path: &json::Path<'_>,
        element: Element<'_>,
    ) -> Result<(), Error>;

    /// See [`json::Reader::leave`].
    fn leave(&mut self, build: &mut Build<'_, '_>, path: &json::Path<'_>, values: u32) -> Result<(), Error>;

    /// The whole document was read.
    fn finish(&mut self, _: &mut Build<'_, '_>) -> Result<(), Error> {
        Ok(())
    }
}

/// A document reader together with its state: what the cutter sees.
pub(crate) struct With<'x, 'a, 'm> {
    pub(crate) document: &'x mut dyn Document,
    pub(crate) build: &'x mut Build<'a, 'm>,
}

impl With<'_, '_, '_> {
    /// The document was given whole.
    pub(crate) fn finish(&mut self, cutter: &mut json::Cutter<'_>) -> Result<(), Error> {
        cutter.finish(self)?;
        self.document.finish(self.build)
    }
}

impl json::Reader for With<'_, '_, '_> {
    fn value(&mut self, path: &json::Path<'_>, kind: json::Kind, offset: u64) -> Result<json::Want, Error> {
        if path.depth() == 0 {
            let root = self.document.root();
            if kind != root {
                let error = fault(ManifestCode::JsonMalformed).offset(offset);
                return Err(error.name(kind.name().as_bytes()).name2(root.name().as_bytes()));
            }
            return Ok(json::Want::Enter);
        }
        self.document.value(self.build, path, kind, offset)
    }

    fn taken(&mut self, path: &json::Path<'_>, element: Element<'_>) -> Result<(), Error> {
        self.document.taken(self.build, path, element)
    }

    fn leave(&mut self, path: &json::Path<'_>, values: u32, _: u64) -> Result<(), Error> {
        self.document.leave(self.build, path, values)
    }
}

/// Whether an error is the document's fault (E120 to E124) and not the end of S2.
pub(crate) fn is_json_fault(error: &Error) -> bool {
    let id = error.id();
    id.letter == 'E' && (120..=124).contains(&id.number)
}

/// The member's number as an id.
pub(crate) const fn id(number: u32) -> MemberId {
    MemberId(number)
}

/// Marks a fault with the number of the check that failed. It rides in the element's place until
/// [`check_of`] takes it out, so that a result stays small.
pub(crate) fn failed(check: u8, error: Error) -> Error {
    error.element(u32::from(check))
}

/// A fault of the entry of that name, by the number of the check.
#[cold]
#[inline(never)]
pub(crate) fn refused(check: u8, code: ManifestCode, name: &[u8]) -> Error {
    failed(check, fault(code).name(name))
}

/// The number that [`failed`] left.
pub(crate) fn check_of(error: &Error) -> u8 {
    error.at().element.and_then(|check| u8::try_from(check).ok()).unwrap_or(0)
}
