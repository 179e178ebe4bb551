//! The state machine over blocks.

use super::block::{Block, Dialect};
use super::body::Body;
use super::member::{Draft, Shape};
use super::names::From as NameFrom;
use super::pax::Records;
use super::sparse::{Extent, TextMap};
use super::special::Special;
use super::{BLOCK, padding, refuse, split, wide};
use crate::container::events::{Entry, Events, Kind};
use crate::error::{ContainerCode, Error, Held};
use crate::limits::{Budget, Limits};
use zerocopy::FromBytes;

/// Longest body of an `L`, `K` or `V` record.
const LONG: i64 = 1 << 20;
/// Longest body of a pax record.
const PAX: i64 = 1 << 30;
/// Largest body of a `g` record.
const LARGEST: i64 = (1 << 60) - 1;

/// What the next byte belongs to.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is no heap, and one value exists")]
enum Step {
    /// A header block.
    Header,
    /// Bytes to pass over; if `tolerant`, the archive may end among them.
    Skip { left: u64, tolerant: bool },
    /// The body of an `L` (`keep`) or `K` record.
    Long { left: u64, keep: bool, fill: u64 },
    /// The body of an `x` record. The reference reads all of it before it looks, so a fault in it waits.
    Pax { records: Records, left: u64, fill: u64, fault: Option<Held> },
    /// A block that continues the sparse map of the header.
    OldMap,
    /// A sparse map at the start of the body.
    Text { map: TextMap, shape: Shape },
    /// The fill behind such a map.
    TextFill { left: u64, shape: Shape },
    /// Content that no byte was asked for yet; `mapped` if a sparse map came before it.
    Opened { body: Body, fill: u64, mapped: bool },
    /// Content.
    Body { body: Body, fill: u64 },
    /// Behind the end marker.
    Ended,
}

/// A tar archive, read once from the front.
#[derive(Debug)]
pub(crate) struct Tar<'w> {
    step: Step,
    block: [u8; BLOCK],
    /// Bytes of `block` so far.
    have: usize,
    /// Bytes taken so far.
    position: u64,
    /// The first header has not been judged.
    first: bool,
    /// Only pax and ustar headers since the last pax one (container.md §10.5, hard links).
    pax_dialect: bool,
    /// Where the headers of the next member begin.
    start: Option<u64>,
    draft: Draft,
    special: Special<'w>,
    entries: u32,
    names_left: Budget,
    holes: Budget,
    limits: Limits,
}

impl<'w> Tar<'w> {
    pub(crate) fn new(names: &'w mut [u8], extents: &'w mut [Extent], limits: &Limits) -> Self {
        Self {
            step: Step::Header,
            block: [0; BLOCK],
            have: 0,
            position: 0,
            first: true,
            pax_dialect: false,
            start: None,
            draft: Draft::EMPTY,
            special: Special::new(names, extents, limits),
            entries: 0,
            names_left: Budget::new(limits.names_total),
            holes: Budget::new(limits.inflated_bytes),
            limits: *limits,
        }
    }

    /// Bytes of the archive taken so far.
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    /// True behind the end marker; nothing is taken then.
    pub(crate) const fn ended(&self) -> bool {
        matches!(self.step, Step::Ended)
    }

    /// True once the first header was accepted.
    pub(crate) const fn opened(&self) -> bool {
        !self.first
    }

    /// Takes bytes up to the end of the archive.
    pub(crate) fn feed<E: Events>(&mut self, mut bytes: &[u8], events: &mut E) -> Result<(), Error> {
        while !bytes.is_empty() && !self.ended() {
            let used = self.step(bytes, events).map_err(|error| self.place(error))?;
            bytes = bytes.get(used..).unwrap_or(&[]);
            // Not where the headers are read: what takes the content need not stand on top of that.
            if let Step::Opened { body, fill, .. } = self.step {
                self.body(body, fill, events).map_err(|error| self.place(error))?;
            }
        }
        Ok(())
    }

