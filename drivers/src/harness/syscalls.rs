//! Which system calls stop, and what they mean.

use libc::{EINVAL, ENODEV, ESPIPE};

/// Index of `fcntl`'s command.
pub(super) const ADDED_FLAGS_ARG: u32 = 1;

/// The architecture that the filter is for; calls of any other pass unseen.
#[cfg(target_arch = "x86_64")]
pub(super) const AUDIT_ARCH: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
pub(super) const AUDIT_ARCH: u32 = 0xC000_00B7;

/// When a call stops.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    Always,
    /// Requests with type byte `N`.
    Ioctl,
    /// Mappings of files.
    Mmap,
    /// Duplicating commands.
    Fcntl,
}

/// Calls that both architectures have.
macro_rules! rules {
    ($($extra:expr),*) => {
        &[
            (libc::SYS_ioctl, Rule::Ioctl),
            (libc::SYS_mmap, Rule::Mmap),
            (libc::SYS_munmap, Rule::Always),
            (libc::SYS_openat, Rule::Always),
            (libc::SYS_openat2, Rule::Always),
            (libc::SYS_close, Rule::Always),
            (libc::SYS_close_range, Rule::Always),
            (libc::SYS_dup, Rule::Always),
            (libc::SYS_dup3, Rule::Always),
            (libc::SYS_fcntl, Rule::Fcntl),
            (libc::SYS_faccessat, Rule::Always),
            (libc::SYS_faccessat2, Rule::Always),
            (libc::SYS_newfstatat, Rule::Always),
            (libc::SYS_fstat, Rule::Always),
            (libc::SYS_statx, Rule::Always),
            (libc::SYS_execve, Rule::Always),
            (libc::SYS_execveat, Rule::Always),
            (libc::SYS_lseek, Rule::Always),
            (libc::SYS_pread64, Rule::Always),
            (libc::SYS_pwrite64, Rule::Always),
            (libc::SYS_preadv, Rule::Always),
            (libc::SYS_pwritev, Rule::Always),
            (libc::SYS_preadv2, Rule::Always),
            (libc::SYS_pwritev2, Rule::Always),
            (libc::SYS_ftruncate, Rule::Always),
            (libc::SYS_fallocate, Rule::Always),
            $($extra),*
        ]
    };
}

/// The calls that stop.
#[cfg(target_arch = "x86_64")]
pub(super) const RULES: &[(libc::c_long, Rule)] = rules!(
    (libc::SYS_open, Rule::Always),
    (libc::SYS_creat, Rule::Always),
    (libc::SYS_access, Rule::Always),
    (libc::SYS_stat, Rule::Always),
    (libc::SYS_lstat, Rule::Always),
    (libc::SYS_dup2, Rule::Always)
);

/// The calls that stop.
#[cfg(target_arch = "aarch64")]
pub(super) const RULES: &[(libc::c_long, Rule)] = rules!();

/// A path argument: a user address, and the directory where a relative path begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathAt {
    pub(super) directory: i32,
    pub(super) address: u64,
}

/// What a duplicating call asks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Copy {
    /// The lowest free number.
    Lowest,
    /// The lowest free number from there on.
    From(i32),
    /// That number, whatever it is now.
    At(i32),
}

/// A stopped call, decoded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Call {
    Open {
        path: PathAt,
        flags: i32,
    },
    Open2 {
        path: PathAt,
        how: u64,
        bytes: u64,
    },
    Access {
        path: PathAt,
    },
    Stat {
        path: PathAt,
        flags: i32,
        out: u64,
    },
    Statx {
        path: PathAt,
        flags: i32,
        out: u64,
    },
    Fstat {
        fd: i32,
        out: u64,
    },
    Ioctl {
        fd: i32,
        request: u32,
        argument: u64,
    },
    Mmap {
        address: u64,
        length: u64,
        prot: i32,
        flags: i32,
        fd: i32,
        offset: u64,
    },
    Munmap {
        address: u64,
        length: u64,
    },
    Close {
        fd: i32,
    },
    CloseRange {
        first: u32,
        last: u32,
        flags: u32,
    },
    Dup {
        fd: i32,
        copy: Copy,
    },
    /// Something that the device has no operation for, and what the kernel says then.
    Lacks {
        fd: i32,
        errno: i32,
    },
    Exec,
    Other,
}

