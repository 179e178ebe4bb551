//! What the host has left of its memory. A request that the system refuses ends the process unless whoever made it can
//! bear a refusal; the many small ones cannot. So every large one, and every one whose size somebody else decides, is
//! made in a way that can be refused, and only if [`MARGIN`] is left for the small ones.

use core::ptr::null_mut;
use libc::{MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, PROT_READ, PROT_WRITE, mmap, munmap};

/// Bytes that must be left for small requests.
pub const MARGIN: usize = 2 << 20;

/// Whether the system would give `bytes` in one piece just now, as far as limits and accounting tell; none is taken.
#[must_use]
pub fn left(bytes: usize) -> bool {
    let (access, kind) = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    // SAFETY: the system chooses a place where nothing is, so no memory of anybody's changes.
    let probe = unsafe { mmap(null_mut(), bytes.max(1), access, kind, -1, 0) };
    // SAFETY: the mapping is the one just made, and nobody else knows of it.
    probe != MAP_FAILED && unsafe { munmap(probe, bytes.max(1)) } == 0
}

#[cfg(test)]
mod tests {
    use super::{MARGIN, left};

    #[test]
    fn more_than_there_can_be_is_not_left() {
        assert!(left(0) && left(MARGIN));
        assert!(!left(isize::MAX as usize) && !left(usize::MAX));
    }
}
