//! Sparse members: a list of extents with holes between them (container.md §10.8).

use super::number;
use super::{refuse, wide};
use crate::error::{ContainerCode, Error};
use zerocopy::FromZeros;

/// One run of data inside a sparse member, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromZeros)]
pub struct Extent {
    /// Where it starts in the member.
    pub offset: i64,
    /// How long it is.
    pub length: i64,
}

/// The extents of one member, in caller memory.
#[derive(Debug)]
pub(super) struct Extents<'w> {
    memory: &'w mut [Extent],
    len: usize,
}

impl<'w> Extents<'w> {
    pub(super) const fn new(memory: &'w mut [Extent]) -> Self {
        Self { memory, len: 0 }
    }

    pub(super) const fn clear(&mut self) {
        self.len = 0;
    }

    pub(super) fn push(&mut self, offset: i64, length: i64) -> Result<(), Error> {
        let full = refuse(ContainerCode::SparseLimit).numbers(wide(self.memory.len()), 0);
        *self.memory.get_mut(self.len).ok_or(full)? = Extent { offset, length };
        self.len = self.len.saturating_add(1);
        Ok(())
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn get(&self, index: usize) -> Option<Extent> {
        self.memory.get(..self.len)?.get(index).copied()
    }

    /// Extents of the old GNU form: pairs of 12-byte fields, ended by a NUL.
    pub(super) fn push_old(&mut self, raw: &[u8]) -> Result<(), Error> {
        for pair in raw.as_chunks::<24>().0 {
            if pair.first() == Some(&0) {
                break;
            }
            let Some((offset, length)) = pair.split_at_checked(12) else { break };
            self.push(number::field(offset), number::field(length))?;
        }
        Ok(())
    }
}

/// A list of decimal numbers between commas: the value of `GNU.sparse.map`.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommaList {
    digits: bool,
    value: i64,
    first: Option<i64>,
}

impl CommaList {
    pub(super) const NONE: Self = Self { digits: false, value: 0, first: None };

    pub(super) fn feed(&mut self, byte: u8, extents: &mut Extents<'_>) -> Result<(), Error> {
        match byte {
            b'0'..=b'9' => {
                self.value = append_digit(self.value, byte);
                self.digits = true;
                Ok(())
            }
            b',' => self.number(extents),
            _ => Err(refuse(ContainerCode::SparseMap)),
        }
    }

    /// A number ends, at a comma or with the value.
    pub(super) fn number(&mut self, extents: &mut Extents<'_>) -> Result<(), Error> {
        if !self.digits {
            return Err(refuse(ContainerCode::SparseMap));
        }
        match self.first.take() {
            None => self.first = Some(self.value),
            Some(offset) => extents.push(offset, self.value)?,
        }
        (self.digits, self.value) = (false, 0);
        Ok(())
    }
}

#[inline(never)]
fn append_digit(value: i64, byte: u8) -> i64 {
    value.saturating_mul(10).saturating_add(i64::from(byte.saturating_sub(b'0')))
}

/// Longest line of a sparse map inside a member.
const LINE: u64 = 100;

/// The map of form 1.0 at the start of the member's body: a count, then pairs, one number a line; `#` lines
/// are comments; padded to a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextMap {
    /// Numbers that are still to come; `None` before the count.
    left: Option<u64>,
    first: Option<i64>,
    value: i64,
    /// Bytes of the present line.
    line: u64,
    comment: bool,
    /// A byte that is no digit was seen.
    spoiled: bool,
    /// Bytes of the body that the map may still use.
    budget: u64,
    used: u64,
}

impl TextMap {
    /// A map at the start of a body of `budget` bytes.
    pub(super) fn new(budget: u64) -> Self {
        Self { left: None, first: None, value: 0, line: 0, comment: false, spoiled: false, budget, used: 0 }
    }

    /// Bytes of the body behind the map, and the fill up to the next block that belongs to it.
    pub(super) fn rest(&self) -> Result<(u64, u64), Error> {
        let fill = super::padding(self.used);
        let rest = self.budget.checked_sub(fill).ok_or_else(|| refuse(ContainerCode::SparseText))?;
        Ok((rest, fill))
    }

    pub(super) fn done(&self) -> bool {
        self.left == Some(0)
    }

    /// Takes bytes up to the end of the map; returns how many.
    #[inline(never)]
    pub(super) fn feed(&mut self, bytes: &[u8], extents: &mut Extents<'_>) -> Result<usize, Error> {
        let mut used = 0usize;
        for &byte in bytes {
            if self.done() {
                break;
            }
            self.byte(byte, extents)?;
            used = used.saturating_add(1);
        }
        Ok(used)
    }

    fn byte(&mut self, byte: u8, extents: &mut Extents<'_>) -> Result<(), Error> {
        if self.line >= self.budget.min(LINE) {
            return Err(refuse(ContainerCode::SparseText));
        }
        self.line = self.line.saturating_add(1);
        match byte {
            b'\n' => return self.end_of_line(extents),
            b'#' if self.line == 1 => self.comment = true,
            b'0'..=b'9' => self.value = append_digit(self.value, byte),
            _ => self.spoiled = true,
        }
        Ok(())
    }

    fn end_of_line(&mut self, extents: &mut Extents<'_>) -> Result<(), Error> {
        self.budget = self.budget.saturating_sub(self.line);
        self.used = self.used.saturating_add(self.line);
        let (comment, value) = (self.comment, self.value);
        if self.spoiled && !comment {
            return Err(refuse(ContainerCode::SparseText));
        }
        (self.line, self.value, self.comment, self.spoiled) = (0, 0, false, false);
        if comment { Ok(()) } else { self.number(value, extents) }
    }

    fn number(&mut self, value: i64, extents: &mut Extents<'_>) -> Result<(), Error> {
        let Some(left) = self.left else {
            self.left = Some(u64::try_from(value).unwrap_or(0).saturating_mul(2));
            return Ok(());
        };
        self.left = Some(left.saturating_sub(1));
        match self.first.take() {
            None => self.first = Some(value),
            Some(offset) => extents.push(offset, value)?,
        }
        Ok(())
    }
}
