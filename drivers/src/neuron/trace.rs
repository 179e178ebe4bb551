//! Calls that are watched: each becomes a line, as `strace` would print it but with names.

mod words;

use super::sys::{Access, Errno, Fd, Sys};
use crate::abi::request::{self as req, Request};
use core::ffi::CStr;

/// One call that was made.
#[derive(Clone, Copy, Debug)]
pub enum Line<'a> {
    /// A node was opened.
    Open {
        /// Its path.
        path: &'a CStr,
        /// How.
        access: Access,
        /// The descriptor, or the errno.
        result: Result<Fd, Errno>,
    },
    /// A descriptor was closed.
    Close {
        /// Which.
        fd: Fd,
    },
    /// A request.
    Ioctl {
        /// On which descriptor.
        fd: Fd,
        /// Its value.
        request: u32,
        /// The argument structure after the call.
        argument: &'a [u8],
        /// The raw result.
        raw: i64,
        /// What a successful call stored outside its structure: a handle or an address.
        stored: Option<u64>,
    },
    /// A mapping was made.
    Map {
        /// Of which descriptor.
        fd: Fd,
        /// Bytes.
        length: usize,
        /// Offset, which is a device address.
        offset: u64,
        /// The errno if it failed.
        result: Result<(), Errno>,
    },
    /// A mapping was taken away.
    Unmap {
        /// Bytes.
        length: usize,
    },
}

/// System calls that are watched.
#[derive(Clone, Copy, Debug)]
pub struct Traced<S, W> {
    sys: S,
    watch: W,
}

impl<S, W: Fn(&Line<'_>)> Traced<S, W> {
    /// Tells `watch` about every call.
    pub const fn new(sys: S, watch: W) -> Self {
        Self { sys, watch }
    }
}

impl<S: Sys, W: Fn(&Line<'_>)> Sys for Traced<S, W> {
    fn open(&self, path: &CStr, access: Access) -> Result<Fd, Errno> {
        let result = self.sys.open(path, access);
        (self.watch)(&Line::Open { path, access, result });
        result
    }

    fn close(&self, fd: Fd) {
        self.sys.close(fd);
        (self.watch)(&Line::Close { fd });
    }

    fn exists(&self, path: &CStr) -> bool {
        self.sys.exists(path)
    }

    fn read(&self, fd: Fd, out: &mut [u8]) -> Result<usize, Errno> {
        self.sys.read(fd, out)
    }

    unsafe fn ioctl(&self, fd: Fd, request: u32, argument: *mut u8) -> i64 {
        // SAFETY: the caller's promise is passed on unchanged.
        let raw = unsafe { self.sys.ioctl(fd, request, argument) };
        let known =
            Request::from_value(request).or_else(|| req::LATER.iter().find(|row| row.value == request));
        let bytes = known.map_or(0, |row| usize::from(row.bytes));
        let argument = if argument.is_null() || bytes == 0 {
            &[][..]
        } else {
            // SAFETY: the caller promised that the argument is valid for what the request reads and writes,
            // which is this many bytes; the call is over and nobody writes them now.
            unsafe { core::slice::from_raw_parts(argument, bytes) }
        };
        let place = words::stores(request, argument).filter(|address| raw == 0 && *address != 0);
        // SAFETY: the call succeeded, so the driver has stored eight bytes at this address, which the caller
        // promised to be valid for that.
        let stored = place.map(|address| unsafe { (address as *const u64).read_unaligned() });
        (self.watch)(&Line::Ioctl { fd, request, argument, raw, stored });
        raw
    }

    fn mmap(&self, fd: Fd, length: usize, offset: u64, write: bool) -> Result<*mut u8, Errno> {
        let result = self.sys.mmap(fd, length, offset, write);
        (self.watch)(&Line::Map { fd, length, offset, result: result.map(|_| ()) });
        result
    }

    unsafe fn munmap(&self, address: *mut u8, length: usize) {
        // SAFETY: the caller's promise is passed on unchanged.
        unsafe { self.sys.munmap(address, length) };
        (self.watch)(&Line::Unmap { length });
    }

    fn pause(&self) {
        self.sys.pause();
    }

    fn milliseconds(&self) -> u64 {
        self.sys.milliseconds()
    }
}
