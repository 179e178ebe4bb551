//! The state machine over blocks.

use super::block::{Block, Dialect};
use super::body::Body;
use super::member::{Draft, Shape};
use super::names::From as NameFrom;
use super::pax::Records;
use super::sparse::{Extent, TextMap};
use super::special::Special;
use super::{BLOCK, padding, refuse, split, wide};
use crate::container::events::{Entry, Events, Kind, remark};
use crate::error::{ContainerCode, Error};
use crate::limits::{Budget, Limits};
use zerocopy::FromBytes;

/// Longest body of an `L`, `K` or `V` record.
const LONG: i64 = 1 << 20;
/// Longest body of a pax record.
const PAX: i64 = 1 << 30;
/// Largest body of a `g` record.
const LARGEST: i64 = (1 << 60) - 1;

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A header block.
    Header,
    /// Bytes to pass over among which the archive may end.
    Tail,
    /// Bytes to pass over that must be there.
    Padding,
    /// The body of an `L` record.
    Long,
    /// The body of a `K` record.
    Passed,
    /// The body of an `x` record. The reference reads all of it before it looks, so a fault in it waits.
    Pax,
    /// A block that continues the sparse map of the header.
    OldMap,
    /// A sparse map at the start of the body.
    Text,
    /// The fill behind such a map.
    TextFill,
    /// Content that no byte was asked for yet.
    Opened,
    /// The same, behind a sparse map.
    Mapped,
    /// Content.
    Body,
    /// Behind the end marker.
    Ended,
}

/// A tar archive, read once from the front. The short fields come first, where code reaches them with short offsets.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Tar<'w> {
    step: Step,
    /// The first header has not been judged.
    first: bool,
    /// Only pax and ustar headers since the last pax one (container.md §10.5, hard links).
    pax_dialect: bool,
    /// A fault of a pax record that waits for the record's end.
    fault: Option<Error>,
    entries: u32,
    /// Most entries.
    members: u32,
    /// Bytes taken so far.
    position: u64,
    /// What is left of a record's body or of what is passed over.
    left: u64,
    /// What is passed over behind it.
    fill: u64,
    /// Where the headers of the next member begin.
    start: Option<u64>,
    body: Body,
    shape: Shape,
    names_left: Budget,
    names_total: u64,
    holes: Budget,
    /// Longest pax record.
    pax_bytes: u64,
    /// Bytes of `block` so far.
    have: usize,
    special: Special<'w>,
    map: TextMap,
    records: Records,
    draft: Draft,
    block: [u8; BLOCK],
}

impl<'w> Tar<'w> {
    pub(crate) fn new(names: &'w mut [u8], extents: &'w mut [Extent], limits: &Limits) -> Self {
        Self {
            step: Step::Header,
            first: true,
            pax_dialect: false,
            fault: None,
            entries: 0,
            members: limits.members,
            position: 0,
            left: 0,
            fill: 0,
            start: None,
            body: Body::new(0, 0),
            shape: Shape::NONE,
            names_left: Budget::new(limits.names_total),
            names_total: limits.names_total,
            holes: Budget::new(limits.inflated_bytes),
            pax_bytes: limits.pax_bytes,
            have: 0,
            special: Special::new(names, extents, limits),
            map: TextMap::new(0),
            records: Records::NONE,
            draft: Draft::EMPTY,
            block: [0; BLOCK],
        }
    }

    /// Bytes of the archive taken so far.
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    /// True behind the end marker; nothing is taken then.
    pub(crate) fn ended(&self) -> bool {
        self.step == Step::Ended
    }

    /// True once the first header was accepted.
    pub(crate) const fn opened(&self) -> bool {
        !self.first
    }