    /// Adds where in the archive a fault lies: the member's header for one in its content, else the byte
    /// that was read last. Errors of whoever takes the events are left alone.
    fn place(&self, error: Error) -> Error {
        if !super::is_archive_fault(&error) {
            return error;
        }
        let content = matches!(
            self.step,
            Step::Opened { mapped: true, .. } | Step::Body { .. } | Step::Text { .. } | Step::TextFill { .. }
        );
        let offset = if content { self.draft.offset } else { self.position };
        error.offset_or(offset).element_or(self.entries)
    }

    /// Takes some bytes; at least one, if there is one.
    fn step<E: Events>(&mut self, bytes: &[u8], events: &mut E) -> Result<usize, Error> {
        match &mut self.step {
            Step::Header | Step::OldMap => self.block(bytes, events),
            Step::Skip { left, .. } => {
                let (piece, _) = split(bytes, *left);
                *left = left.saturating_sub(wide(piece.len()));
                if *left == 0 {
                    self.step = Step::Header;
                }
                Ok(self.took(piece.len()))
            }
            Step::Long { left, keep, fill } => {
                let (piece, _) = split(bytes, *left);
                *left = left.saturating_sub(wide(piece.len()));
                if *keep {
                    self.special.names.push(NameFrom::Long, piece);
                }
                if *left == 0 {
                    let fill = *fill;
                    self.special.names.choose_long();
                    self.skip(fill, true);
                }
                Ok(self.took(piece.len()))
            }
            Step::Pax { .. } => self.pax_piece(bytes),
            Step::Text { map, shape } => {
                let used = map.feed(bytes, &mut self.special.extents)?;
                if map.done() {
                    let (rest, left) = map.rest()?;
                    let shape = Shape { stored: rest, ..*shape };
                    self.text_fill(left, shape);
                }
                Ok(self.took(used))
            }
            Step::TextFill { left, shape } => {
                let (piece, _) = split(bytes, *left);
                let (left, shape) = (left.saturating_sub(wide(piece.len())), *shape);
                self.text_fill(left, shape);
                Ok(self.took(piece.len()))
            }
            Step::Body { body, fill } => {
                let used = body.feed(bytes, events)?;
                if body.want() == 0 {
                    let (body, fill) = (*body, *fill);
                    self.body(body, fill, events)?;
                }
                Ok(self.took(used))
            }
            Step::Opened { .. } => Ok(0),
            Step::Ended => Ok(bytes.len()),
        }
    }

    /// Takes bytes of a pax record's body.
    #[inline(never)]
    fn pax_piece(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let Step::Pax { records, left, fill, fault } = &mut self.step else { return Ok(0) };
        let (piece, _) = split(bytes, *left);
        *left = left.saturating_sub(wide(piece.len()));
        let start = self.position.saturating_sub(records.taken());
        if fault.is_none() {
            let fed = records.feed(piece, &mut self.special);
            *fault = fed.err().map(|error| error.offset(start.saturating_add(records.line())).into());
        }
        if *left == 0 {
            let fill = *fill;
            let done = fault.map_or_else(|| records.finish(&mut self.special), |fault| Err(fault.error()));
            done.map_err(|error| error.offset_or(start))?;
            self.skip(fill, true);
        }
        Ok(self.took(piece.len()))
    }

    fn took(&mut self, count: usize) -> usize {
        self.position = self.position.saturating_add(wide(count));
        count
    }

    fn skip(&mut self, left: u64, tolerant: bool) {
        self.step = if left == 0 { Step::Header } else { Step::Skip { left, tolerant } };
    }

    /// Gathers one block and acts on it. Not inlined: content streams by without this on the stack.
    #[inline(never)]
    fn block<E: Events>(&mut self, bytes: &[u8], events: &mut E) -> Result<usize, Error> {
        let room = self.block.get_mut(self.have..).unwrap_or(&mut []);
        let count = room.len().min(bytes.len());
        if let (Some(room), Some(piece)) = (room.get_mut(..count), bytes.get(..count)) {
            crate::bytes::copy(room, piece);
        }
        self.have = self.have.saturating_add(count);
        self.took(count);
        if self.have == BLOCK {
            self.have = 0;
            match self.step {
                Step::OldMap => self.old_map(events)?,
                _ => self.header(events)?,
            }
        }
        Ok(count)
    }

