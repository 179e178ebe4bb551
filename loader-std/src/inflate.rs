//! The decoder of deflate data on hosts: a fifth faster than the core's own, which images use, by the processor's
//! wide registers. It needs a heap, so it cannot stand in the core.

use loader_core::container::{Inflate, Inflated, Stop};
use std::fmt;
use std::ops::Range;
use zlib_rs::{InflateFlush, Status};

/// Deflate's window, as a power of two.
const WINDOW_BITS: u8 = 15;

/// zlib's decoder, in Rust.
pub struct Zlib(zlib_rs::Inflate);

impl Zlib {
    /// Bytes on the heap, rounded up: its window, which it keeps beside the caller's ring, and its tables.
    pub const HEAP: usize = 47 << 10;

    /// A decoder at the beginning of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self(zlib_rs::Inflate::new(false, WINDOW_BITS))
    }
}

impl Default for Zlib {
    fn default() -> Self {
        Self::new()
    }
}

impl Inflate for Zlib {
    fn reset(&mut self) {
        self.0.reset(false);
    }

    fn inflate(&mut self, input: &[u8], ring: &mut [u8], place: Range<usize>, _fresh: bool) -> Inflated {
        let room = ring.get_mut(place).unwrap_or_default();
        let before = (self.0.total_in(), self.0.total_out());
        let status = self.0.decompress(input, room, InflateFlush::NoFlush);
        // No more than the lengths of the two slices.
        let (used, made) =
            ((self.0.total_in() - before.0) as usize, (self.0.total_out() - before.1) as usize);
        let stop = match status {
            Ok(Status::StreamEnd) => Stop::End,
            Ok(Status::Ok | Status::BufError) if made == room.len() => Stop::Room,
            Ok(Status::Ok | Status::BufError) => Stop::Input,
            Err(_) => Stop::Damage,
        };
        Inflated { used, made, stop }
    }
}

impl fmt::Debug for Zlib {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Zlib")
    }
}