    /// Takes bytes up to the end of the archive.
    pub(crate) fn feed<E: Events>(&mut self, mut bytes: &[u8], events: &mut E) -> Result<(), Error> {
        while !bytes.is_empty() && !self.ended() {
            let before = self.position;
            let mut done = self.step(bytes, events);
            let (_, rest) = split(bytes, self.position.wrapping_sub(before));
            bytes = rest;
            // Not where the headers are read: what takes the content need not stand on top of that.
            if done.is_ok() && matches!(self.step, Step::Opened | Step::Mapped) {
                done = self.advance(events);
            }
            done.map_err(|error| self.place(error))?;
        }
        Ok(())
    }

    /// Adds where in the archive a fault lies: the member's header for one in its content, else the byte
    /// that was read last. Errors of whoever takes the events are left alone.
    #[inline(never)]
    fn place(&self, error: Error) -> Error {
        if !super::is_archive_fault(&error) {
            return error;
        }
        let content = matches!(self.step, Step::Mapped | Step::Body | Step::Text | Step::TextFill);
        let offset = if content { self.draft.offset } else { self.position };
        error.offset_or(offset).element_or(self.entries)
    }

    /// Takes some bytes; at least one, if there is one.
    fn step<E: Events>(&mut self, bytes: &[u8], events: &mut E) -> Result<(), Error> {
        match self.step {
            Step::Header | Step::OldMap => self.block(bytes, events),
            Step::Text => self.text(bytes),
            Step::Body => {
                let used = self.body.feed(bytes, events)?;
                if self.body.want() == 0 {
                    self.advance(events)?;
                }
                self.took(used);
                Ok(())
            }
            Step::Opened | Step::Mapped | Step::Ended => Ok(()),
            _ => self.piece(bytes),
        }
    }

    /// Takes bytes of what has a length, and goes on behind the last one.
    #[inline(never)]
    fn piece(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let (piece, _) = split(bytes, self.left);
        self.left = self.left.wrapping_sub(wide(piece.len()));
        match self.step {
            Step::Long => self.special.names.push(NameFrom::Long, piece),
            Step::Pax => self.pax_piece(piece)?,
            _ => {}
        }
        if self.left == 0 {
            match self.step {
                Step::TextFill => self.open_body(true),
                Step::Long | Step::Passed => {
                    self.special.names.choose_long();
                    self.skip(self.fill, Step::Tail);
                }
                Step::Pax => self.skip(self.fill, Step::Tail),
                _ => self.step = Step::Header,
            }
        }
        self.took(piece.len());
        Ok(())
    }

    /// Takes bytes of a pax record's body, the last ones if none is left.
    fn pax_piece(&mut self, piece: &[u8]) -> Result<(), Error> {
        let start = self.position.saturating_sub(self.records.taken());
        if self.fault.is_none() {
            let fed = self.records.feed(piece, &mut self.special);
            self.fault = fed.err().map(|error| error.offset(start.saturating_add(self.records.line())));
        }
        if self.left > 0 {
            return Ok(());
        }
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        self.records.finish(&mut self.special).map_err(|error| error.offset_or(start))
    }

    fn text(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let used = self.map.feed(bytes, &mut self.special.extents)?;
        if self.map.done() {
            (self.shape.stored, self.left) = self.map.rest()?;
            self.step = Step::TextFill;
            if self.left == 0 {
                self.open_body(true);
            }
        }
        self.took(used);
        Ok(())
    }

    fn took(&mut self, count: usize) {
        self.position = self.position.saturating_add(wide(count));
    }

    /// Goes to what has `left` bytes, or to the next header if that is nothing.
    fn skip(&mut self, left: u64, step: Step) {
        self.left = left;
        self.step = if left == 0 { Step::Header } else { step };
    }

    /// Gathers one block and acts on it. Not inlined: content streams by without this on the stack.
    #[inline(never)]
    fn block<E: Events>(&mut self, bytes: &[u8], events: &mut E) -> Result<(), Error> {
        let room = self.block.get_mut(self.have..).unwrap_or(&mut []);
        let count = room.len().min(bytes.len());
        crate::bytes::copy(room, bytes);
        self.have = self.have.wrapping_add(count);
        self.took(count);
        if self.have < BLOCK {
            return Ok(());
        }
        self.have = 0;
        let known = if self.step == Step::OldMap { self.old_map()? } else { self.header()? };
        if known { self.member(events) } else { Ok(()) }
    }

