//! Stopped calls that take a path: opening and looking at nodes and files.

use super::paths::{self, Known};
use super::process::ProcessMemory;
use super::procfs;
use super::seccomp::Notice;
use super::supervisor::Supervisor;
use super::syscalls::PathAt;
use crate::abi::errno::{EACCES, EIO, ENOENT};
use crate::simdrv::{Caller, OpenFlags, OpenId, UserMemory as _};
use libc::{EEXIST, EFAULT, EINVAL, EMFILE, ENFILE, ENOTDIR};
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::string::String;

/// Longest path that the kernel takes.
const PATH: usize = 4096;
/// Bytes of the first form of `struct open_how`.
const HOW: usize = 24;

/// A path of ours.
struct Found {
    known: Known,
    /// The path ends with a slash: only a directory may be there.
    slash: bool,
}

impl Supervisor {
    /// A path argument as a plain path from the root, and whether it ends with a slash.
    fn whole_path(&self, notice: &Notice, tgid: u32, path: PathAt) -> Option<(String, bool)> {
        let mut bytes = [0u8; PATH];
        let missing = ProcessMemory::new(tgid).read(path.address, &mut bytes);
        let text = CStr::from_bytes_until_nul(&bytes[..PATH - missing]).ok()?.to_str().ok()?;
        let mut whole = String::new();
        if text.is_empty() {
            return None;
        }
        if !text.starts_with('/') {
            whole.push_str(procfs::directory(notice.tid, path.directory)?.to_str()?);
            whole.push('/');
        }
        whole.push_str(text);
        Some((paths::plain(&whole).into_owned(), text.ends_with('/') || text.ends_with("/.")))
    }

    /// What a path argument names; `None` if it is not the harness's concern.
    fn known(&self, notice: &Notice, tgid: u32, path: PathAt) -> Option<Found> {
        let (path, slash) = self.whole_path(notice, tgid, path)?;
        let known = paths::look_up(&path, &self.options, &self.shared.lock())?;
        Some(Found { known, slash })
    }

    /// The same for a call that opens: the name of an open descriptor of a node is a name of the node.
    fn opened(&mut self, notice: &Notice, tgid: u32, path: PathAt) -> Option<Found> {
        if let Some(found) = self.known(notice, tgid, path) {
            return Some(found);
        }
        let (path, slash) = self.whole_path(notice, tgid, path)?;
        let (owner, fd) = paths::descriptor(&path)?;
        let owner = owner.map_or(Some(tgid), procfs::process_of)?;
        Some(Found { known: self.node_of(owner, fd)?, slash })
    }

    pub(super) fn open(&mut self, notice: &Notice, tgid: u32, path: PathAt, flags: i32) -> bool {
        let follows = flags & (libc::O_NOFOLLOW | libc::O_PATH) == 0;
        let found = if follows { self.opened(notice, tgid, path) } else { self.known(notice, tgid, path) };
        let Some(Found { known, slash }) = found else { return self.pass(notice) };
        let exclusive = libc::O_CREAT | libc::O_EXCL;
        let errno = match known {
            Known::Directory => return self.pass(notice),
            Known::Missing => ENOENT,
            _ if flags & exclusive == exclusive => EEXIST,
            _ if slash || flags & libc::O_DIRECTORY != 0 => ENOTDIR,
            // The kernel does not hand descriptors over that only name a place.
            _ if flags & libc::O_PATH != 0 => ENOENT,
            Known::Text(_) if flags & libc::O_ACCMODE != 0 => EACCES,
            Known::Text(text) => match text_file(&text) {
                Ok(file) => return self.give(notice, &file, flags & libc::O_CLOEXEC != 0).is_some(),
                Err(_) => EIO,
            },
            Known::Node(index) => return self.open_node(notice, tgid, index, flags),
        };
        self.result(notice, -i64::from(errno))
    }

    /// `openat2`: its flags are in memory, and bits that do not exist are an error.
    pub(super) fn open2(
        &mut self,
        notice: &Notice,
        tgid: u32,
        path: PathAt,
        (how, bytes): (u64, u64),
    ) -> bool {
        if self.opened(notice, tgid, path).is_none_or(|found| found.known == Known::Directory) {
            return self.pass(notice);
        }
        let mut raw = [0u8; HOW];
        if bytes < HOW as u64 {
            return self.result(notice, -i64::from(EINVAL));
        }
        if ProcessMemory::new(tgid).read(how, &mut raw) != 0 {
            return self.result(notice, -i64::from(EFAULT));
        }
        let [a, b, c, d, high @ ..] = raw;
        let flags = i32::from_le_bytes([a, b, c, d]);
        if high[..4] != [0; 4] {
            return self.result(notice, -i64::from(EINVAL));
        }
        self.open(notice, tgid, path, flags)
    }

