//! How a transfer is cut (staging.md §9): the pieces of a copy-in, in order.

use core::ops::Range;

/// Transfers below this many bytes go in one piece (Confirmed).
const HALVED_FROM: u64 = 0x4000;
/// Largest piece, and the largest transfer that is cut in two (Confirmed).
const LARGEST: u64 = 0x10_0000;

/// Bytes of one piece of a transfer of `total` bytes.
#[must_use]
pub const fn piece(total: u64) -> u64 {
    if total < HALVED_FROM {
        HALVED_FROM
    } else if total <= LARGEST {
        (total / 2).next_multiple_of(0x1000)
    } else {
        LARGEST
    }
}

/// The pieces of a transfer of `total` bytes; none for an empty one.
pub fn pieces(total: u64) -> impl Iterator<Item = Range<u64>> {
    cuts(total, 0..total)
}

/// The part of a transfer that `range` covers, cut where the whole transfer is cut.
pub fn cuts(total: u64, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let step = piece(total);
    let mut at = range.start;
    core::iter::from_fn(move || {
        if at >= range.end {
            return None;
        }
        let border = at.checked_div(step)?.checked_add(1)?.saturating_mul(step);
        let start = at;
        at = border.min(range.end);
        Some(start..at)
    })
}

#[cfg(test)]
mod tests;