    /// Acts on the block where it lies. True if all headers of a member were read.
    fn header(&mut self) -> Result<bool, Error> {
        let Ok(block) = Block::ref_from_bytes(&self.block) else { return Ok(false) };
        let offset = self.position.saturating_sub(wide(BLOCK));
        if self.first {
            if !block.plausible_first() {
                return Err(refuse(ContainerCode::Unrecognized).offset(offset));
            }
            self.first = false;
        }
        let start = *self.start.get_or_insert(offset);
        if block.is_zero() {
            self.step = Step::Ended;
            return Ok(false);
        }
        if !block.checksum_holds() {
            return Err(refuse(ContainerCode::Checksum).offset(offset));
        }
        if matches!(block.kind, b'A' | b'g' | b'K' | b'L' | b'V' | b'X' | b'x') {
            let (kind, size) = (block.kind, block.size());
            return self.special_header(kind, size).map(|()| false).map_err(|error| error.offset(offset));
        }
        self.draft.read(block, start);
        self.pax_dialect &= self.draft.dialect == Dialect::Ustar;
        if self.draft.dialect == Dialect::Gnu { self.gnu() } else { Ok(true) }
    }

    #[inline(never)]
    fn special_header(&mut self, kind: u8, size: i64) -> Result<(), Error> {
        if !self.special.seen.mark(kind) {
            return Err(refuse(ContainerCode::Redundant).name(&[kind]));
        }
        self.pax_dialect = matches!(kind, b'x' | b'X' | b'g' | b'A');
        let (most, code) = match kind {
            b'L' | b'K' | b'V' => (LONG, ContainerCode::SpecialTooLarge),
            b'x' | b'X' => (PAX, ContainerCode::PaxSize),
            _ => (LARGEST, ContainerCode::SpecialTooLarge),
        };
        let left = size.unsigned_abs();
        if size < 0 || size > most {
            return Err(refuse(code).numbers(left, 0));
        }
        self.fill = padding(left);
        let step = match kind {
            b'A' => return Err(refuse(ContainerCode::SolarisAcl)),
            b'L' => {
                self.special.names.begin(NameFrom::Long, left)?;
                Step::Long
            }
            b'K' => Step::Passed,
            b'x' | b'X' if left > self.pax_bytes => {
                return Err(refuse(ContainerCode::PaxLimit).numbers(left, self.pax_bytes));
            }
            b'x' | b'X' => {
                self.records.begin(left);
                Step::Pax
            }
            _ => {
                self.skip(left.saturating_add(self.fill), Step::Tail);
                return Ok(());
            }
        };
        self.skip(left, step);
        Ok(())
    }

    /// A GNU header may hold a real size and the start of a sparse map. True if no more of the map comes.
    fn gnu(&mut self) -> Result<bool, Error> {
        let raw = &self.block;
        let (real, map) = (raw.get(483..495).unwrap_or(&[]), raw.get(386..482).unwrap_or(&[]));
        if real.first() != Some(&0) {
            let [_, given, ..] = &mut self.special.numbers;
            // Any other negative number is refused as this one.
            *given = super::number::field(real).max(-1);
        }
        if map.first() == Some(&0) {
            return Ok(true);
        }
        self.special.extents.push_old(map)?;
        Ok(self.more_map(raw.get(482) != Some(&0)))
    }

    fn old_map(&mut self) -> Result<bool, Error> {
        self.special.extents.push_old(self.block.get(..504).unwrap_or(&[]))?;
        Ok(self.more_map(self.block.get(504) != Some(&0)))
    }

    const fn more_map(&mut self, more: bool) -> bool {
        if more {
            self.step = Step::OldMap;
        }
        !more
    }

