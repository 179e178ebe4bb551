//! One stopped call at a time.

use super::paths::{self, Known};
use super::process::ProcessMemory;
use super::procfs;
use super::seccomp::{Answer, Notice};
use super::stat;
use super::supervisor::{Supervisor, Where};
use super::syscalls::Call;
use crate::abi::errno::{EACCES, EIO, ENOENT, EPERM};
use crate::simdrv::{Caller, OpenFlags, OpenId, Plan, UserMemory as _};
use std::ffi::CStr;
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::fd::AsRawFd as _;
use std::string::String;

/// Longest path that is looked at.
const PATH: usize = 512;

impl Supervisor {
    /// Answers a call; false if its caller sleeps in the driver.
    pub(super) fn serve(&mut self, notice: &Notice, call: Call, tgid: u32) -> bool {
        match call {
            Call::Open { path, flags } => self.open(notice, tgid, path, flags),
            Call::Access { path } => self.access(notice, tgid, path),
            Call::Stat { path, out } => self.stat(notice, tgid, path, out, false),
            Call::Statx { path, out } => self.stat(notice, tgid, path, out, true),
            Call::Ioctl { fd, request, argument } => self.ioctl(notice, tgid, fd, request, argument),
            Call::Mmap { fd, .. } => self.mmap(notice, tgid, fd, call),
            Call::Munmap { address, length } => self.munmap(notice, tgid, address, length),
            Call::Close { fd } => self.close(notice, tgid, fd),
            Call::CloseRange { first, last, flags } => self.close_range(notice, tgid, (first, last), flags),
            Call::Dup { fd, at, least, cloexec } => self.dup(notice, tgid, fd, (at, least), cloexec),
            Call::Exec => {
                self.files.starts_exec(tgid);
                self.pass(notice)
            }
            Call::Other => self.pass(notice),
        }
    }

    fn pass(&self, notice: &Notice) -> bool {
        self.listener.answer(notice.id, Answer::Continue);
        true
    }

    fn result(&self, notice: &Notice, value: i64) -> bool {
        self.listener.answer(notice.id, Answer::Result(value));
        true
    }

    fn caller(&self, notice: &Notice, tgid: u32) -> Caller {
        Caller { tgid, tid: notice.tid, killed: false, rawio: self.options.rawio }
    }

    fn memory(&self, tgid: u32) -> ProcessMemory {
        ProcessMemory::fenced(tgid, self.options.fence.clone())
    }

    /// What the path at a user address names; `None` if it is not the harness's concern.
    fn known(&self, tgid: u32, address: u64) -> Option<Known> {
        let mut bytes = [0u8; PATH];
        let missing = ProcessMemory::new(tgid).read(address, &mut bytes);
        let path = CStr::from_bytes_until_nul(&bytes[..PATH - missing]).ok()?.to_str().ok()?;
        paths::look_up(path, &self.options, &self.shared.lock())
    }

    /// `exec` closed descriptors of the process since it was last seen.
    pub(super) fn settle_exec(&mut self, tgid: u32) {
        for fd in self.files.lost_in_exec(tgid) {
            let caller = Caller { rawio: self.options.rawio, ..Caller::process(tgid) };
            self.closed(caller, tgid, fd);
        }
    }

    fn open(&mut self, notice: &Notice, tgid: u32, path: u64, flags: i32) -> bool {
        let cloexec = flags & libc::O_CLOEXEC != 0;
        match self.known(tgid, path) {
            None | Some(Known::Directory) => self.pass(notice),
            Some(Known::Missing) => self.result(notice, -i64::from(ENOENT)),
            Some(Known::Text(_)) if flags & 3 != 0 => self.result(notice, -i64::from(EACCES)),
            Some(Known::Text(text)) => match text_file(&text) {
                Ok(file) => self.give(notice, &file, cloexec).is_some(),
                Err(_) => self.result(notice, -i64::from(EIO)),
            },
            Some(Known::Node(index)) => self.open_node(notice, tgid, index, flags),
        }
    }

    /// Gives the caller a descriptor as the result of its call.
    fn give(&self, notice: &Notice, file: &File, cloexec: bool) -> Option<i32> {
        let fd = self.listener.add_fd(notice.id, file.as_raw_fd(), None, cloexec, true);
        if fd.is_none() {
            self.result(notice, -i64::from(libc::EMFILE));
        }
        fd
    }

