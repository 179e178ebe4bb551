//! What a process was given to write to. The language's runtime opens `/dev/null` in the place of a standard stream that is
//! closed, before a program begins: from then on nobody can tell, and everything that is written is lost without a word.

use core::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the process began (`>&-`); false where that cannot be known.
#[must_use]
pub fn stdout_was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// Called before the language's runtime begins.
#[cfg(all(target_os = "linux", not(miri)))]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

#[cfg(all(target_os = "linux", not(miri)))]
extern "C" fn look() {
    // SAFETY: the call asks for the flags of a descriptor, whether it is one or not, and changes nothing.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    CLOSED.store(flags == -1, Ordering::Relaxed);
}
