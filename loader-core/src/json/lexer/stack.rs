//! Which containers are open: one bit per level.

use super::DEPTH_MAX;

const WORDS: usize = 16;
const _: () = assert!(WORDS * 64 == 1024 && DEPTH_MAX == 1024);

/// The open containers, innermost last. A set bit is an object.
#[derive(Clone, Debug)]
pub(super) struct Stack {
    bits: [u64; WORDS],
    depth: u16,
    most: u16,
    in_object: bool,
}

impl Stack {
    pub(super) const fn new(most: u16) -> Self {
        Self { bits: [0; WORDS], depth: 0, most, in_object: false }
    }

    pub(super) const fn clear(&mut self) {
        (self.depth, self.in_object) = (0, false);
    }

    pub(super) const fn depth(&self) -> u16 {
        self.depth
    }

    /// True if the innermost container is an object.
    pub(super) const fn in_object(&self) -> bool {
        self.in_object
    }

    /// Opens a container; false if that is one too many.
    pub(super) fn push(&mut self, object: bool) -> bool {
        if self.depth >= self.most {
            return false;
        }
        let Some(word) = self.bits.get_mut(usize::from(self.depth >> 6)) else { return false };
        let bit = 1u64.wrapping_shl(u32::from(self.depth & 63));
        *word = if object { *word | bit } else { *word & !bit };
        self.depth = self.depth.saturating_add(1);
        self.in_object = object;
        true
    }

    /// Closes the innermost container.
    pub(super) fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        let outer = self.depth.saturating_sub(1);
        let word = self.bits.get(usize::from(outer >> 6)).copied().unwrap_or(0);
        self.in_object = self.depth > 0 && word.wrapping_shr(u32::from(outer & 63)) & 1 == 1;
    }
}
