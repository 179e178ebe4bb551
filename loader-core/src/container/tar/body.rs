//! A member's content: runs of body bytes with holes between them, delivered as they come.

use super::refuse;
use super::sparse::{Extent, Extents};
use super::{split, wide};
use crate::container::events::Events;
use crate::error::{ContainerCode, Error};
use crate::limits::Budget;

/// Progress through one member's content.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    /// Content bytes delivered so far.
    out: u64,
    /// Content bytes in all.
    disk: u64,
    /// Body bytes that are left in the archive.
    stored: u64,
    /// Bytes that the present extent still takes.
    want: u64,
    /// The next extent.
    next: usize,
}

impl Body {
    pub(super) const fn new(disk: u64, stored: u64) -> Self {
        Self { out: 0, disk, stored, want: 0, next: 0 }
    }

    pub(super) const fn want(&self) -> u64 {
        self.want
    }

    /// Body bytes that no extent took.
    pub(super) const fn unread(&self) -> u64 {
        self.stored
    }

    /// Delivers from `bytes` what the present extent takes; returns how many bytes that were.
    pub(super) fn feed<E: Events>(&mut self, bytes: &[u8], events: &mut E) -> Result<usize, Error> {
        let (piece, _) = split(bytes, self.want);
        if !piece.is_empty() {
            events.data(self.out, piece)?;
        }
        let count = wide(piece.len());
        self.out = self.out.saturating_add(count);
        self.want = self.want.saturating_sub(count);
        self.stored = self.stored.saturating_sub(count);
        Ok(piece.len())
    }

    /// Goes to the next extent that takes bytes. True if there is none: the content is complete.
    pub(super) fn advance<E: Events>(
        &mut self,
        extents: &Extents<'_>,
        holes: &mut Budget,
        events: &mut E,
    ) -> Result<bool, Error> {
        while self.want == 0 {
            let Some(extent) = self.extent(extents) else { return self.complete().map(|()| true) };
            self.next = self.next.saturating_add(1);
            self.enter(extent, holes, events)?;
        }
        Ok(false)
    }

    /// The next extent; a member without a map has one, its whole body.
    fn extent(&self, extents: &Extents<'_>) -> Option<Extent> {
        if !extents.is_empty() {
            return extents.get(self.next);
        }
        (self.next == 0).then(|| Extent { offset: 0, length: i64::try_from(self.stored).unwrap_or(i64::MAX) })
    }

    fn enter<E: Events>(&mut self, extent: Extent, holes: &mut Budget, events: &mut E) -> Result<(), Error> {
        let malformed = |_| refuse(ContainerCode::SparseExtent);
        let offset = u64::try_from(extent.offset).map_err(malformed)?;
        let length = u64::try_from(extent.length).map_err(malformed)?.min(self.stored);
        if length == 0 || self.out >= self.disk {
            return Ok(());
        }
        if offset < self.out {
            return Err(refuse(ContainerCode::SparseOrder).numbers(offset, self.out));
        }
        let hole = offset.min(self.disk).saturating_sub(self.out);
        if hole > 0 {
            let all = holes.left();
            let over = |_| refuse(ContainerCode::InflatedLimit).numbers(all, 0);
            holes.take(hole).map_err(over)?;
            events.hole(self.out, hole)?;
            self.out = self.out.saturating_add(hole);
        }
        self.want = length.min(self.disk.saturating_sub(self.out));
        Ok(())
    }

    fn complete(&self) -> Result<(), Error> {
        if self.out < self.disk {
            return Err(refuse(ContainerCode::ShortRead).numbers(self.out, self.disk));
        }
        Ok(())
    }
}
