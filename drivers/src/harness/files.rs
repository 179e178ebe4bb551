//! Which descriptor numbers refer to which open file of the driver.

use super::procfs;
use crate::simdrv::OpenId;
use std::collections::BTreeMap;
use std::fs::File;
use std::vec::Vec;

/// Descriptors of all client processes.
#[derive(Debug, Default)]
pub(super) struct Files {
    numbers: BTreeMap<(u32, i32), OpenId>,
    sources: BTreeMap<OpenId, File>,
    seen: Vec<u32>,
    execing: Vec<u32>,
}

impl Files {
    pub(super) fn add_source(&mut self, open: OpenId, file: File) {
        self.sources.insert(open, file);
    }

    pub(super) fn source(&self, open: OpenId) -> Option<&File> {
        self.sources.get(&open)
    }

    pub(super) fn insert(&mut self, tgid: u32, fd: i32, open: OpenId) {
        self.numbers.insert((tgid, fd), open);
    }

    /// The open file of a number. A number that came by fork or was passed is recognised by its mark.
    pub(super) fn get(&mut self, tgid: u32, fd: i32) -> Option<OpenId> {
        if let Some(&open) = self.numbers.get(&(tgid, fd)) {
            return Some(open);
        }
        if self.sources.is_empty() {
            return None;
        }
        let open = OpenId(procfs::mark_of(tgid, fd)?);
        if !self.sources.contains_key(&open) {
            return None;
        }
        self.insert(tgid, fd, open);
        Some(open)
    }

    /// Forgets a number; gives the file, and whether no number refers to it any more.
    pub(super) fn remove(&mut self, tgid: u32, fd: i32) -> Option<(OpenId, bool)> {
        let open = self.numbers.remove(&(tgid, fd))?;
        Some((open, !self.numbers.values().any(|other| *other == open)))
    }

    pub(super) fn drop_source(&mut self, open: OpenId) {
        self.sources.remove(&open);
    }

    /// Numbers of a process in order.
    pub(super) fn of(&self, tgid: u32) -> Vec<(i32, OpenId)> {
        self.numbers.range((tgid, i32::MIN)..=(tgid, i32::MAX)).map(|(&(_, fd), &open)| (fd, open)).collect()
    }

    /// Whether this is the first time that the process is seen; its inherited descriptors are taken up then.
    pub(super) fn meet(&mut self, tgid: u32) -> bool {
        if self.seen.contains(&tgid) {
            return false;
        }
        self.seen.push(tgid);
        if !self.sources.is_empty() {
            for fd in procfs::descriptors(tgid) {
                self.get(tgid, fd);
            }
        }
        true
    }

    pub(super) fn forget(&mut self, tgid: u32) {
        self.seen.retain(|seen| *seen != tgid);
        self.execing.retain(|other| *other != tgid);
    }

    pub(super) fn starts_exec(&mut self, tgid: u32) {
        if !self.of(tgid).is_empty() && !self.execing.contains(&tgid) {
            self.execing.push(tgid);
        }
    }

    /// Numbers that an `exec` closed; empty unless one was under way.
    pub(super) fn lost_in_exec(&mut self, tgid: u32) -> Vec<i32> {
        let Some(at) = self.execing.iter().position(|other| *other == tgid) else { return Vec::new() };
        self.execing.remove(at);
        let gone = |(fd, open): &(i32, OpenId)| procfs::mark_of(tgid, *fd) != Some(open.0);
        self.of(tgid).into_iter().filter(gone).map(|(fd, _)| fd).collect()
    }
}