    fn open_node(&mut self, notice: &Notice, tgid: u32, index: u32, flags: i32) -> bool {
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
        let file = memory.reopen(mode != OpenFlags::WriteOnly, mode != OpenFlags::ReadOnly);
        drop(host);
        // The position marks the open file, so that a descriptor is known again after fork.
        let marked = file.and_then(|mut file| file.seek(SeekFrom::Start(u64::from(open.0))).map(|_| file));
        let Ok(file) = marked else { return self.result(notice, -i64::from(EIO)) };
        let given = self.give(notice, &file, flags & libc::O_CLOEXEC != 0);
        self.files.add_source(open, file);
        match given {
            Some(fd) => self.files.insert(tgid, fd, open),
            None => self.forget_open(self.caller(notice, tgid), open),
        }
        true
    }

    fn forget_open(&mut self, caller: Caller, open: OpenId) {
        let mut host = self.shared.lock();
        host.driver.flush(caller, open);
        host.driver.release(open);
        drop(host);
        self.files.drop_source(open);
    }

    fn access(&self, notice: &Notice, tgid: u32, path: u64) -> bool {
        match self.known(tgid, path) {
            None => self.pass(notice),
            Some(Known::Missing) => self.result(notice, -i64::from(ENOENT)),
            Some(_) => self.result(notice, 0),
        }
    }

    fn stat(&self, notice: &Notice, tgid: u32, path: u64, out: u64, extended: bool) -> bool {
        let known = match self.known(tgid, path) {
            None => return self.pass(notice),
            Some(Known::Missing) => return self.result(notice, -i64::from(ENOENT)),
            Some(known) => known,
        };
        let mut memory = ProcessMemory::new(tgid);
        let missing = if extended {
            memory.write(out, &stat::statx(&known))
        } else {
            memory.write(out, &stat::stat(&known))
        };
        self.result(notice, if missing == 0 { 0 } else { -i64::from(libc::EFAULT) })
    }

    fn ioctl(&mut self, notice: &Notice, tgid: u32, fd: i32, request: u32, argument: u64) -> bool {
        let Some(open) = self.files.get(tgid, fd) else { return self.pass(notice) };
        if self.options.silent == Some(request) {
            return self.result(notice, 0);
        }
        let (caller, tid) = (self.caller(notice, tgid), notice.tid);
        let call = (open, request, argument);
        let raw = self.shared.ioctl(caller, || procfs::is_killed(tid), call, &mut self.memory(tgid));
        raw.is_some_and(|raw| self.result(notice, raw))
    }

    fn mmap(&mut self, notice: &Notice, tgid: u32, fd: i32, call: Call) -> bool {
        let Call::Mmap { length, prot, flags, offset, .. } = call else { return self.pass(notice) };
        let Some(open) = self.files.get(tgid, fd) else { return self.pass(notice) };
        let write = prot & libc::PROT_WRITE != 0 && flags & libc::MAP_TYPE != libc::MAP_PRIVATE;
        let caller = self.caller(notice, tgid);
        let planned = self.shared.lock().driver.mmap(caller, open, length, offset, write);
        match planned {
            Err(raw) => self.result(notice, raw),
            Ok(plan) if self.place == Where::Inside && tgid == std::process::id() => {
                self.map_here(notice, open, &plan, call)
            }
            // A mapping in another process can only be let through as it was asked for.
            Ok(plan) if plan.offset == offset && (plan.writable || !write) => self.pass(notice),
            Ok(plan) => {
                self.shared.lock().driver.not_mapped(plan.record);
                self.result(notice, -i64::from(EPERM))
            }
        }
    }

