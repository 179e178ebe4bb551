//! What the host has left on its heap. A request that the system refuses ends the process unless whoever made it can
//! bear a refusal; the many small ones cannot. So every large one, and every one whose size somebody else decides, is
//! made in a way that can be refused, and only if [`MARGIN`] is left for the small ones.

use std::vec::Vec;

/// Bytes that must be left for small requests.
pub const MARGIN: usize = 2 << 20;

/// Whether `bytes` could be had in one piece just now.
#[must_use]
pub fn left(bytes: usize) -> bool {
    let mut probe: Vec<u8> = Vec::new();
    let had = probe.try_reserve_exact(bytes).is_ok();
    // Without this, the compiler takes the request away and answers yes.
    core::hint::black_box(&probe);
    had
}
