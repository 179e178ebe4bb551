//! What `/proc` says about a caller.

use std::format;
use std::fs;
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

/// Whether SIGTERM or SIGKILL is pending in the thread's own set.
pub(super) fn is_killed(tid: u32) -> bool {
    let text = status(tid);
    let pending = field(&text, "SigPnd:").and_then(|set| u64::from_str_radix(set, 16).ok()).unwrap_or(0);
    let bit = |signal: i32| 1u64 << (signal - 1);
    pending & (bit(libc::SIGTERM) | bit(libc::SIGKILL)) != 0
}

/// The mark that a descriptor of a memory file carries as its position, and whether it is close-on-exec.
pub(super) fn mark_of(tgid: u32, fd: i32) -> Option<u32> {
    let target = fs::read_link(format!("/proc/{tgid}/fd/{fd}")).ok()?;
    if !target.to_string_lossy().starts_with("/memfd:neuron") {
        return None;
    }
    let info = fs::read_to_string(format!("/proc/{tgid}/fdinfo/{fd}")).ok()?;
    field(&info, "pos:")?.parse().ok()
}

/// Descriptor numbers of a process.
pub(super) fn descriptors(tgid: u32) -> Vec<i32> {
    let Ok(listing) = fs::read_dir(format!("/proc/{tgid}/fd")) else { return Vec::new() };
    let mut found: Vec<i32> =
        listing.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    found.sort_unstable();
    found
}

/// The file offset at which `address` is mapped from a memory file of a device.
pub(super) fn mapped_offset(tgid: u32, address: u64) -> Option<u64> {
    let maps = fs::read_to_string(format!("/proc/{tgid}/maps")).ok()?;
    maps.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (range, _, offset) = (words.next()?, words.next()?, words.next()?);
        let start = u64::from_str_radix(range.split('-').next()?, 16).ok()?;
        let ours = start == address && line.contains("/memfd:neuron");
        ours.then(|| u64::from_str_radix(offset, 16).ok())?
    })
}
