//! The twenty invariants by number, and one that does not hold.

use core::fmt;

/// What each invariant demands, I1 first (staging.md §18.6).
pub const INVARIANTS: [&str; 20] = [
    "live blocks do not overlap and lie in their channel outside the reserve",
    "the live blocks are exactly those that somebody claims",
    "no double free, no stale handle, no access out of range",
    "the ledger is the sum of the live blocks by core and usage",
    "every usage is legal where its block lies",
    "the first used byte of every block is aligned as asked",
    "constants read back as they are in the file",
    "nothing was written beyond the size asked for",
    "absolute descriptor addresses lie in live memory or in a window for their whole length",
    "templates stand in input and output rings only and name such a variable within its size",
    "both sides of a ring pair up and their packets open, close and stay within the limit",
    "ring capacities follow the rule, and padding copies four bytes onto themselves",
    "images are whole slots at their alignment without unlisted pseudo-instructions",
    "branches end on a slot of their image",
    "patched operands are the address of their variable",
    "slots, insertions and deletions of the position map add up, in order and in their section",
    "the position map covers every slot, goes up, and is the inverse of the way back",
    "a page, or another shared block, has as many references as models use it",
    "a refused load left the device as it was",
    "with nothing loaded, only the cores' own blocks are live",
];

/// An invariant that does not hold, with an address or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Number of the invariant: 1 for I1, the first of [`INVARIANTS`].
    pub invariant: u8,
    /// What was wrong.
    pub what: &'static str,
    /// An address, or a count.
    pub value: u64,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "I{}: {} ({:#x})", self.invariant, self.what, self.value)
    }
}

impl core::error::Error for Violation {}

pub(super) const fn check(
    holds: bool,
    invariant: u8,
    what: &'static str,
    value: u64,
) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation { invariant, what, value }) }
}
