//! Things that tests and `neffload-simdrv` do to their own thread and process.

use core::sync::atomic::{AtomicI32, Ordering};
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

/// Allows this process as many descriptors as it may have. Gives the limit as it was, soft and hard.
#[must_use]
pub fn raise_descriptor_limit() -> Option<(u64, u64)> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is valid to write.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return None;
    }
    let raised = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
    // SAFETY: the limit is valid to read.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) };
    Some((limit.rlim_cur, limit.rlim_max))
}

/// Who gets the signals of this process; 0 for nobody.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// Signals that ask a program to end.
const ENDINGS: [i32; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

extern "C" fn forward(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let child = CHILD.load(Ordering::Relaxed);
    // SAFETY: the kernel passes a valid description of the signal.
    let terminal = unsafe { (*info).si_code } > 0;
    // SAFETY: all calls are async-signal-safe and pass no memory.
    unsafe {
        let errno = *libc::__errno_location();
        if child == 0 {
            // Nobody to pass it to: it means this process.
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        } else if !terminal {
            // A terminal sends its signals to the child as well.
            libc::kill(child, signal);
        }
        *libc::__errno_location() = errno;
    }
}

/// Passes signals that ask this process to end on to a child, so that its end can be reported; `None` when it is over.
/// Signals that are ignored stay ignored.
pub fn forward_signals(child: Option<u32>) {
    CHILD.store(child.map_or(0, u32::cast_signed), Ordering::Relaxed);
    if child.is_none() {
        return;
    }
    for signal in ENDINGS {
        // SAFETY: both structures are valid; the handler is async-signal-safe.
        unsafe {
            let mut old: libc::sigaction = core::mem::zeroed();
            libc::sigaction(signal, core::ptr::null(), &raw mut old);
            if old.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut new: libc::sigaction = core::mem::zeroed();
            new.sa_sigaction = forward as *const () as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &raw const new, core::ptr::null_mut());
        }
    }
}
