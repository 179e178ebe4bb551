//! Stopped calls that close or duplicate descriptors.
//!
//! The driver's flush happens here, before the kernel closes the number. Its release happens when the kernel has let
//! go of the open file, which a mapping, a child or a message may hold longer.

use super::procfs;
use super::seccomp::Notice;
use super::supervisor::Supervisor;
use super::syscalls::Copy;
use crate::simdrv::{Caller, OpenId};
use std::time::Duration;
use std::vec::Vec;

/// How often a file that was closed last is looked at before its release is left for later.
const LOOKS: u32 = 200;
const PAUSE: Duration = Duration::from_micros(50);

impl Supervisor {
    /// The driver's part of closing a number; `None` if the caller sleeps, else the file if no other number is known.
    fn closed(&mut self, caller: Caller, tgid: u32, fd: i32) -> Option<Option<OpenId>> {
        let Some(open) = self.files.get(tgid, fd) else { return Some(None) };
        self.drop_vanished(tgid, open);
        if !self.shared.lock().driver.flush(caller, open) {
            return None;
        }
        Some(self.files.remove(tgid, fd).and_then(|(open, last)| last.then_some(open)))
    }

    /// Lets the caller close what the driver has flushed. Nobody sees the driver before the kernel has let go.
    fn let_go(&mut self, notice: &Notice, tgid: u32, files: &[OpenId]) -> bool {
        let shared = self.shared.clone();
        let mut host = shared.lock();
        self.pass(notice);
        for &open in files {
            // Its own mappings keep the file; that is no matter of moments.
            let mapped = host.driver.opened(open).is_some_and(|(device, _)| {
                host.driver.device(device).mappings().iter().any(|mapped| mapped.tgid == tgid)
            });
            let mut looks = if mapped { 0 } else { LOOKS };
            while host.is_held(open) && looks > 0 {
                std::thread::sleep(PAUSE);
                looks -= 1;
            }
            if !host.is_held(open) {
                host.driver.release(open);
                self.files.released(open);
            }
        }
        true
    }

    pub(super) fn close(&mut self, notice: &Notice, tgid: u32, fd: i32) -> bool {
        let caller = self.caller(notice, tgid);
        match self.closed(caller, tgid, fd) {
            None => false,
            Some(None) => self.pass(notice),
            Some(Some(open)) => self.let_go(notice, tgid, &[open]),
        }
    }

    pub(super) fn close_range(
        &mut self,
        notice: &Notice,
        tgid: u32,
        (first, last): (u32, u32),
        flags: u32,
    ) -> bool {
        let known = libc::CLOSE_RANGE_UNSHARE | libc::CLOSE_RANGE_CLOEXEC;
        // Refused by the kernel, or nothing is closed now.
        if first > last || flags & !known != 0 || flags & libc::CLOSE_RANGE_CLOEXEC != 0 {
            return self.pass(notice);
        }
        let (caller, mut files) = (self.caller(notice, tgid), Vec::new());
        for (fd, _) in self.files.of(tgid) {
            if (first..=last).contains(&fd.cast_unsigned()) {
                match self.closed(caller, tgid, fd) {
                    None => return false,
                    Some(open) => files.extend(open),
                }
            }
        }
        self.let_go(notice, tgid, &files)
    }

    /// Duplicates; what the kernel will refuse changes nothing here.
    pub(super) fn dup(&mut self, notice: &Notice, tgid: u32, fd: i32, copy: Copy) -> bool {
        let open = self.files.get(tgid, fd);
        let limit = procfs::descriptor_limit(tgid);
        let possible = |number: i32| u64::try_from(number).is_ok_and(|number| number < limit);
        let asked = match copy {
            Copy::Lowest => true,
            Copy::From(least) => possible(least),
            Copy::At(at) => possible(at),
        };
        if !asked || open.is_none() && !procfs::is_open(tgid, fd) {
            return self.pass(notice);
        }
        let caller = self.caller(notice, tgid);
        let mut gone = None;
        if let Copy::At(at) = copy {
            match self.closed(caller, tgid, at) {
                None => return false,
                Some(open) => gone = open,
            }
        }
        if let Some(open) = open {
            match copy {
                Copy::At(at) => self.files.insert(tgid, at, open),
                _ => self.files.starts_copy(tgid, notice.tid),
            }
            self.shared.lock().driver.duplicated(caller, open);
        }
        self.let_go(notice, tgid, gone.as_slice())
    }

    /// What `exec` closed in processes that are in the middle of one. The mark of a process stays until its thread is
    /// back or gone: others may make calls before the kernel has come to closing.
    pub(super) fn settle_execs(&mut self, tid: u32) {
        for (tgid, thread) in self.files.execing() {
            let over = tid == thread || !procfs::belongs(thread, tgid);
            let caller = Caller { rawio: self.options.rawio, ..Caller::process(tgid) };
            let mut waits = false;
            for fd in self.files.lost(tgid) {
                waits |= self.closed(caller, tgid, fd).is_none();
            }
            if over && !waits {
                self.files.ends_exec(tgid);
            }
        }
    }

    /// Releases files that nobody has any more. Left for the next time if somebody else has the driver: it may be a
    /// client thread of this process, which waits for its own call to be answered.
    pub(super) fn release_orphans(&mut self) {
        let orphans = self.files.orphans();
        if orphans.is_empty() {
            return;
        }
        let shared = self.shared.clone();
        let Some(mut host) = shared.try_lock() else { return };
        for open in orphans {
            if !host.is_held(open) {
                host.driver.release(open);
                self.files.released(open);
            }
        }
    }

    /// A process ended: the kernel has closed what it had open. With `whole`, only what is known here counts.
    pub(super) fn bury(&mut self, tgid: u32, whole: bool) {
        self.forget_process(tgid);
        let mut files = Vec::new();
        for (fd, _) in self.files.of(tgid) {
            if let Some((open, last)) = self.files.remove(tgid, fd) {
                let gone = last && (whole || !self.shared.lock().is_held(open));
                files.push((open, gone));
                if gone {
                    self.files.released(open);
                }
            }
        }
        self.files.forget(tgid);
        if !files.is_empty() {
            self.shared.lock().driver.exit(tgid, &files);
        }
    }
}