    /// Maps for a thread of this process, exactly as planned.
    fn map_here(&self, notice: &Notice, open: OpenId, plan: &Plan, call: Call) -> bool {
        let Call::Mmap { address, prot, flags, .. } = call else { return self.pass(notice) };
        let Some(source) = self.files.source(open) else { return self.pass(notice) };
        let prot = if plan.writable { prot } else { prot & !libc::PROT_WRITE };
        // SAFETY: the client asked for exactly this mapping; where it may lie is its own responsibility, as it
        // would be if the kernel had served the call.
        let at = unsafe {
            libc::mmap(
                address as *mut libc::c_void,
                plan.length as usize,
                prot,
                flags,
                source.as_raw_fd(),
                plan.offset.cast_signed(),
            )
        };
        if at == libc::MAP_FAILED {
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(EIO);
            self.shared.lock().driver.not_mapped(plan.record);
            return self.result(notice, -i64::from(errno));
        }
        // Device mappings are not inherited.
        // SAFETY: the range was mapped above.
        unsafe { libc::madvise(at, plan.length as usize, libc::MADV_DONTFORK) };
        self.shared.lock().driver.mapped(plan.record, at as u64);
        self.result(notice, at as i64)
    }

    fn munmap(&self, notice: &Notice, tgid: u32, address: u64, length: u64) -> bool {
        let caller = self.caller(notice, tgid);
        let mut host = self.shared.lock();
        let devices = 0..host.driver.config().devices;
        let maps = devices
            .into_iter()
            .any(|at| host.driver.device(at).mappings().iter().any(|map| map.tgid == tgid));
        if maps {
            let inside = self.place == Where::Inside && tgid == std::process::id();
            let offset = if inside { None } else { procfs::mapped_offset(tgid, address) };
            host.driver.munmap(caller, address, length, offset);
        }
        drop(host);
        self.pass(notice)
    }

    /// The driver's part of closing a number; false if the caller sleeps.
    fn closed(&mut self, caller: Caller, tgid: u32, fd: i32) -> bool {
        let Some(open) = self.files.get(tgid, fd) else { return true };
        if !self.shared.lock().driver.flush(caller, open) {
            return false;
        }
        if let Some((open, true)) = self.files.remove(tgid, fd) {
            self.shared.lock().driver.release(open);
            self.files.drop_source(open);
        }
        true
    }

    fn close(&mut self, notice: &Notice, tgid: u32, fd: i32) -> bool {
        let caller = self.caller(notice, tgid);
        self.closed(caller, tgid, fd) && self.pass(notice)
    }

    fn close_range(&mut self, notice: &Notice, tgid: u32, (first, last): (u32, u32), flags: u32) -> bool {
        if flags & libc::CLOSE_RANGE_CLOEXEC == 0 {
            let caller = self.caller(notice, tgid);
            for (fd, _) in self.files.of(tgid) {
                if (first..=last).contains(&fd.cast_unsigned()) && !self.closed(caller, tgid, fd) {
                    return false;
                }
            }
        }
        self.pass(notice)
    }

    fn dup(
        &mut self,
        notice: &Notice,
        tgid: u32,
        fd: i32,
        (at, least): (Option<i32>, i32),
        cloexec: bool,
    ) -> bool {
        let caller = self.caller(notice, tgid);
        if let Some(at) = at
            && at != fd
            && !self.closed(caller, tgid, at)
        {
            return false;
        }
        let Some(open) = self.files.get(tgid, fd) else { return self.pass(notice) };
        let Some(source) = self.files.source(open) else { return self.pass(notice) };
        // `F_DUPFD` asks for a least number; the kernel interface of the harness gives the lowest or one exactly.
        let wanted = at.or_else(|| (least > 0).then(|| self.free_number(tgid, least)));
        match self.listener.add_fd(notice.id, source.as_raw_fd(), wanted, cloexec, false) {
            Some(number) => {
                self.files.insert(tgid, number, open);
                self.shared.lock().driver.duplicated(caller, open);
                self.result(notice, i64::from(number))
            }
            None => self.result(notice, -i64::from(libc::EMFILE)),
        }
    }

    fn free_number(&self, tgid: u32, least: i32) -> i32 {
        let taken = procfs::descriptors(tgid);
        (least..).find(|number| !taken.contains(number)).unwrap_or(least)
    }
}

/// A file that holds a text, at its start.
pub(super) fn text_file(text: &str) -> std::io::Result<File> {
    let name = c"sysfs";
    // SAFETY: the name ends with a zero byte.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor is fresh and owned by nobody else.
    let mut file = unsafe { <File as std::os::fd::FromRawFd>::from_raw_fd(fd) };
    file.write_all(text.as_bytes())?;
    file.seek(SeekFrom::Start(0))?;
    let path = String::from("/proc/self/fd/") + &std::string::ToString::to_string(&file.as_raw_fd());
    File::open(path)
}
