//! What `/proc` says about a caller.

use std::format;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::string::String;
use std::vec::Vec;

fn status(task: u32) -> String {
    fs::read_to_string(format!("/proc/{task}/status")).unwrap_or_default()
}

fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim)
}

/// The process that a thread belongs to.
pub(super) fn process_of(tid: u32) -> Option<u32> {
    field(&status(tid), "Tgid:")?.parse().ok()
}

/// Whether that thread exists and belongs to that process. Ids of ended threads are given out again.
pub(super) fn belongs(tid: u32, tgid: u32) -> bool {
    // SAFETY: signal 0 is not delivered; no memory is passed.
    unsafe { libc::syscall(libc::SYS_tgkill, tgid, tid, 0) == 0 }
}

/// Whether SIGTERM or SIGKILL is pending in the thread's own set.
pub(super) fn is_killed(tid: u32) -> bool {
    let text = status(tid);
    let pending = field(&text, "SigPnd:").and_then(|set| u64::from_str_radix(set, 16).ok()).unwrap_or(0);
    let bit = |signal: i32| 1u64 << (signal - 1);
    pending & (bit(libc::SIGTERM) | bit(libc::SIGKILL)) != 0
}

/// What a descriptor number of a process refers to: the inode and the position.
///
/// # Errors
/// `NotFound` if the number is not in use; others if the process may not be looked at.
pub(super) fn target(tgid: u32, fd: i32) -> io::Result<((u64, u64), u64)> {
    let inode = inode(tgid, fd)?;
    let info = fs::read_to_string(format!("/proc/{tgid}/fdinfo/{fd}"))?;
    let position = field(&info, "pos:").and_then(|text| text.parse().ok()).unwrap_or(0);
    Ok((inode, position))
}

/// Device and inode number of what a descriptor number refers to.
///
/// # Errors
/// As [`target`].
pub(super) fn inode(tgid: u32, fd: i32) -> io::Result<(u64, u64)> {
    let file = fs::metadata(format!("/proc/{tgid}/fd/{fd}"))?;
    Ok((file.dev(), file.ino()))
}

/// Whether a descriptor number is in use.
pub(super) fn is_open(tgid: u32, fd: i32) -> bool {
    fs::symlink_metadata(format!("/proc/{tgid}/fd/{fd}")).is_ok()
}

/// One more than the greatest descriptor number that a process may get.
pub(super) fn descriptor_limit(tgid: u32) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: nothing is set, and the old limit is valid to write.
    let got =
        unsafe { libc::prlimit(tgid.cast_signed(), libc::RLIMIT_NOFILE, core::ptr::null(), &raw mut limit) };
    if got == 0 { limit.rlim_cur } else { u64::MAX }
}

/// Descriptor numbers of a process.
pub(super) fn descriptors(tgid: u32) -> Vec<i32> {
    let Ok(listing) = fs::read_dir(format!("/proc/{tgid}/fd")) else { return Vec::new() };
    let mut found: Vec<i32> =
        listing.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    found.sort_unstable();
    found
}

/// Where relative paths of a thread begin: at its working directory, or at a directory that it has open.
pub(super) fn directory(tid: u32, fd: i32) -> Option<PathBuf> {
    let link = if fd == libc::AT_FDCWD { format!("/proc/{tid}/cwd") } else { format!("/proc/{tid}/fd/{fd}") };
    fs::read_link(link).ok()
}

/// A part of an address space that is mapped from a memory file of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) offset: u64,
    pub(super) inode: u64,
}

impl Area {
    /// Where the whole of a range of the file lies; areas that touch are one for the kernel.
    pub(super) fn place(&self, offset: u64, length: u64) -> Option<u64> {
        let within = offset.checked_sub(self.offset)?;
        let bytes = self.end - self.start;
        (within.checked_add(length)? <= bytes).then(|| self.start + within)
    }

    /// Whether a part of a range of the file lies here.
    pub(super) const fn touches(&self, offset: u64, length: u64) -> bool {
        offset < self.offset + (self.end - self.start) && self.offset < offset + length
    }
}

fn area(line: &str) -> Option<Area> {
    if !line.contains("/memfd:neuron") {
        return None;
    }
    let mut words = line.split_whitespace();
    let (range, _, offset, _, inode) =
        (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
    let (start, end) = range.split_once('-')?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    Some(Area { start: hex(start)?, end: hex(end)?, offset: hex(offset)?, inode: inode.parse().ok()? })
}

/// What a process has mapped from memory files of devices; `None` if it may not be looked at.
pub(super) fn areas(tgid: u32) -> Option<Vec<Area>> {
    let maps = fs::read_to_string(format!("/proc/{tgid}/maps")).ok()?;
    Some(maps.lines().filter_map(area).collect())
}

#[cfg(test)]
mod tests {
    use super::{Area, area};

    #[test]
    fn lines_of_maps() {
        let line =
            "7f0000000000-7f0000200000 rw-s 1000000 00:01 77                  /memfd:neuron0 (deleted)";
        let expected = Area { start: 0x7f00_0000_0000, end: 0x7f00_0020_0000, offset: 0x100_0000, inode: 77 };
        assert_eq!(area(line), Some(expected));
        assert_eq!(area("7f0000000000-7f0000200000 rw-s 1000000 00:01 77 /memfd:other"), None);
        // The second of two blocks that touch.
        assert_eq!(expected.place(0x110_0000, 0x10_0000), Some(0x7f00_0010_0000));
        assert_eq!(expected.place(0x110_0000, 0x10_1000), None);
        assert_eq!(expected.place(0xff_f000, 0x1000), None);
        assert!(expected.touches(0x11f_f000, 0x10_0000) && !expected.touches(0x120_0000, 0x1000));
    }
}
