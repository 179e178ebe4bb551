//! Offenders that the audit's tests plant: each makes one check fail. None is in an ordinary image.

/// Called once at the start, so that what is planted is linked.
#[inline(always)]
pub fn plant() {
    #[cfg(feature = "whole")]
    crate::whole::call();
    #[cfg(feature = "planted-allocator")]
    allocator::use_it();
    #[cfg(feature = "planted-panic")]
    panics::use_it();
    #[cfg(feature = "planted-recursion")]
    recursion::use_it();
    #[cfg(feature = "planted-frame")]
    frame::planted_frame();
    #[cfg(feature = "planted-bulk")]
    bulk::use_it();
}

#[cfg(feature = "planted-allocator")]
mod allocator {
    extern crate alloc;
    use core::alloc::{GlobalAlloc, Layout};

    struct Nothing;

    // SAFETY: hands out no memory at all, which is always allowed.
    unsafe impl GlobalAlloc for Nothing {
        // Not inlined, and not seen to give nothing: else the compiler leaves no trace of it.
        #[inline(never)]
        // SAFETY: as above.
        unsafe fn alloc(&self, _: Layout) -> *mut u8 {
            core::hint::black_box(core::ptr::null_mut())
        }

        // SAFETY: there is nothing to give back.
        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
    }

    #[global_allocator]
    static NOTHING: Nothing = Nothing;

    pub(super) fn use_it() {
        let length = core::hint::black_box(3);
        core::hint::black_box(alloc::vec![0u8; length]);
    }
}

#[cfg(feature = "planted-panic")]
mod panics {
    #[inline(never)]
    fn planted_panic(index: usize) -> u8 {
        [1, 2, 3][index]
    }

    pub(super) fn use_it() {
        core::hint::black_box(planted_panic(core::hint::black_box(1)));
    }
}

#[cfg(feature = "planted-recursion")]
mod recursion {
    use core::fmt::{self, Write};
    use core::hint::black_box;

    #[inline(never)]
    fn planted_recursion(depth: u32) -> u32 {
        let below = if depth == 0 { 0 } else { planted_recursion(black_box(depth - 1)) };
        black_box(below) ^ depth
    }

    static TABLE: [fn(u32) -> u32; 2] = [planted_even, planted_odd];

    /// Ends in a jump through a table of functions, which looks as the one of a `match` does.
    #[inline(never)]
    fn planted_table(depth: u32) -> u32 {
        TABLE[(depth & 1) as usize](depth)
    }

    #[inline(never)]
    fn planted_even(depth: u32) -> u32 {
        if depth == 0 { 0 } else { planted_table(black_box(depth - 1)) ^ black_box(depth) }
    }

    #[inline(never)]
    fn planted_odd(depth: u32) -> u32 {
        planted_table(black_box(depth - 1)) ^ black_box(depth + 1)
    }

    /// A text that holds another of its kind.
    struct PlantedText(u32);

    impl fmt::Display for PlantedText {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            if self.0 == 0 { f.write_str("") } else { write!(f, "{}", PlantedText(self.0 - 1)) }
        }
    }

    struct Nowhere;

    impl Write for Nowhere {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            black_box(text);
            Ok(())
        }
    }

    pub(super) fn use_it() {
        black_box((planted_recursion(black_box(3)), planted_table(black_box(3))));
        let _ = write!(Nowhere, "{}", PlantedText(black_box(3)));
    }
}

#[cfg(feature = "planted-frame")]
mod frame {
    #[inline(never)]
    pub(super) fn planted_frame() {
        core::hint::black_box([0u8; 24 << 10]);
    }
}

#[cfg(feature = "planted-bulk")]
mod bulk {
    static BULK: [u64; 2048] = [0x0123_4567_89AB_CDEF; 2048];

    pub(super) fn use_it() {
        core::hint::black_box(&BULK);
    }
}
