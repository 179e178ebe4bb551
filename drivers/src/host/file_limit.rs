//! The limit on the size of files (`ulimit -f`): the system tells whoever writes beyond it by a signal that ends the
//! process, unless the process does not mind it.

/// Makes a write beyond the limit an error like any other (`EFBIG`), for the whole process and what it starts.
pub fn is_an_error() {
    // SAFETY: the signal gets no handler, so nothing of ours ever runs in one.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}
