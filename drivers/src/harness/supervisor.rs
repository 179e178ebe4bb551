//! The loop that answers stopped calls.

use super::files::Files;
use super::host::{Options, Shared};
use super::seccomp::{Answer, Listener, Notice};
use super::syscalls::Call;
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::time::{Duration, Instant};
use std::vec::Vec;

/// Where the clients live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// A thread of this process, and children that it forks.
    Inside,
    /// Other processes.
    Outside,
}

/// Serves one listener.
#[derive(Debug)]
pub(super) struct Supervisor {
    pub(super) listener: Listener,
    pub(super) shared: Shared,
    pub(super) options: Options,
    pub(super) place: Where,
    pub(super) files: Files,
    pub(super) threads: BTreeMap<u32, u32>,
    /// Calls whose caller sleeps in the driver.
    pub(super) sleeping: Vec<(Notice, Call, u32)>,
    processes: BTreeMap<u32, OwnedFd>,
    stop: RawFd,
}

impl Supervisor {
    /// Serves until `stop` becomes readable, or until no client is left.
    pub(super) fn new(
        listener: Listener,
        shared: Shared,
        options: Options,
        place: Where,
        stop: RawFd,
    ) -> Self {
        Self {
            listener,
            shared,
            options,
            place,
            files: Files::default(),
            threads: BTreeMap::new(),
            sleeping: Vec::new(),
            processes: BTreeMap::new(),
            stop,
        }
    }

    pub(super) fn run(mut self) {
        let mut last = Instant::now();
        loop {
            let mut polls = std::vec![poll_entry(self.listener.fd()), poll_entry(self.stop)];
            polls.extend(self.processes.values().map(|fd| poll_entry(fd.as_raw_fd())));
            let timeout = if self.sleeping.is_empty() { -1 } else { 1 };
            // SAFETY: the entries are valid for their number.
            unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, timeout) };
            let died: Vec<u32> = self
                .processes
                .keys()
                .zip(&polls[2..])
                .filter(|(_, entry)| entry.revents != 0)
                .map(|(&tgid, _)| tgid)
                .collect();
            if polls[0].revents & libc::POLLIN != 0
                && let Some(notice) = self.listener.receive()
            {
                self.take(notice);
            }
            for tgid in died {
                self.bury(tgid);
            }
            self.let_time_pass(last.elapsed());
            last = Instant::now();
            self.retry();
            let hung_up = polls[0].revents & (libc::POLLHUP | libc::POLLERR) != 0;
            let idle = polls[0].revents & libc::POLLIN == 0;
            if idle && (polls[1].revents != 0 || hung_up) {
                break;
            }
        }
        let left: Vec<u32> = self.processes.keys().copied().collect();
        left.into_iter().for_each(|tgid| self.bury(tgid));
        if self.place == Where::Inside {
            self.leave();
        }
    }

    /// The client thread ended, but not its process: its descriptors are closed for it.
    fn leave(&mut self) {
        let tgid = std::process::id();
        let numbers = self.files.of(tgid);
        self.bury(tgid);
        for (fd, _) in numbers {
            // SAFETY: the harness gave the client this number and nobody closed it.
            unsafe { libc::close(fd) };
        }
    }

    fn take(&mut self, notice: Notice) {
        let Some(tgid) = self.process(notice.tid) else {
            self.listener.answer(notice.id, Answer::Continue);
            return;
        };
        let call = Call::decode(notice.nr, &notice.args);
        self.settle_exec(tgid);
        if !self.serve(&notice, call, tgid) {
            self.sleeping.push((notice, call, tgid));
        }
    }

    /// The process of a thread; a new one is watched for its end.
    fn process(&mut self, tid: u32) -> Option<u32> {
        if let Some(&tgid) = self.threads.get(&tid) {
            return Some(tgid);
        }
        let tgid = super::procfs::process_of(tid)?;
        self.threads.insert(tid, tgid);
        let own = self.place == Where::Inside && tgid == std::process::id();
        if self.files.meet(tgid) && !own {
            // SAFETY: no memory is passed.
            let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, tgid, 0) };
            if fd >= 0 {
                // SAFETY: the descriptor is fresh and owned by nobody else.
                self.processes.insert(tgid, unsafe { OwnedFd::from_raw_fd(fd as RawFd) });
            }
        }
        Some(tgid)
    }

    /// A process ended: the kernel closes what it had open.
    fn bury(&mut self, tgid: u32) {
        self.processes.remove(&tgid);
        self.threads.retain(|_, owner| *owner != tgid);
        self.sleeping.retain(|(_, _, owner)| *owner != tgid);
        let mut files = Vec::new();
        for (fd, _) in self.files.of(tgid) {
            files.extend(self.files.remove(tgid, fd));
        }
        self.files.forget(tgid);
        if !files.is_empty() {
            self.shared.lock().driver.exit(tgid, &files);
        }
        for (open, _) in files.into_iter().filter(|(_, last)| *last) {
            self.files.drop_source(open);
        }
    }

    fn let_time_pass(&self, real: Duration) {
        if !self.sleeping.is_empty() && self.options.pace > 0 {
            let virtual_us = real.as_micros() as u64 * self.options.pace / 1000;
            self.shared.lock().driver.tick(virtual_us.max(1));
        }
    }

    /// Asks again for everybody who sleeps.
    fn retry(&mut self) {
        for (notice, call, tgid) in core::mem::take(&mut self.sleeping) {
            if !self.listener.is_valid(notice.id) {
                continue;
            }
            if !self.serve(&notice, call, tgid) {
                self.sleeping.push((notice, call, tgid));
            }
        }
    }
}

const fn poll_entry(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}