/// Cuts an argument to a C `int`.
const fn int(argument: u64) -> i32 {
    argument as i32
}

const fn at(directory: u64, address: u64) -> PathAt {
    PathAt { directory: int(directory), address }
}

#[cfg(target_arch = "x86_64")]
const fn here(address: u64) -> PathAt {
    PathAt { directory: libc::AT_FDCWD, address }
}

impl Call {
    pub(super) fn decode(nr: i64, args: &[u64; 6]) -> Self {
        let [a, b, c, d, e, f] = *args;
        match nr {
            libc::SYS_openat => Self::Open { path: at(a, b), flags: int(c) },
            libc::SYS_openat2 => Self::Open2 { path: at(a, b), how: c, bytes: d },
            libc::SYS_ioctl => Self::Ioctl { fd: int(a), request: b as u32, argument: c },
            libc::SYS_mmap => {
                Self::Mmap { address: a, length: b, prot: int(c), flags: int(d), fd: int(e), offset: f }
            }
            libc::SYS_munmap => Self::Munmap { address: a, length: b },
            libc::SYS_close => Self::Close { fd: int(a) },
            libc::SYS_close_range => Self::CloseRange { first: a as u32, last: b as u32, flags: c as u32 },
            libc::SYS_dup => Self::Dup { fd: int(a), copy: Copy::Lowest },
            // Flags that do not exist, and the same number twice, are errors that close nothing.
            libc::SYS_dup3 if a as u32 == b as u32 || c as u32 & !(libc::O_CLOEXEC as u32) != 0 => {
                Self::Other
            }
            libc::SYS_dup3 => Self::Dup { fd: int(a), copy: Copy::At(int(b)) },
            libc::SYS_fcntl => Self::Dup { fd: int(a), copy: Copy::From(int(c)) },
            libc::SYS_faccessat | libc::SYS_faccessat2 => Self::Access { path: at(a, b) },
            libc::SYS_newfstatat => Self::Stat { path: at(a, b), flags: int(d), out: c },
            libc::SYS_fstat => Self::Fstat { fd: int(a), out: b },
            libc::SYS_statx => Self::Statx { path: at(a, b), flags: int(c), out: e },
            libc::SYS_execve | libc::SYS_execveat => Self::Exec,
            libc::SYS_lseek => Self::Lacks { fd: int(a), errno: ESPIPE },
            libc::SYS_pread64
            | libc::SYS_pwrite64
            | libc::SYS_preadv
            | libc::SYS_pwritev
            | libc::SYS_preadv2
            | libc::SYS_pwritev2
            | libc::SYS_ftruncate => Self::Lacks { fd: int(a), errno: EINVAL },
            libc::SYS_fallocate => Self::Lacks { fd: int(a), errno: ENODEV },
            _ => Self::decode_old(nr, args),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn decode_old(nr: i64, args: &[u64; 6]) -> Self {
        let [a, b, ..] = *args;
        match nr {
            libc::SYS_open => Self::Open { path: here(a), flags: int(b) },
            libc::SYS_creat => {
                Self::Open { path: here(a), flags: libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC }
            }
            libc::SYS_access => Self::Access { path: here(a) },
            libc::SYS_stat | libc::SYS_lstat => Self::Stat { path: here(a), flags: 0, out: b },
            libc::SYS_dup2 if a as u32 != b as u32 => Self::Dup { fd: int(a), copy: Copy::At(int(b)) },
            _ => Self::Other,
        }
    }

    #[cfg(target_arch = "aarch64")]
    const fn decode_old(_: i64, _: &[u64; 6]) -> Self {
        Self::Other
    }
}
