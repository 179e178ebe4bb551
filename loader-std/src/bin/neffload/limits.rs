//! The limits that the system sets this process.

use std::fs;

/// The soft limit of that name, as `/proc/self/limits` words it; `None` without a limit.
fn soft(name: &str) -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// True if the address space is limited.
pub(crate) fn is_memory_limited() -> bool {
    soft("Max address space").is_some()
}

/// Files that may be open at once.
pub(crate) fn open_files() -> usize {
    soft("Max open files").map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX))
}