    /// Gives the caller a descriptor as the result of its call; the call is answered either way.
    fn give(&self, notice: &Notice, file: &File, cloexec: bool) -> Option<i32> {
        let fd = self.listener.add_fd(notice.id, file.as_raw_fd(), cloexec);
        if fd.is_none() {
            self.result(notice, -i64::from(EMFILE));
        }
        fd
    }

    fn open_node(&mut self, notice: &Notice, tgid: u32, index: u32, flags: i32) -> bool {
        // Whose end would not be noticed gets nothing to hold.
        if !self.is_watched(tgid) {
            return self.result(notice, -i64::from(ENFILE));
        }
        let (mode, tid) = (OpenFlags::from_bits(flags), notice.tid);
        let caller = self.caller(notice, tgid);
        let Some(opened) = self.shared.open(caller, || procfs::is_killed(tid), index, mode) else {
            return false;
        };
        let open = match opened {
            Ok(open) => open,
            Err(raw) => return self.result(notice, raw),
        };
        let host = self.shared.lock();
        let memory = host.driver.device(index).memory();
        let file = memory.open_marked(open.0, mode != OpenFlags::WriteOnly, mode != OpenFlags::ReadOnly);
        drop(host);
        let Ok(file) = file else {
            self.undo_open(caller, open);
            return self.result(notice, -i64::from(ENFILE));
        };
        match self.give(notice, &file, flags & libc::O_CLOEXEC != 0) {
            Some(fd) => self.files.insert(tgid, fd, open),
            None => self.undo_open(caller, open),
        }
        true
    }

    /// Nobody got the file.
    fn undo_open(&self, caller: Caller, open: OpenId) {
        let mut host = self.shared.lock();
        host.driver.flush(caller, open);
        host.driver.release(open);
    }

    pub(super) fn access(&self, notice: &Notice, tgid: u32, path: PathAt) -> bool {
        match self.known(notice, tgid, path) {
            None => self.pass(notice),
            Some(Found { known: Known::Missing, .. }) => self.result(notice, -i64::from(ENOENT)),
            Some(Found { known: Known::Node(_) | Known::Text(_), slash: true }) => {
                self.result(notice, -i64::from(ENOTDIR))
            }
            Some(_) => self.result(notice, 0),
        }
    }

    pub(super) fn stat<const N: usize>(
        &mut self,
        notice: &Notice,
        tgid: u32,
        (path, flags): (PathAt, i32),
        out: u64,
        bytes: impl Fn(&Known) -> [u8; N],
    ) -> bool {
        let found = match self.known(notice, tgid, path) {
            // With an empty path the call is about the descriptor.
            None if flags & libc::AT_EMPTY_PATH != 0 && self.is_empty(tgid, path.address) => {
                self.node_of(tgid, path.directory).map(|known| Found { known, slash: false })
            }
            found => found,
        };
        match found {
            None => self.pass(notice),
            Some(Found { known: Known::Missing, .. }) => self.result(notice, -i64::from(ENOENT)),
            Some(Found { known: Known::Node(_) | Known::Text(_), slash: true }) => {
                self.result(notice, -i64::from(ENOTDIR))
            }
            Some(Found { known, .. }) => self.store(notice, tgid, out, &bytes(&known)),
        }
    }

    /// Whether there is no path at an address: an empty text, or a null pointer.
    fn is_empty(&self, tgid: u32, address: u64) -> bool {
        let mut first = [0u8];
        address == 0 || ProcessMemory::new(tgid).read(address, &mut first) == 0 && first == [0]
    }

    /// The node that a descriptor was opened from.
    pub(super) fn node_of(&mut self, tgid: u32, fd: i32) -> Option<Known> {
        let open = self.files.get(tgid, fd)?;
        self.shared.lock().driver.opened(open).map(|(index, _)| Known::Node(index))
    }
}

/// A file that holds a text, at its start.
pub(super) fn text_file(text: &str) -> io::Result<File> {
    let name = c"sysfs";
    // SAFETY: the name ends with a zero byte.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is fresh and owned by nobody else.
    let mut file = unsafe { File::from_raw_fd(fd) };
    file.write_all(text.as_bytes())?;
    file.seek(SeekFrom::Start(0))?;
    let path = String::from("/proc/self/fd/") + &std::string::ToString::to_string(&file.as_raw_fd());
    File::open(path)
}
