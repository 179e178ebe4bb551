//! Names that extension records give the next member, in caller memory (container.md §10.6, §10.7).

use super::{refuse, wide};
use crate::container::text::cut_at_nul;
use crate::error::{ContainerCode, Error};

/// The three places a long name can come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// A GNU `L` record.
    Long,
    /// The pax key `path`.
    Path,
    /// The pax key `GNU.sparse.name`, which overrides `path`.
    Sparse,
}

impl From {
    const fn index(self) -> usize {
        match self {
            Self::Long => 0,
            Self::Path => 1,
            Self::Sparse => 2,
        }
    }
}

/// Three names in one caller-given buffer, and which of them counts.
#[derive(Debug)]
pub(super) struct Names<'w> {
    memory: &'w mut [u8],
    lengths: [usize; 3],
    chosen: Option<From>,
    longest: usize,
}

impl<'w> Names<'w> {
    pub(super) fn new(memory: &'w mut [u8], longest: u32) -> Self {
        let longest = usize::try_from(longest).unwrap_or(usize::MAX).min(memory.len() / 3);
        Self { memory, lengths: [0; 3], chosen: None, longest }
    }

    /// Forgets everything, before the headers of the next member.
    pub(super) const fn clear(&mut self) {
        self.lengths = [0; 3];
        self.chosen = None;
    }

    /// Begins a name of `length` bytes.
    pub(super) fn begin(&mut self, from: From, length: u64) -> Result<(), Error> {
        if length > wide(self.longest) {
            return Err(refuse(ContainerCode::NameLimit).numbers(wide(self.longest), 0));
        }
        if let Some(len) = self.lengths.get_mut(from.index()) {
            *len = 0;
        }
        Ok(())
    }

    /// Takes the next bytes of a name.
    pub(super) fn push(&mut self, from: From, bytes: &[u8]) {
        let base = from.index().saturating_mul(self.longest);
        let Some(len) = self.lengths.get_mut(from.index()) else { return };
        let start = base.saturating_add(*len);
        let end = start.saturating_add(bytes.len());
        if let Some(slot) = self.memory.get_mut(start..end) {
            crate::bytes::copy(slot, bytes);
            *len = len.saturating_add(bytes.len());
        }
    }

    fn whole(&self, from: From) -> &[u8] {
        let start = from.index().saturating_mul(self.longest);
        let len = self.lengths.get(from.index()).copied().unwrap_or(0);
        self.memory.get(start..start.saturating_add(len)).unwrap_or(&[])
    }

    /// An `L` record ended: it counts if it has a byte before its first NUL.
    pub(super) fn choose_long(&mut self) {
        if !cut_at_nul(self.whole(From::Long)).is_empty() {
            self.chosen = Some(From::Long);
        }
    }

    /// A pax block ended: `GNU.sparse.name` goes before `path`; empty values have no effect.
    pub(super) fn choose_pax(&mut self, binary: bool) -> Result<(), Error> {
        let from = [From::Sparse, From::Path].into_iter().find(|&from| !self.whole(from).is_empty());
        let Some(from) = from else { return Ok(()) };
        if !binary && !crate::bytes::is_utf8(self.whole(from)) {
            return Err(refuse(ContainerCode::PaxUtf8).name(self.whole(from)));
        }
        self.chosen = Some(from);
        Ok(())
    }

    /// The name that counts for the next member, if a record gave one.
    pub(super) fn chosen(&self) -> Option<&[u8]> {
        self.chosen.map(|from| cut_at_nul(self.whole(from)))
    }
}
