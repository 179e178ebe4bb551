//! Running out of arena.

use core::fmt;

/// The arena ran out.
///
/// `needed` is exact for the step that failed: with `needed - available` bytes more that step succeeds, with
/// eight bytes less than that it fails again with the same `needed`. It is what the step takes at once, rounded up to 8
/// as it is stored, not what the rest of the load will take; an arena raised by the difference again and again ends at
/// the size that `neffload plan` prints. Before there is an arena, a host that pays for all memory out of one budget
/// states the sum of its fixed buffers and of the null area as `needed`, and the budget as `available`.
///
/// A step that fails takes nothing, and a stage that fails gives back everything it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaFull {
    /// Bytes that the failing step takes.
    pub needed: usize,
    /// Bytes between head and tail.
    pub available: usize,
}

impl fmt::Display for ArenaFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the arena is full: {} bytes needed, {} available", self.needed, self.available)
    }
}

impl core::error::Error for ArenaFull {}