    /// All headers of a member were read.
    fn member<E: Events>(&mut self, events: &mut E) -> Result<(), Error> {
        let name = self.special.names.chosen().unwrap_or(self.draft.name.as_bytes());
        let slash = name.ends_with(b"/");
        self.shape =
            self.draft.shape(&self.special, self.pax_dialect, slash).map_err(|error| error.name(name))?;
        if self.entries >= self.members {
            return Err(refuse(ContainerCode::MemberLimit).numbers(u64::from(self.members), 0));
        }
        let names_full = |_| refuse(ContainerCode::NamesLimit).numbers(self.names_total, 0);
        self.names_left.take(wide(name.len())).map_err(names_full)?;
        let (kind, size) = (self.shape.kind, self.shape.disk);
        let entry =
            Entry { index: self.entries, raw_name: name, kind, size, header_offset: self.draft.offset };
        remarks(&entry, self.special.sparse || !self.special.extents.is_empty(), events);
        events.entry(&entry)?;
        if self.shape.text_map {
            self.special.extents.clear();
            self.map = TextMap::new(self.shape.stored);
            self.step = Step::Text;
        } else {
            self.open_body(false);
        }
        Ok(())
    }

    /// Goes to the member's content.
    #[inline(never)]
    fn open_body(&mut self, mapped: bool) {
        let Shape { kind, disk, stored, padding, .. } = self.shape;
        if kind == Kind::Directory {
            self.next_member(stored.saturating_add(padding));
            return;
        }
        self.body = Body::new(disk, stored);
        self.step = if mapped { Step::Mapped } else { Step::Opened };
    }

    /// Goes on with the content, or behind it.
    #[inline(never)]
    fn advance<E: Events>(&mut self, events: &mut E) -> Result<(), Error> {
        if self.body.advance(&self.special.extents, &mut self.holes, events)? {
            events.end()?;
            self.next_member(self.body.unread().saturating_add(self.shape.padding));
        } else {
            self.step = Step::Body;
        }
        Ok(())
    }

    #[inline(never)]
    fn next_member(&mut self, skip: u64) {
        self.entries = self.entries.saturating_add(1);
        self.special.clear();
        self.start = None;
        self.skip(skip, Step::Padding);
    }

    /// The data ends here.
    pub(crate) fn finish<E: Events>(&mut self, events: &mut E) -> Result<(), Error> {
        let (code, missing) = match self.step {
            Step::Ended => return Ok(()),
            Step::Header if self.first => (ContainerCode::Unrecognized, 0),
            Step::Header if self.have > 0 => (ContainerCode::CutHeader, 0),
            Step::Header | Step::Tail if self.special.seen.announces() => (ContainerCode::CutSequence, 0),
            Step::Header | Step::Tail => {
                remark(events, || refuse(ContainerCode::WNoEndMarker).offset(self.position));
                self.step = Step::Ended;
                return Ok(());
            }
            Step::Padding | Step::TextFill => (ContainerCode::CutPadding, self.left),
            Step::Long | Step::Passed | Step::Pax => (ContainerCode::CutMetadata, 0),
            Step::OldMap => (ContainerCode::SparseCut, 0),
            Step::Text => (ContainerCode::SparseText, 0),
            Step::Opened | Step::Mapped | Step::Body => (ContainerCode::CutData, self.body.want()),
        };
        Err(self.place(refuse(code).numbers(missing, 0)))
    }
}

/// Things that a correct writer does not do.
fn remarks<E: Events>(entry: &Entry<'_>, sparse: bool, events: &mut E) {
    let mut note = |code| remark(events, || refuse(code).name(entry.raw_name).element(entry.index));
    if !matches!(entry.kind, Kind::File | Kind::Directory) {
        note(ContainerCode::WLink);
    }
    if sparse {
        note(ContainerCode::WSparse);
    }
    let climbs = entry.raw_name.split(|&byte| byte == b'/').any(|part| part == b"..");
    if climbs || entry.raw_name.first() == Some(&b'/') {
        note(ContainerCode::WUnsafeName);
    }
}
