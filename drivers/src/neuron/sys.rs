//! The system calls that the device needs, with raw kernel results.
//!
//! Two back ends stand behind [`Sys`]: [`Libc`](super::Libc) and, for images without a C library,
//! [`Bare`](super::Bare). The simulated driver offers a third without any kernel.

use core::ffi::CStr;

/// How a node is opened. All descriptors are close-on-exec; a full-lane descriptor must never be duplicated
/// (driver-abi.md §2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Full lane without writable mappings; also plain files.
    Read,
    /// Misc lane.
    Write,
    /// Full lane.
    ReadWrite,
}

/// An open descriptor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fd(pub i32);

/// A negated errno, as the kernel returns it, turned positive.
pub type Errno = i32;

/// System calls. Results are the kernel's own: nothing is retried, nothing is turned into `errno`.
pub trait Sys {
    /// Opens `path`.
    ///
    /// # Errors
    /// The errno.
    fn open(&self, path: &CStr, access: Access) -> Result<Fd, Errno>;

    /// Closes a descriptor. On the full lane the last close of a process frees everything it holds.
    fn close(&self, fd: Fd);

    /// Whether a path exists. Nothing is opened: opening a device has effects.
    fn exists(&self, path: &CStr) -> bool;

    /// Reads from a descriptor at its position.
    ///
    /// # Errors
    /// The errno.
    fn read(&self, fd: Fd, out: &mut [u8]) -> Result<usize, Errno>;

    /// `ioctl`: 0 on success, a negated errno, or a positive number, which is a failure too.
    ///
    /// # Safety
    /// `argument` and every address inside the structure it points to must be valid for what the request
    /// reads and writes (driver-abi.md §5).
    unsafe fn ioctl(&self, fd: Fd, request: u32, argument: *mut u8) -> i64;

    /// Maps `length` bytes at `offset`, shared.
    ///
    /// # Errors
    /// The errno.
    fn mmap(&self, fd: Fd, length: usize, offset: u64, write: bool) -> Result<*mut u8, Errno>;

    /// Unmaps.
    ///
    /// # Safety
    /// The range must be exactly one that [`Sys::mmap`] gave, and nothing may refer to it any more.
    unsafe fn munmap(&self, address: *mut u8, length: usize);

    /// Gives the processor away for about a millisecond.
    fn pause(&self);

    /// Milliseconds of a clock that only goes forward.
    fn milliseconds(&self) -> u64;
}

impl<S: Sys + ?Sized> Sys for &S {
    fn open(&self, path: &CStr, access: Access) -> Result<Fd, Errno> {
        (**self).open(path, access)
    }

    fn close(&self, fd: Fd) {
        (**self).close(fd);
    }

    fn exists(&self, path: &CStr) -> bool {
        (**self).exists(path)
    }

    fn read(&self, fd: Fd, out: &mut [u8]) -> Result<usize, Errno> {
        (**self).read(fd, out)
    }

    unsafe fn ioctl(&self, fd: Fd, request: u32, argument: *mut u8) -> i64 {
        // SAFETY: the caller's promise is passed on unchanged.
        unsafe { (**self).ioctl(fd, request, argument) }
    }

    fn mmap(&self, fd: Fd, length: usize, offset: u64, write: bool) -> Result<*mut u8, Errno> {
        (**self).mmap(fd, length, offset, write)
    }

    unsafe fn munmap(&self, address: *mut u8, length: usize) {
        // SAFETY: the caller's promise is passed on unchanged.
        unsafe { (**self).munmap(address, length) }
    }

    fn pause(&self) {
        (**self).pause();
    }

    fn milliseconds(&self) -> u64 {
        (**self).milliseconds()
    }
}
