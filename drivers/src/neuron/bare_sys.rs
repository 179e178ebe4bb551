//! System calls by their instruction, for images without a C library.

use super::sys::{Access, Errno, Fd, Sys};
use core::arch::asm;
use core::ffi::CStr;

/// Linux system calls on x86-64 and arm64, without a C library.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bare;

/// Numbers and flags of the calls used here.
#[cfg(target_arch = "x86_64")]
mod nr {
    pub(super) const READ: usize = 0;
    pub(super) const CLOSE: usize = 3;
    pub(super) const MMAP: usize = 9;
    pub(super) const MUNMAP: usize = 11;
    pub(super) const IOCTL: usize = 16;
    pub(super) const NANOSLEEP: usize = 35;
    pub(super) const CLOCK_GETTIME: usize = 228;
    pub(super) const OPENAT: usize = 257;
    pub(super) const FACCESSAT: usize = 269;
}

#[cfg(target_arch = "aarch64")]
mod nr {
    pub(super) const IOCTL: usize = 29;
    pub(super) const FACCESSAT: usize = 48;
    pub(super) const OPENAT: usize = 56;
    pub(super) const CLOSE: usize = 57;
    pub(super) const READ: usize = 63;
    pub(super) const NANOSLEEP: usize = 101;
    pub(super) const CLOCK_GETTIME: usize = 113;
    pub(super) const MUNMAP: usize = 215;
    pub(super) const MMAP: usize = 222;
}

/// "Relative to the current directory": paths here are absolute.
const AT_FDCWD: isize = -100;
const O_CLOEXEC: usize = 0o2_000_000;
/// A pipe that lies where a node should be blocks without it; the driver does not look at it.
const O_NONBLOCK: usize = 0o4000;
const PROT_READ: usize = 1;
const PROT_WRITE: usize = 2;
const MAP_SHARED: usize = 1;

/// # Safety
/// The arguments must be what the call of that number takes.
#[cfg(target_arch = "x86_64")]
unsafe fn call(number: usize, args: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = args;
    let result;
    // SAFETY: the kernel preserves all registers but rax, rcx and r11; the caller answers for the arguments.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// # Safety
/// The arguments must be what the call of that number takes.
#[cfg(target_arch = "aarch64")]
unsafe fn call(number: usize, args: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = args;
    let result;
    // SAFETY: the kernel preserves all registers but x0; the caller answers for the arguments.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
            options(nostack),
        );
    }
    result
}

/// A file descriptor as the register that carries it.
const fn register(fd: Fd) -> usize {
    fd.0 as isize as usize
}

const fn value(result: isize) -> Result<usize, Errno> {
    if result < 0 { Err(-result as Errno) } else { Ok(result as usize) }
}

impl Sys for Bare {
    fn open(&self, path: &CStr, access: Access) -> Result<Fd, Errno> {
        let mode = match access {
            Access::Read => 0,
            Access::Write => 1,
            Access::ReadWrite => 2,
        };
        let args = [AT_FDCWD as usize, path.as_ptr() as usize, mode | O_CLOEXEC | O_NONBLOCK, 0, 0, 0];
        // SAFETY: the path ends with a zero byte and lives until the call returns.
        value(unsafe { call(nr::OPENAT, args) }).map(|fd| Fd(fd as i32))
    }

    fn close(&self, fd: Fd) {
        // SAFETY: closing a number has no memory effects.
        unsafe { call(nr::CLOSE, [register(fd), 0, 0, 0, 0, 0]) };
    }

    fn exists(&self, path: &CStr) -> bool {
        let args = [AT_FDCWD as usize, path.as_ptr() as usize, 0, 0, 0, 0];
        // SAFETY: the path ends with a zero byte and lives until the call returns.
        unsafe { call(nr::FACCESSAT, args) == 0 }
    }

    fn read(&self, fd: Fd, out: &mut [u8]) -> Result<usize, Errno> {
        let args = [register(fd), out.as_mut_ptr() as usize, out.len(), 0, 0, 0];
        // SAFETY: the buffer is valid for its length.
        value(unsafe { call(nr::READ, args) })
    }

    unsafe fn ioctl(&self, fd: Fd, request: u32, argument: *mut u8) -> i64 {
        let args = [register(fd), request as usize, argument as usize, 0, 0, 0];
        // SAFETY: the caller promises that the argument fits the request.
        unsafe { call(nr::IOCTL, args) as i64 }
    }

    fn mmap(&self, fd: Fd, length: usize, offset: u64, write: bool) -> Result<*mut u8, Errno> {
        let prot = if write { PROT_READ | PROT_WRITE } else { PROT_READ };
        let args = [0, length, prot, MAP_SHARED, register(fd), offset as usize];
        // SAFETY: no address is asked for, so no existing mapping is touched.
        value(unsafe { call(nr::MMAP, args) }).map(|at| at as *mut u8)
    }

    unsafe fn munmap(&self, address: *mut u8, length: usize) {
        // SAFETY: the caller promises that the range is a mapping of its own.
        unsafe { call(nr::MUNMAP, [address as usize, length, 0, 0, 0, 0]) };
    }

    fn pause(&self) {
        let time = [0u64, 1_000_000];
        // SAFETY: two words of seconds and nanoseconds, alive until the call returns; nothing is written back.
        unsafe { call(nr::NANOSLEEP, [time.as_ptr() as usize, 0, 0, 0, 0, 0]) };
    }

    fn milliseconds(&self) -> u64 {
        let mut time = [0u64; 2];
        // SAFETY: clock 1 is the monotonic one; two words of seconds and nanoseconds are valid to write.
        unsafe { call(nr::CLOCK_GETTIME, [1, time.as_mut_ptr() as usize, 0, 0, 0, 0]) };
        time[0] * 1000 + time[1] / 1_000_000
    }
}
