//! A client for raw requests: what tests of the interface itself need.

use super::direct::Direct;
use super::host::{Options, Shared};
use super::scratch::Scratch;
use crate::neuron::{Access, Errno, Fd, Libc, Sys};
use std::ffi::CString;
use std::io;
use std::string::String;

/// Where the requests go.
#[derive(Debug)]
enum Door {
    Direct(std::boxed::Box<Direct>),
    Kernel(Libc),
}

/// Issues any request with any argument. Sound because whoever answers may touch the scratch memory only: the
/// simulated driver is fenced to it, and a kernel without the filter does not know these requests. Of a real driver
/// ([`Client::real`]) it is the caller who keeps it there.
#[derive(Debug)]
pub struct Client {
    door: Door,
    scratch: Scratch,
    device_dir: String,
}

impl Client {
    /// Scratch memory of a client, and options that fence the driver to it.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn prepare(bytes: usize, options: &Options) -> io::Result<(Scratch, Options)> {
        let scratch = Scratch::new(bytes)?;
        let options = Options { fence: std::vec![scratch.range()], ..options.clone() };
        Ok((scratch, options))
    }

    /// A simulated process that calls the state machine directly. `options` must fence to `scratch`.
    #[must_use]
    pub fn direct(shared: &Shared, options: &Options, tgid: u32, scratch: Scratch) -> Self {
        let fenced = Options { fence: std::vec![scratch.range()], ..options.clone() };
        let door = Door::Direct(std::boxed::Box::new(Direct::new(shared, &fenced, tgid)));
        Self { door, scratch, device_dir: options.device_dir.clone() }
    }

    /// The calling thread, under [`super::inside`] with options that fence to `scratch`.
    #[must_use]
    pub fn kernel(options: &Options, scratch: Scratch) -> Self {
        Self { door: Door::Kernel(Libc), scratch, device_dir: options.device_dir.clone() }
    }

    /// The calling thread, on a device that is there. The kernel follows every address in an argument: all of them
    /// must lie in `scratch`, with what the request reads and writes there.
    #[must_use]
    pub fn real(device_dir: &str, scratch: Scratch) -> Self {
        Self { door: Door::Kernel(Libc), scratch, device_dir: String::from(device_dir) }
    }

    fn sys(&self) -> &dyn Sys {
        match &self.door {
            Door::Direct(direct) => &**direct,
            Door::Kernel(libc) => libc,
        }
    }

    /// The scratch memory.
    #[must_use]
    pub const fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Whether calls pass through the kernel.
    #[must_use]
    pub const fn is_kernel(&self) -> bool {
        matches!(self.door, Door::Kernel(_))
    }

    /// Makes a SIGTERM pending in the calling thread.
    pub fn pend_sigterm(&self) {
        match &self.door {
            Door::Direct(direct) => direct.pend_sigterm(),
            Door::Kernel(_) => super::pend_sigterm(),
        }
    }

    /// Opens a device.
    ///
    /// # Errors
    /// The errno.
    pub fn open(&self, index: u32, access: Access) -> Result<Fd, Errno> {
        let path = CString::new(std::format!("{}/neuron{index}", self.device_dir)).unwrap_or_default();
        self.sys().open(&path, access)
    }

    /// Closes a descriptor.
    pub fn close(&self, fd: Fd) {
        self.sys().close(fd);
    }

    /// Duplicates a descriptor; `None` if calls do not pass through the kernel.
    #[must_use]
    pub fn dup(&self, fd: Fd) -> Option<Fd> {
        // SAFETY: no memory is passed.
        self.is_kernel().then(|| Fd(unsafe { libc::dup(fd.0) }))
    }

    /// `ioctl` with an address as the argument.
    #[must_use]
    pub fn ioctl(&self, fd: Fd, request: u32, address: u64) -> i64 {
        // SAFETY: the answering side touches the scratch memory only, which is never borrowed; see the type's page.
        unsafe { self.sys().ioctl(fd, request, address as *mut u8) }
    }

    /// `ioctl` with a request of 64 bits, as a caller with the wrong type would pass it.
    #[must_use]
    pub fn ioctl_wide(&self, fd: Fd, request: u64, address: u64) -> i64 {
        match &self.door {
            Door::Direct(_) => self.ioctl(fd, request as u32, address),
            Door::Kernel(_) => {
                // SAFETY: as in `ioctl`.
                let result = unsafe { libc::syscall(libc::SYS_ioctl, fd.0, request, address) };
                let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(0);
                if result == -1 { -i64::from(errno()) } else { result }
            }
        }
    }

    /// Maps a range of the device.
    ///
    /// # Errors
    /// The errno.
    pub fn map(&self, fd: Fd, length: u64, offset: u64, write: bool) -> Result<Window<'_>, Errno> {
        let bytes = usize::try_from(length).map_err(|_| crate::abi::errno::ENOMEM)?;
        let base = self.sys().mmap(fd, bytes, offset, write)?;
        Ok(Window { base, bytes, client: self })
    }
}

/// A mapped range. Its bytes are copied, never borrowed: the device may change them at any time.
#[derive(Debug)]
pub struct Window<'c> {
    base: *mut u8,
    bytes: usize,
    client: &'c Client,
}

impl Window<'_> {
    /// Bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Stores a byte. The process ends with SIGSEGV if the mapping is read only.
    ///
    /// # Panics
    /// If it lies outside.
    pub fn put(&self, at: usize, byte: u8) {
        assert!(at < self.bytes, "beyond the mapping");
        // SAFETY: inside a live mapping; a volatile access of a byte that others may change.
        unsafe { self.base.add(at).write_volatile(byte) };
    }

    /// Loads a byte.
    ///
    /// # Panics
    /// If it lies outside.
    #[must_use]
    pub fn get(&self, at: usize) -> u8 {
        assert!(at < self.bytes, "beyond the mapping");
        // SAFETY: as in `put`.
        unsafe { self.base.add(at).read_volatile() }
    }

    /// Stores a word of four bytes, as a register wants it.
    ///
    /// # Panics
    /// If it lies outside or is not aligned.
    pub fn put_word(&self, at: usize, word: u32) {
        assert!(at.is_multiple_of(4) && at + 4 <= self.bytes, "beyond the mapping");
        // SAFETY: inside a live mapping and aligned, because mappings start at pages.
        unsafe { self.base.add(at).cast::<u32>().write_volatile(word) };
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that was made; nothing borrows from it.
        unsafe { self.client.sys().munmap(self.base, self.bytes) };
    }
}
