//! The loop that answers stopped calls.

use super::files::Files;
use super::host::{Options, Shared};
use super::mapping::Unsure;
use super::procfs;
use super::seccomp::{Answer, Listener, Notice};
use super::syscalls::Call;
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::time::{Duration, Instant};
use std::vec::Vec;

/// How long the end of processes that have left the filter may take.
const LAST_MOMENTS: Duration = Duration::from_secs(2);

/// Descriptors that are kept for serving those who are watched.
const SPARE: u64 = 32;

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
    pub(super) unsure: Vec<Unsure>,
    threads: BTreeMap<u32, u32>,
    /// Calls whose caller sleeps in the driver.
    sleeping: Vec<(Notice, Call, u32)>,
    processes: BTreeMap<u32, OwnedFd>,
    stop: RawFd,
    /// Descriptors that this process may have.
    most: u64,
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
        let files = Files::new(shared.lock().inodes());
        Self {
            listener,
            shared,
            options,
            place,
            files,
            unsure: Vec::new(),
            threads: BTreeMap::new(),
            sleeping: Vec::new(),
            processes: BTreeMap::new(),
            stop,
            most: procfs::descriptor_limit(std::process::id()),
        }
    }

    pub(super) fn run(mut self) {
        let mut last = Instant::now();
        loop {
            let mut polls = std::vec![poll_entry(self.listener.fd()), poll_entry(self.stop)];
            polls.extend(self.processes.values().map(|fd| poll_entry(fd.as_raw_fd())));
            poll(&mut polls, if self.sleeping.is_empty() { -1 } else { 1 });
            let waiting = polls[0].revents & libc::POLLIN != 0;
            let notice = if waiting { self.listener.receive() } else { None };
            // A notice may come from somebody who has waited for the end of another process: that comes first.
            self.bury_the_dead();
            if let Some(notice) = notice {
                self.take(notice);
            }
            self.let_time_pass(last.elapsed());
            last = Instant::now();
            self.retry();
            let hung_up = polls[0].revents & (libc::POLLHUP | libc::POLLERR) != 0;
            if !waiting && (polls[1].revents != 0 || hung_up) {
                break;
            }
        }
        self.finish();
    }

    /// Nobody is served any more: all processes end.
    fn finish(&mut self) {
        let start = Instant::now();
        // Processes leave the filter before the kernel has closed what they had open.
        while !self.processes.is_empty() && start.elapsed() < LAST_MOMENTS {
            self.bury_the_dead();
            std::thread::sleep(Duration::from_micros(100));
        }
        let left: Vec<u32> = self.processes.keys().copied().collect();
        left.into_iter().for_each(|tgid| self.bury(tgid, false));
        if self.place == Where::Inside {
            self.leave();
            return;
        }
        loop {
            self.release_orphans();
            if self.files.orphans().is_empty() || start.elapsed() >= LAST_MOMENTS {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The client thread ended, but not its process: its descriptors are closed for it, and what still holds one of
    /// its files would be gone if the process were.
    fn leave(&mut self) {
        let tgid = std::process::id();
        let numbers = self.files.of(tgid);
        self.bury(tgid, true);
        for (fd, _) in numbers {
            // SAFETY: the harness gave the client this number and nobody closed it.
            unsafe { libc::close(fd) };
        }
        for open in self.files.orphans() {
            self.shared.lock().driver.release(open);
            self.files.released(open);
        }
    }

    fn bury_the_dead(&mut self) {
        let mut polls: Vec<_> = self.processes.values().map(|fd| poll_entry(fd.as_raw_fd())).collect();
        if poll(&mut polls, 0) > 0 {
            let ended = |(&tgid, entry): (&u32, &libc::pollfd)| (entry.revents != 0).then_some(tgid);
            let died: Vec<u32> = self.processes.keys().zip(&polls).filter_map(ended).collect();
            died.into_iter().for_each(|tgid| self.bury(tgid, false));
        }
        self.release_orphans();
    }

    fn take(&mut self, notice: Notice) {
        let Some(tgid) = self.process(notice.tid) else {
            self.listener.answer(notice.id, Answer::Continue);
            return;
        };
        // A caller that is gone is nobody's concern, and its id may be another's by now.
        if !self.listener.is_valid(notice.id) {
            return;
        }
        self.settle_execs(notice.tid);
        self.settle_maps(tgid, notice.tid);
        self.files.settle_copy(tgid, notice.tid);
        let call = Call::decode(notice.nr, &notice.args);
        if !self.serve(&notice, call, tgid) {
            self.sleeping.push((notice, call, tgid));
        }
    }

    /// The process of a thread; a new one is watched for its end.
    fn process(&mut self, tid: u32) -> Option<u32> {
        let known = self.threads.get(&tid).copied().filter(|tgid| procfs::belongs(tid, *tgid));
        let tgid = match known {
            Some(tgid) => tgid,
            None => procfs::process_of(tid)?,
        };
        self.threads.insert(tid, tgid);
        if !self.is_watched(tgid) && self.processes.len() as u64 + SPARE < self.most {
            // SAFETY: no memory is passed.
            let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, tgid, 0) };
            if fd >= 0 {
                // SAFETY: the descriptor is fresh and owned by nobody else.
                self.processes.insert(tgid, unsafe { OwnedFd::from_raw_fd(fd as RawFd) });
            }
        }
        self.files.meet(tgid);
        Some(tgid)
    }

    /// Whether the end of a process will be noticed.
    pub(super) fn is_watched(&self, tgid: u32) -> bool {
        let own = self.place == Where::Inside && tgid == std::process::id();
        own || self.processes.contains_key(&tgid)
    }

    /// Drops what is known of a process beside its descriptors.
    pub(super) fn forget_process(&mut self, tgid: u32) {
        self.processes.remove(&tgid);
        self.threads.retain(|_, owner| *owner != tgid);
        self.sleeping.retain(|(_, _, owner)| *owner != tgid);
        self.unsure.retain(|unsure| !unsure.is_of(tgid));
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

/// How many entries have something to tell, after at most `milliseconds`; -1 waits for ever.
fn poll(entries: &mut [libc::pollfd], milliseconds: i32) -> i32 {
    // SAFETY: the entries are valid for their number.
    unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, milliseconds) }
}
