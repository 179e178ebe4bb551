//! How deep the stack was: a pattern below it, and what is left of the pattern.

use core::hint::black_box;

const PATTERN: u8 = 0xA5;

/// The painted part of the stack.
pub struct Painted {
    low: *mut u8,
    high: *mut u8,
    top: usize,
}

/// Paints what lies below this frame of a stack of `bytes` bytes that begins at `top`: no byte beyond it.
///
/// # Safety
/// The stack must have that much, and this frame must be on it.
#[inline(never)]
pub unsafe fn paint(top: *const u8, bytes: usize) -> Painted {
    let mut here = 0u8;
    // Leaves this function's own frame, and the red zone, alone.
    let high = black_box(&raw mut here).wrapping_sub(256);
    let top = top as usize;
    let painted = (high as usize).saturating_sub(top.saturating_sub(bytes));
    let low = high.wrapping_sub(painted);
    for at in 0..painted {
        // SAFETY: the caller promises that these bytes are stack; nothing below this frame is in use.
        unsafe { low.add(at).write_volatile(PATTERN) };
    }
    Painted { low, high, top }
}

impl Painted {
    /// Bytes from the stack's top down to the deepest one that was written. All of it where nothing is left of the
    /// paint: then it may have been more.
    #[inline(never)]
    pub fn used(&self) -> usize {
        let mut at = self.low;
        // SAFETY: the bytes between low and high were painted, so they are stack of this thread.
        while at < self.high && unsafe { at.read_volatile() } == PATTERN {
            at = at.wrapping_add(1);
        }
        self.top.wrapping_sub(at as usize)
    }
}
