//! Client memory for raw requests: a range of pages with an unmapped page behind it.

use std::io;

const PAGE: usize = 4096;

/// Bytes that a request's argument may point to. They are never borrowed, only copied.
#[derive(Debug)]
pub struct Scratch {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: the mapping belongs to the value alone; it does not matter which thread copies to and from it.
unsafe impl Send for Scratch {}

impl Scratch {
    /// Maps at least `bytes` bytes, zeroed; the page behind them cannot be accessed.
    ///
    /// # Errors
    /// That of `mmap`.
    pub fn new(bytes: usize) -> io::Result<Self> {
        let bytes = bytes.next_multiple_of(PAGE);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: an anonymous mapping at a place of the kernel's choice touches nothing that exists.
        let base = unsafe {
            libc::mmap(core::ptr::null_mut(), bytes + PAGE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the page is the last of the mapping made above, and nobody uses it.
        unsafe { libc::mprotect(base.byte_add(bytes), PAGE, libc::PROT_NONE) };
        Ok(Self { base: base.cast(), bytes })
    }

    /// The user address of byte `at`; `at` may be the length, which is the inaccessible page.
    #[must_use]
    pub fn address(&self, at: usize) -> u64 {
        self.base as u64 + at as u64
    }

    /// Address and bytes, for a fence.
    #[must_use]
    pub fn range(&self) -> (u64, u64) {
        (self.base as u64, self.bytes as u64)
    }

    /// Bytes before the inaccessible page.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Stores bytes.
    ///
    /// # Panics
    /// If they do not fit.
    pub fn put(&self, at: usize, bytes: &[u8]) {
        assert!(at <= self.bytes && bytes.len() <= self.bytes - at, "beyond the scratch memory");
        // SAFETY: the range was checked, the mapping lives as long as `self` and is never borrowed as a slice.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), self.base.add(at), bytes.len()) };
    }

    /// Copies bytes out.
    ///
    /// # Panics
    /// If they lie outside.
    pub fn get(&self, at: usize, out: &mut [u8]) {
        assert!(at <= self.bytes && out.len() <= self.bytes - at, "beyond the scratch memory");
        // SAFETY: as in `put`.
        unsafe { core::ptr::copy_nonoverlapping(self.base.add(at), out.as_mut_ptr(), out.len()) };
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`; no reference into it exists.
        unsafe { libc::munmap(self.base.cast(), self.bytes + PAGE) };
    }
}