    /// Acts on the block where it lies.
    fn header<E: Events>(&mut self, events: &mut E) -> Result<(), Error> {
        let Ok(block) = Block::ref_from_bytes(&self.block) else { return Ok(()) };
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
            return Ok(());
        }
        if !block.checksum_holds() {
            return Err(refuse(ContainerCode::Checksum).offset(offset));
        }
        if matches!(block.kind, b'A' | b'g' | b'K' | b'L' | b'V' | b'X' | b'x') {
            let (kind, size) = (block.kind, block.size());
            return self.special_header(kind, size).map_err(|error| error.offset(offset));
        }
        self.draft.read(block, start);
        self.pax_dialect &= self.draft.dialect == Dialect::Ustar;
        if self.draft.dialect == Dialect::Gnu { self.gnu(events) } else { self.member(events) }
    }

    #[inline(never)]
    fn special_header(&mut self, kind: u8, size: i64) -> Result<(), Error> {
        if !self.special.seen.mark(kind) {
            return Err(refuse(ContainerCode::Redundant).name(&[kind]));
        }
        self.pax_dialect = matches!(kind, b'x' | b'X' | b'g' | b'A');
        let most = match kind {
            b'L' | b'K' | b'V' => LONG,
            b'x' | b'X' => PAX,
            _ => LARGEST,
        };
        let code = if most == PAX { ContainerCode::PaxSize } else { ContainerCode::SpecialTooLarge };
        let Some(size) = u64::try_from(size).ok().filter(|_| size <= most) else {
            return Err(refuse(code).numbers(size.unsigned_abs(), 0));
        };
        let fill = padding(size);
        match kind {
            b'A' => return Err(refuse(ContainerCode::SolarisAcl)),
            b'L' | b'K' => self.long(kind == b'L', size, fill)?,
            b'x' | b'X' => self.pax(size, fill)?,
            _ => self.skip(size.saturating_add(fill), true),
        }
        Ok(())
    }

    fn long(&mut self, keep: bool, size: u64, fill: u64) -> Result<(), Error> {
        if keep {
            self.special.names.begin(NameFrom::Long, size)?;
        }
        self.step = if size == 0 { Step::Header } else { Step::Long { left: size, keep, fill } };
        Ok(())
    }

    fn pax(&mut self, size: u64, fill: u64) -> Result<(), Error> {
        if size > self.limits.pax_bytes {
            return Err(refuse(ContainerCode::PaxLimit).numbers(size, self.limits.pax_bytes));
        }
        self.step = if size == 0 {
            Step::Header
        } else {
            Step::Pax { records: Records::new(size), left: size, fill, fault: None }
        };
        Ok(())
    }

    /// A GNU header may hold a real size and the start of a sparse map.
    fn gnu<E: Events>(&mut self, events: &mut E) -> Result<(), Error> {
        let raw = &self.block;
        let (real, map) = (raw.get(483..495).unwrap_or(&[]), raw.get(386..482).unwrap_or(&[]));
        let more = raw.get(482) != Some(&0);
        if real.first() != Some(&0) {
            self.special.attributes.realsize = Some(super::number::field(real));
        }
        if map.first() == Some(&0) {
            return self.member(events);
        }
        self.special.extents.push_old(map)?;
        self.more_map(more, events)
    }

    fn old_map<E: Events>(&mut self, events: &mut E) -> Result<(), Error> {
        self.special.extents.push_old(self.block.get(..504).unwrap_or(&[]))?;
        self.more_map(self.block.get(504) != Some(&0), events)
    }

    fn more_map<E: Events>(&mut self, more: bool, events: &mut E) -> Result<(), Error> {
        if more {
            self.step = Step::OldMap;
            return Ok(());
        }
        self.member(events)
    }

    /// All headers of a member were read.
    fn member<E: Events>(&mut self, events: &mut E) -> Result<(), Error> {
        let Special { names, attributes, sticky, .. } = &self.special;
        let name = names.chosen().unwrap_or(self.draft.name.as_bytes());
        let slash = name.ends_with(b"/");
        let shape = self
            .draft
            .shape(attributes, sticky, self.pax_dialect, slash)
            .map_err(|error| error.name(name))?;
        if self.entries >= self.limits.members {
            return Err(refuse(ContainerCode::MemberLimit).numbers(u64::from(self.limits.members), 0));
        }
        let names_full = |_| refuse(ContainerCode::NamesLimit).numbers(self.limits.names_total, 0);
        self.names_left.take(wide(name.len())).map_err(names_full)?;
        let (kind, size) = (shape.kind, shape.disk);
        let entry =
            Entry { index: self.entries, raw_name: name, kind, size, header_offset: self.draft.offset };
        remarks(&entry, attributes.sparse || !self.special.extents.is_empty(), events);
        events.entry(&entry)?;
        self.content(shape);
        Ok(())
    }

    /// Goes to the member's body.
    fn content(&mut self, shape: Shape) {
        if shape.text_map {
            self.special.extents.clear();
            self.step = Step::Text { map: TextMap::new(shape.stored), shape };
        } else {
            self.open_body(shape, false);
        }
    }

    fn text_fill(&mut self, left: u64, shape: Shape) {
        match left {
            0 => self.open_body(shape, true),
            _ => self.step = Step::TextFill { left, shape },
        }
    }

    fn open_body(&mut self, shape: Shape, mapped: bool) {
        if shape.kind == Kind::Directory {
            self.next_member(shape.stored.saturating_add(shape.padding));
            return;
        }
        let body = Body::new(shape.disk, shape.stored);
        self.step = Step::Opened { body, fill: shape.padding, mapped };
    }

    /// Goes on with the content, or behind it.
    fn body<E: Events>(&mut self, mut body: Body, fill: u64, events: &mut E) -> Result<(), Error> {
        if body.advance(&self.special.extents, &mut self.holes, events)? {
            events.end()?;
            self.next_member(body.unread().saturating_add(fill));
        } else {
            self.step = Step::Body { body, fill };
        }
        Ok(())
    }

    fn next_member(&mut self, skip: u64) {
        self.entries = self.entries.saturating_add(1);
        self.special.clear();
        self.start = None;
        self.skip(skip, false);
    }

    /// The data ends here.
    pub(crate) fn finish<E: Events>(&mut self, events: &mut E) -> Result<(), Error> {
        let code = match &self.step {
            Step::Ended => return Ok(()),
            Step::Header if self.first => ContainerCode::Unrecognized,
            Step::Header if self.have > 0 => ContainerCode::CutHeader,
            Step::Header | Step::Skip { tolerant: true, .. } if self.special.seen.announces() => {
                ContainerCode::CutSequence
            }
            Step::Header | Step::Skip { tolerant: true, .. } => {
                events.note(refuse(ContainerCode::WNoEndMarker).offset(self.position));
                self.step = Step::Ended;
                return Ok(());
            }
            Step::Skip { left, .. } | Step::TextFill { left, .. } => {
                return Err(self.place(refuse(ContainerCode::CutPadding).numbers(*left, 0)));
            }
            Step::Long { .. } | Step::Pax { .. } => ContainerCode::CutMetadata,
            Step::OldMap => ContainerCode::SparseCut,
            Step::Text { .. } => ContainerCode::SparseText,
            Step::Opened { body, .. } | Step::Body { body, .. } => {
                return Err(self.place(refuse(ContainerCode::CutData).numbers(body.want(), 0)));
            }
        };
        Err(self.place(refuse(code)))
    }
}

/// Things that a correct writer does not do.
fn remarks<E: Events>(entry: &Entry<'_>, sparse: bool, events: &mut E) {
    let mut note = |code| events.note(refuse(code).name(entry.raw_name).element(entry.index));
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
