//! Which descriptor numbers refer to which open file of the driver.
//!
//! The kernel's tables are the truth; these are what is known of them. A number that came by `fork`, was passed
//! through a socket or duplicated is recognised by its inode and by the mark that every open file carries as its
//! position. Whether anybody at all still has a file, also one that is on its way through a socket or in a process
//! that was never seen, is asked of the kernel: see [`FileMemory::is_held`](super::FileMemory::is_held).

use super::memfd;
use super::procfs;
use crate::simdrv::OpenId;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::vec::Vec;

/// Descriptors of all client processes.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Inodes of the devices' memory.
    inodes: Vec<(u64, u64)>,
    numbers: BTreeMap<(u32, i32), OpenId>,
    live: BTreeSet<OpenId>,
    /// Files without a known number that somebody may still have.
    orphans: BTreeSet<OpenId>,
    seen: BTreeSet<u32>,
    /// Processes with an `exec` under way, and the threads that asked for it.
    execing: BTreeMap<u32, u32>,
    /// Processes that got a number which is not known yet, and the threads that asked for it.
    copying: BTreeMap<u32, u32>,
}

impl Files {
    pub(super) fn new(inodes: Vec<(u64, u64)>) -> Self {
        Self { inodes, ..Self::default() }
    }

    /// The device whose memory has that inode number.
    pub(super) fn device_of(&self, inode: u64) -> Option<u32> {
        let at = self.inodes.iter().position(|known| known.1 == inode)?;
        u32::try_from(at).ok()
    }

    pub(super) fn insert(&mut self, tgid: u32, fd: i32, open: OpenId) {
        self.live.insert(open);
        self.orphans.remove(&open);
        self.numbers.insert((tgid, fd), open);
    }

    /// What a number refers to by the kernel's word.
    fn real(&self, tgid: u32, fd: i32) -> io::Result<Option<OpenId>> {
        // Most numbers are something else, for which one question is enough.
        if !self.inodes.contains(&procfs::inode(tgid, fd)?) {
            return Ok(None);
        }
        let (_, position) = procfs::target(tgid, fd)?;
        Ok(memfd::mark_at(position).map(OpenId).filter(|open| self.live.contains(open)))
    }

    /// The open file of a number.
    pub(super) fn get(&mut self, tgid: u32, fd: i32) -> Option<OpenId> {
        if let Some(&open) = self.numbers.get(&(tgid, fd)) {
            return Some(open);
        }
        if self.live.is_empty() {
            return None;
        }
        let open = self.real(tgid, fd).ok()??;
        self.insert(tgid, fd, open);
        Some(open)
    }

    /// Forgets a number; gives the file, and whether no number is known to refer to it any more.
    pub(super) fn remove(&mut self, tgid: u32, fd: i32) -> Option<(OpenId, bool)> {
        let open = self.numbers.remove(&(tgid, fd))?;
        let last = !self.numbers.values().any(|other| *other == open);
        if last {
            self.orphans.insert(open);
        }
        Some((open, last))
    }

    /// The file is gone.
    pub(super) fn released(&mut self, open: OpenId) {
        self.live.remove(&open);
        self.orphans.remove(&open);
    }

    pub(super) fn orphans(&self) -> Vec<OpenId> {
        self.orphans.iter().copied().collect()
    }

    /// Numbers of a process in order.
    pub(super) fn of(&self, tgid: u32) -> Vec<(i32, OpenId)> {
        self.numbers.range((tgid, i32::MIN)..=(tgid, i32::MAX)).map(|(&(_, fd), &open)| (fd, open)).collect()
    }

    /// Takes up all numbers of a process.
    fn scan(&mut self, tgid: u32) {
        if !self.live.is_empty() {
            for fd in procfs::descriptors(tgid) {
                self.get(tgid, fd);
            }
        }
    }

    /// Takes up what a process inherited when it is seen for the first time.
    pub(super) fn meet(&mut self, tgid: u32) {
        if self.seen.insert(tgid) {
            self.scan(tgid);
        }
    }

    pub(super) fn forget(&mut self, tgid: u32) {
        self.seen.remove(&tgid);
        self.execing.remove(&tgid);
        self.copying.remove(&tgid);
    }

    /// A thread asked for a number that the kernel will choose.
    pub(super) fn starts_copy(&mut self, tgid: u32, tid: u32) {
        self.copying.insert(tgid, tid);
    }

    /// Looks for the number once the thread is back.
    pub(super) fn settle_copy(&mut self, tgid: u32, tid: u32) {
        if self.copying.contains_key(&tgid) {
            self.scan(tgid);
            if self.copying.get(&tgid) == Some(&tid) {
                self.copying.remove(&tgid);
            }
        }
    }

    pub(super) fn starts_exec(&mut self, tgid: u32, tid: u32) {
        if !self.of(tgid).is_empty() {
            self.execing.insert(tgid, tid);
        }
    }

    /// Processes that may be in the middle of an `exec`, with the thread that asked for it.
    pub(super) fn execing(&self) -> Vec<(u32, u32)> {
        self.execing.iter().map(|(&tgid, &tid)| (tgid, tid)).collect()
    }

    pub(super) fn ends_exec(&mut self, tgid: u32) {
        self.execing.remove(&tgid);
    }

    /// Numbers of a process that the kernel has closed.
    pub(super) fn lost(&self, tgid: u32) -> Vec<i32> {
        let gone = |(fd, open): &(i32, OpenId)| match self.real(tgid, *fd) {
            Ok(real) => real != Some(*open),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        self.of(tgid).into_iter().filter(gone).map(|(fd, _)| fd).collect()
    }
}
