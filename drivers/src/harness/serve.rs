//! One stopped call at a time.

use super::process::ProcessMemory;
use super::procfs;
use super::seccomp::{Answer, Notice};
use super::stat;
use super::supervisor::Supervisor;
use super::syscalls::Call;
use crate::abi::errno::EIO;
use crate::simdrv::{Caller, OpenId, UserMemory as _};

impl Supervisor {
    /// Answers a call; false if its caller sleeps in the driver.
    pub(super) fn serve(&mut self, notice: &Notice, call: Call, tgid: u32) -> bool {
        match call {
            Call::Open { path, flags } => self.open(notice, tgid, path, flags),
            Call::Open2 { path, how, bytes } => self.open2(notice, tgid, path, (how, bytes)),
            Call::Access { path } => self.access(notice, tgid, path),
            Call::Stat { path, flags, out } => self.stat(notice, tgid, (path, flags), out, stat::stat),
            Call::Statx { path, flags, out } => self.stat(notice, tgid, (path, flags), out, stat::statx),
            Call::Fstat { fd, out } => match self.node_of(tgid, fd) {
                Some(known) => self.store(notice, tgid, out, &stat::stat(&known)),
                None => self.pass(notice),
            },
            Call::Ioctl { fd, request, argument } => self.ioctl(notice, tgid, fd, request, argument),
            Call::Mmap { fd, .. } => self.mmap(notice, tgid, fd, call),
            Call::Munmap { address, length } => self.munmap(notice, tgid, address, length),
            Call::Close { fd } => self.close(notice, tgid, fd),
            Call::CloseRange { first, last, flags } => self.close_range(notice, tgid, (first, last), flags),
            Call::Dup { fd, copy } => self.dup(notice, tgid, fd, copy),
            Call::Lacks { fd, errno } => match self.files.get(tgid, fd) {
                Some(_) => self.result(notice, -i64::from(errno)),
                None => self.pass(notice),
            },
            Call::Exec => {
                self.files.starts_exec(tgid, notice.tid);
                self.pass(notice)
            }
            Call::Other => self.pass(notice),
        }
    }

    pub(super) fn pass(&self, notice: &Notice) -> bool {
        self.listener.answer(notice.id, Answer::Continue);
        true
    }

    pub(super) fn result(&self, notice: &Notice, value: i64) -> bool {
        self.listener.answer(notice.id, Answer::Result(value));
        true
    }

    /// Stores a result of the call at a user address.
    pub(super) fn store(&self, notice: &Notice, tgid: u32, out: u64, bytes: &[u8]) -> bool {
        let missing = ProcessMemory::new(tgid).write(out, bytes);
        self.result(notice, if missing == 0 { 0 } else { -i64::from(libc::EFAULT) })
    }

    pub(super) const fn caller(&self, notice: &Notice, tgid: u32) -> Caller {
        Caller { tgid, tid: notice.tid, killed: false, rawio: self.options.rawio }
    }

    fn memory(&self, tgid: u32) -> ProcessMemory {
        ProcessMemory::fenced(tgid, self.options.fence.clone())
    }

    fn ioctl(&mut self, notice: &Notice, tgid: u32, fd: i32, request: u32, argument: u64) -> bool {
        let Some(open) = self.files.get(tgid, fd) else { return self.pass(notice) };
        if self.options.silent == Some(request) {
            return self.result(notice, 0);
        }
        if !self.is_watched(tgid) {
            return self.result(notice, -i64::from(EIO));
        }
        let (caller, tid) = (self.caller(notice, tgid), notice.tid);
        let call: (OpenId, u32, u64) = (open, request, argument);
        let raw = self.shared.ioctl(caller, || procfs::is_killed(tid), call, &mut self.memory(tgid));
        raw.is_some_and(|raw| self.result(notice, raw))
    }
}
