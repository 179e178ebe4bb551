//! A responder that does nothing, for measuring what a caller itself costs.

use super::seccomp;
use std::io;
use std::time::Duration;

/// From now on every `ioctl` of the calling thread with that request succeeds at once, inside the kernel: the
/// cost of the system call stays, the driver's work does not. It cannot be undone and ends with the thread.
///
/// # Errors
/// If the kernel forbids filters.
pub fn silence(request: u32) -> io::Result<()> {
    seccomp::install_silence(request)
}

/// Processor time of the calling thread.
#[must_use]
pub fn thread_cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is valid to write.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}
