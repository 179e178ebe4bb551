//! Answers to `stat` for the paths that the harness serves.

use super::paths::Known;

/// Major number that the nodes pretend to have.
const MAJOR: u32 = 240;

const fn mode(known: &Known) -> u32 {
    match known {
        Known::Node(_) => libc::S_IFCHR | 0o666,
        Known::Text(_) => libc::S_IFREG | 0o444,
        _ => libc::S_IFDIR | 0o555,
    }
}

/// The bytes of a `struct stat`.
pub(super) fn stat(known: &Known) -> [u8; size_of::<libc::stat>()] {
    // SAFETY: all-zero is a valid value of this plain structure.
    let mut out: libc::stat = unsafe { core::mem::zeroed() };
    out.st_mode = mode(known);
    out.st_nlink = 1;
    if let Known::Node(index) = known {
        out.st_rdev = libc::makedev(MAJOR, *index);
    }
    // SAFETY: the structure is plain data of exactly that size, zeroed before it was filled.
    unsafe { core::mem::transmute(out) }
}

/// The bytes of a `struct statx`.
pub(super) fn statx(known: &Known) -> [u8; size_of::<libc::statx>()] {
    // SAFETY: all-zero is a valid value of this plain structure.
    let mut out: libc::statx = unsafe { core::mem::zeroed() };
    out.stx_mask = libc::STATX_TYPE | libc::STATX_MODE;
    out.stx_mode = mode(known) as u16;
    out.stx_nlink = 1;
    if let Known::Node(index) = known {
        (out.stx_rdev_major, out.stx_rdev_minor) = (MAJOR, *index);
    }
    // SAFETY: the structure is plain data of exactly that size, zeroed before it was filled.
    unsafe { core::mem::transmute(out) }
}
