//! Things that tests do to their own thread and process.

use std::io;
use std::time::Duration;

/// Makes SIGTERM pending in the calling thread's own set: it is blocked there and sent to the thread.
pub fn pend_sigterm() {
    // SAFETY: the set is initialised before it is used; the signal is blocked before it is sent.
    unsafe {
        let mut set: libc::sigset_t = core::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGTERM);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, core::ptr::null_mut());
        libc::syscall(libc::SYS_tgkill, libc::getpid(), libc::syscall(libc::SYS_gettid), libc::SIGTERM);
    }
}

/// Forks; the child runs `action`, which may only make system calls, and exits with its value. Gives the wait
/// status of the child.
///
/// # Errors
/// If there can be no child.
pub fn fork_and(action: impl FnOnce() -> i32) -> io::Result<i32> {
    // SAFETY: the child runs `action`, which by this function's contract is async-signal-safe, and leaves
    // without unwinding or running destructors.
    unsafe {
        match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => libc::_exit(action()),
            child => {
                let mut status = 0;
                while libc::waitpid(child, &raw mut status, 0) < 0 {}
                Ok(status)
            }
        }
    }
}

/// Processor time of all children of this process that have ended and were waited for, user and system time together.
#[must_use]
pub fn children_cpu() -> Duration {
    // SAFETY: all zeros is a value of the record, which is valid to write.
    let usage = unsafe {
        let mut usage: libc::rusage = core::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let time = |time: libc::timeval| Duration::new(time.tv_sec.unsigned_abs(), time.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// Processor time of the calling thread.
#[must_use]
pub fn thread_cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is valid to write.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}
