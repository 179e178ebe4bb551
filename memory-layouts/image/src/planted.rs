//! Offenders that the audit's tests plant: each makes one check fail. None is in an ordinary image.

/// Called once at the start, so that what is planted is linked.
#[inline(always)]
pub fn plant() {
    #[cfg(feature = "planted-allocator")]
    allocator::use_it();
    #[cfg(feature = "planted-panic")]
    panics::use_it();
    #[cfg(feature = "planted-recursion")]
    core::hint::black_box(recursion::planted_recursion(core::hint::black_box(3)));
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
        unsafe fn alloc(&self, _: Layout) -> *mut u8 {
            core::hint::black_box(core::ptr::null_mut())
        }

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
    #[inline(never)]
    pub(super) fn planted_recursion(depth: u32) -> u32 {
        let below = if depth == 0 { 0 } else { planted_recursion(core::hint::black_box(depth - 1)) };
        core::hint::black_box(below) ^ depth
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
