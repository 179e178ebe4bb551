//! Device memory as a sparse file whose offset is the physical address (driver-abi.md §17.3).

use crate::simdrv::Memory;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

/// Bytes of the file: every address of every architecture lies below.
const BYTES: u64 = 1 << 62;

/// The mark of an open file whose position is that.
pub(super) fn mark_at(position: u64) -> Option<u32> {
    u32::try_from(position.checked_sub(BYTES)?).ok()
}

/// A sparse memory file. What is mapped from it is what the driver reads and writes.
#[derive(Debug)]
pub struct FileMemory {
    file: File,
}

impl FileMemory {
    /// Makes an empty one; `index` is the device's. Its length is sealed: nobody who has a descriptor can cut it off
    /// under the mappings of others.
    ///
    /// # Errors
    /// Those of `memfd_create`, `ftruncate` and `fcntl`.
    pub fn new(index: u32) -> io::Result<Self> {
        let name = std::format!("neuron{index}\0");
        // SAFETY: the name ends with a zero byte.
        let fd =
            unsafe { libc::memfd_create(name.as_ptr().cast(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is fresh and owned by nobody else.
        let file = unsafe { File::from_raw_fd(fd) };
        file.set_len(BYTES)?;
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: no memory is passed.
        if unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, seals) } != 0 {
            return Err(io::Error::last_os_error());
        }
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

    /// As [`Self::reopen`], with a mark: the position, which lies behind the end, so that reading gives nothing and
    /// writing fails; and a lock of the open file, which ends with the last reference to it, wherever that is.
    ///
    /// # Errors
    /// Those of opening, seeking and locking.
    pub(super) fn open_marked(&self, mark: u32, read: bool, write: bool) -> io::Result<File> {
        let mut file = self.reopen(read, write)?;
        let kind = if write { libc::F_WRLCK } else { libc::F_RDLCK };
        let lock = range(mark, kind);
        // SAFETY: the structure is valid for the command, which reads it.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) } != 0 {
            return Err(io::Error::last_os_error());
        }
        file.seek(SeekFrom::Start(BYTES + u64::from(mark)))?;
        Ok(file)
    }

    /// Whether the open file with that mark still exists: a descriptor in any process, a message on its way through a
    /// socket or a mapping holds it.
    pub(super) fn is_held(&self, mark: u32) -> bool {
        let mut lock = range(mark, libc::F_WRLCK);
        // SAFETY: the structure is valid for the command, which reads and writes it.
        let asked = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
        asked == 0 && lock.l_type != libc::F_UNLCK as i16
    }

    /// Device and inode number.
    ///
    /// # Errors
    /// Those of `fstat`.
    pub(super) fn inode(&self) -> io::Result<(u64, u64)> {
        let file = self.file.metadata()?;
        Ok((file.dev(), file.ino()))
    }

    /// The file.
    #[must_use]
    pub const fn file(&self) -> &File {
        &self.file
    }
}

/// The byte behind the end that stands for a mark.
fn range(mark: u32, kind: i32) -> libc::flock {
    // SAFETY: all-zero is a valid value of this plain structure.
    let mut lock: libc::flock = unsafe { core::mem::zeroed() };
    lock.l_type = kind as i16;
    lock.l_whence = libc::SEEK_SET as i16;
    lock.l_start = (BYTES + u64::from(mark)).cast_signed();
    lock.l_len = 1;
    lock
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
            let mut out = io::stderr().lock();
            let _ = writeln!(out, "neffload-simdrv: the host cannot hold the simulated memory: {error}");
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

#[cfg(test)]
mod tests {
    use super::FileMemory;
    use std::io::{Read as _, Write as _};

    #[test]
    fn marked_files() {
        let memory = FileMemory::new(0).unwrap();
        let mut file = memory.open_marked(7, true, true).unwrap();
        let reader = memory.open_marked(8, true, false).unwrap();
        let writer = memory.open_marked(9, false, true).unwrap();
        assert!(memory.is_held(7) && memory.is_held(8) && memory.is_held(9) && !memory.is_held(6));
        // Not a way into the memory, and its end stays where it is.
        let mut byte = [1];
        assert_eq!(file.read(&mut byte).unwrap(), 0);
        assert_eq!(file.write(&byte).unwrap_err().raw_os_error(), Some(libc::EPERM));
        assert_eq!(file.set_len(0).unwrap_err().raw_os_error(), Some(libc::EPERM));
        // A duplicate is the same open file.
        let again = file.try_clone().unwrap();
        drop(file);
        assert!(memory.is_held(7));
        drop(again);
        assert!(!memory.is_held(7) && memory.is_held(8) && memory.is_held(9));
        drop((reader, writer));
        assert!(!memory.is_held(8) && !memory.is_held(9));
    }
}
