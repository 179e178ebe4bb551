//! Threads that are cancelled. A cancellation unwinds the stack by force, which no Rust frame lets pass: the process
//! would end. So no call is a cancellation point; one that is pending takes effect in the caller, after the call.

use std::ffi::c_int;

/// `PTHREAD_CANCEL_DISABLE`; glibc and musl agree.
const DISABLE: c_int = 1;

// SAFETY: the C library has this function, with these arguments.
unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

/// While it lives, the calling thread is not cancelled.
pub(super) struct Uncancelled {
    before: c_int,
}

impl Uncancelled {
    pub(super) fn new() -> Self {
        let mut before = DISABLE;
        // SAFETY: `before` is an integer that lives through the call. Where the system refuses, it stays as it was.
        unsafe { pthread_setcancelstate(DISABLE, &raw mut before) };
        Self { before }
    }
}

impl Drop for Uncancelled {
    fn drop(&mut self) {
        let mut disabled = DISABLE;
        // SAFETY: as above; `before` is a state that the system named.
        unsafe { pthread_setcancelstate(self.before, &raw mut disabled) };
    }
}
