//! Device memory as a sparse file whose offset is the physical address (driver-abi.md §17.3).

use crate::simdrv::Memory;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::fs::FileExt as _;

/// Bytes of the file: every address of every architecture lies below.
const BYTES: u64 = 1 << 62;

/// A sparse memory file. What is mapped from it is what the driver reads and writes.
#[derive(Debug)]
pub struct FileMemory {
    file: File,
}

impl FileMemory {
    /// Makes an empty one; `index` is the device's.
    ///
    /// # Errors
    /// Those of `memfd_create` and `ftruncate`.
    pub fn new(index: u32) -> io::Result<Self> {
        let name = std::format!("neuron{index}\0");
        // SAFETY: the name ends with a zero byte.
        let fd = unsafe { libc::memfd_create(name.as_ptr().cast(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is fresh and owned by nobody else.
        let file = unsafe { File::from_raw_fd(fd) };
        file.set_len(BYTES)?;
        Ok(Self { file })
    }

    /// Opens the same memory again, with the access mode that a client asked for.
    ///
    /// # Errors
    /// Those of opening through the process's own descriptor directory.
    pub fn reopen(&self, read: bool, write: bool) -> io::Result<File> {
        let path = std::format!("/proc/self/fd/{}", self.file.as_raw_fd());
        File::options().read(read).write(write).open(path)
    }

    /// The file.
    #[must_use]
    pub const fn file(&self) -> &File {
        &self.file
    }
}

impl Memory for FileMemory {
    fn read(&self, address: u64, out: &mut [u8]) {
        // A hole reads as zero; beyond the end, and on failure, there is nothing to read.
        if self.file.read_exact_at(out, address).is_err() {
            out.fill(0);
        }
    }

    fn write(&mut self, address: u64, bytes: &[u8]) {
        // The host is out of memory if this fails: the simulation cannot go on truthfully.
        if address < BYTES
            && let Err(error) = self.file.write_all_at(bytes, address)
        {
            std::eprintln!("neffload-simdrv: the host cannot hold the simulated memory: {error}");
            std::process::abort();
        }
    }

    fn forget(&mut self, address: u64, bytes: u64) {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: a call on an owned descriptor without memory arguments. Failure leaves the content, which
        // the real driver does as well.
        unsafe {
            libc::fallocate(self.file.as_raw_fd(), mode, address.cast_signed(), bytes.cast_signed());
        }
    }
}
