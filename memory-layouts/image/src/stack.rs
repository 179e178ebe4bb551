//! How deep the stack was: a pattern below it, and what is left of the pattern.

use core::hint::black_box;

const PATTERN: u8 = 0xA5;

/// The painted part of the stack.
pub struct Painted {
    low: *mut u8,
    high: *mut u8,
}

/// Paints `bytes` bytes below this frame.
///
/// # Safety
/// That much stack must lie below the caller's frame, unused.
#[inline(never)]
pub unsafe fn paint(bytes: usize) -> Painted {
    let mut here = 0u8;
    // Leaves this function's own frame, and the red zone, alone.
    let high = black_box(&raw mut here).wrapping_sub(256);
    let low = high.wrapping_sub(bytes);
    for at in 0..bytes {
        // SAFETY: the caller promises that these bytes are unused stack.
        unsafe { low.add(at).write_volatile(PATTERN) };
    }
    Painted { low, high }
}

impl Painted {
    /// Bytes from the top of the paint down to the deepest one that was written.
    #[inline(never)]
    pub fn used(&self) -> usize {
        let mut at = self.low;
        // SAFETY: the bytes between low and high were painted, so they are stack of this thread.
        while at < self.high && unsafe { at.read_volatile() } == PATTERN {
            at = at.wrapping_add(1);
        }
        self.high as usize - at as usize
    }
}
