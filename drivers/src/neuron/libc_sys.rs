//! System calls through the C library.

use super::sys::{Access, Errno, Fd, Sys};
use core::ffi::CStr;

/// The C library's wrappers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Libc;

fn errno() -> Errno {
    // SAFETY: the location is valid for this thread for as long as the thread lives.
    unsafe { *libc::__errno_location() }
}

/// A wrapper's result as the kernel gave it.
fn raw(result: i64) -> i64 {
    if result == -1 { -i64::from(errno()) } else { result }
}

impl Sys for Libc {
    fn open(&self, path: &CStr, access: Access) -> Result<Fd, Errno> {
        let mode = match access {
            Access::Read => libc::O_RDONLY,
            Access::Write => libc::O_WRONLY,
            Access::ReadWrite => libc::O_RDWR,
        };
        // The driver does not look at O_NONBLOCK; a pipe that lies where the node should be blocks without it.
        let flags = mode | libc::O_CLOEXEC | libc::O_NONBLOCK;
        // SAFETY: `path` ends with a zero byte; without O_CREAT there is no third argument.
        let fd = raw(i64::from(unsafe { libc::open(path.as_ptr(), flags) }));
        i32::try_from(fd).ok().filter(|fd| *fd >= 0).map(Fd).ok_or_else(|| (-fd) as Errno)
    }

    fn close(&self, fd: Fd) {
        // SAFETY: closing a number has no memory effects; an unknown one is answered with EBADF.
        unsafe { libc::close(fd.0) };
    }

    fn exists(&self, path: &CStr) -> bool {
        // SAFETY: `path` ends with a zero byte.
        unsafe { libc::access(path.as_ptr(), libc::F_OK) == 0 }
    }

    fn read(&self, fd: Fd, out: &mut [u8]) -> Result<usize, Errno> {
        // SAFETY: the buffer is valid for its length.
        let got = raw(unsafe { libc::read(fd.0, out.as_mut_ptr().cast(), out.len()) } as i64);
        usize::try_from(got).map_err(|_| (-got) as Errno)
    }

    unsafe fn ioctl(&self, fd: Fd, request: u32, argument: *mut u8) -> i64 {
        // The type of the request differs between C libraries: converted, not range-checked.
        // SAFETY: the caller promises that the argument fits the request.
        raw(i64::from(unsafe { libc::ioctl(fd.0, request as _, argument) }))
    }

    fn mmap(&self, fd: Fd, length: usize, offset: u64, write: bool) -> Result<*mut u8, Errno> {
        let prot = if write { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        // SAFETY: no address is asked for, so no existing mapping is touched.
        let at = unsafe {
            libc::mmap(core::ptr::null_mut(), length, prot, libc::MAP_SHARED, fd.0, offset as libc::off_t)
        };
        if at == libc::MAP_FAILED { Err(errno()) } else { Ok(at.cast()) }
    }

    unsafe fn munmap(&self, address: *mut u8, length: usize) {
        // SAFETY: the caller promises that the range is a mapping of its own.
        unsafe { libc::munmap(address.cast(), length) };
    }

    fn pause(&self) {
        let time = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        // SAFETY: the time is valid, and nothing is written back through a null pointer.
        unsafe { libc::nanosleep(&raw const time, core::ptr::null_mut()) };
    }

    fn milliseconds(&self) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the time is valid to write.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
        (time.tv_sec as u64) * 1000 + (time.tv_nsec as u64) / 1_000_000
    }
}
