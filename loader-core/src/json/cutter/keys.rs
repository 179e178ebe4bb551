//! The key memory: a stack of unescaped keys, each after its length in two bytes.

use super::path::Level;
use crate::json::text::Utf8;
use core::ops::Range;

const PREFIX: usize = 2;

/// The keys of the entered containers, outermost first.
#[derive(Debug)]
pub(super) struct Keys<'b> {
    memory: &'b mut [u8],
    used: usize,
}

impl<'b> Keys<'b> {
    pub(super) const fn new(memory: &'b mut [u8]) -> Self {
        Self { memory, used: 0 }
    }

    pub(super) const fn clear(&mut self) {
        self.used = 0;
    }

    pub(super) const fn capacity(&self) -> usize {
        self.memory.len()
    }

    pub(super) const fn used(&self) -> usize {
        self.used
    }

    pub(super) fn at(&self, key: &Range<usize>) -> &[u8] {
        self.memory.get(key.clone()).unwrap_or(&[])
    }

    /// A key begins in that container: the one before is forgotten, unless the keys are compared.
    pub(super) fn begin(&mut self, level: Option<&Level>) {
        self.used = self.next(level);
    }

    /// Where the next key of that container goes.
    fn next(&self, level: Option<&Level>) -> usize {
        level.filter(|level| !level.unique).map_or(self.used, |level| level.base)
    }

    /// The container was left.
    pub(super) const fn release(&mut self, level: &Level) {
        self.used = level.base;
    }

    /// Bytes that the key which has begun may have.
    pub(super) fn room(&self) -> usize {
        self.room_from(self.used)
    }

    /// Bytes that the next key of that container may have.
    pub(super) fn next_room(&self, level: Option<&Level>) -> usize {
        self.room_from(self.next(level))
    }

    fn room_from(&self, used: usize) -> usize {
        let free = self.memory.len().saturating_sub(used).saturating_sub(PREFIX);
        free.min(usize::from(u16::MAX))
    }

    /// Where the present key's raw bytes are gathered.
    pub(super) fn free(&mut self) -> &mut [u8] {
        let (start, end) = self.place(self.room());
        self.memory.get_mut(start..end).unwrap_or(&mut [])
    }

    /// The raw bytes of a key that did not fit, as far as they did.
    pub(super) fn gathered(&self) -> &[u8] {
        let (start, end) = self.place(self.room());
        self.memory.get(start..end).unwrap_or(&[])
    }

    fn place(&self, len: usize) -> (usize, usize) {
        let start = self.used.saturating_add(PREFIX);
        (start, start.saturating_add(len))
    }

    /// The present key is complete: `raw` gathered bytes, perhaps with escapes in them. False if its object has it already.
    pub(super) fn end(&mut self, level: &mut Level, raw: usize, escaped: bool) -> bool {
        let len =
            if escaped { unescape_in_place(self.free().get_mut(..raw).unwrap_or(&mut [])) } else { raw };
        let (start, end) = self.place(len);
        if let Some(prefix) = self.memory.get_mut(self.used..start) {
            crate::bytes::copy(prefix, &u16::try_from(len).unwrap_or(u16::MAX).to_le_bytes());
        }
        let fresh = !level.unique || !self.has(level.base, start..end);
        self.used = end;
        level.key = start..end;
        fresh
    }

    /// True if one of the keys between `base` and the present one equals it.
    fn has(&self, base: usize, present: Range<usize>) -> bool {
        let present = self.at(&present);
        let mut rest = self.memory.get(base..self.used).unwrap_or(&[]);
        while let Some((prefix, keys)) = rest.split_first_chunk::<PREFIX>() {
            let len = usize::from(u16::from_le_bytes(*prefix));
            let Some((key, after)) = keys.split_at_checked(len) else { return false };
            if key == present {
                return true;
            }
            rest = after;
        }
        false
    }
}

/// Replaces the escapes in a validated string by their characters; returns the new length.
fn unescape_in_place(text: &mut [u8]) -> usize {
    let (mut left, mut to) = (text.len(), 0usize);
    loop {
        let from = text.len().saturating_sub(left);
        let mut rest = text.get(from..).unwrap_or(&[]);
        let Some(one) = Utf8::next(&mut rest) else { return to };
        left = rest.len();
        let bytes = one.as_bytes();
        crate::bytes::copy(text.get_mut(to..).unwrap_or(&mut []), bytes);
        to = to.saturating_add(bytes.len());
    }
}
