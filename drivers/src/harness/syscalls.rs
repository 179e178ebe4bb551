//! Which system calls stop, and what they mean.

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
            (libc::SYS_close, Rule::Always),
            (libc::SYS_close_range, Rule::Always),
            (libc::SYS_dup, Rule::Always),
            (libc::SYS_dup3, Rule::Always),
            (libc::SYS_fcntl, Rule::Fcntl),
            (libc::SYS_faccessat, Rule::Always),
            (libc::SYS_faccessat2, Rule::Always),
            (libc::SYS_newfstatat, Rule::Always),
            (libc::SYS_statx, Rule::Always),
            (libc::SYS_execve, Rule::Always),
            (libc::SYS_execveat, Rule::Always),
            $($extra),*
        ]
    };
}

/// The calls that stop.
#[cfg(target_arch = "x86_64")]
pub(super) const RULES: &[(libc::c_long, Rule)] = rules!(
    (libc::SYS_open, Rule::Always),
    (libc::SYS_access, Rule::Always),
    (libc::SYS_stat, Rule::Always),
    (libc::SYS_lstat, Rule::Always),
    (libc::SYS_dup2, Rule::Always)
);

/// The calls that stop.
#[cfg(target_arch = "aarch64")]
pub(super) const RULES: &[(libc::c_long, Rule)] = rules!();

/// A stopped call, decoded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Call {
    Open { path: u64, flags: i32 },
    Access { path: u64 },
    Stat { path: u64, out: u64 },
    Statx { path: u64, out: u64 },
    Ioctl { fd: i32, request: u32, argument: u64 },
    Mmap { address: u64, length: u64, prot: i32, flags: i32, fd: i32, offset: u64 },
    Munmap { address: u64, length: u64 },
    Close { fd: i32 },
    CloseRange { first: u32, last: u32, flags: u32 },
    Dup { fd: i32, at: Option<i32>, least: i32, cloexec: bool },
    Exec,
    Other,
}

/// Cuts an argument to a C `int`.
const fn int(argument: u64) -> i32 {
    argument as i32
}

impl Call {
    pub(super) fn decode(nr: i64, args: &[u64; 6]) -> Self {
        let [a, b, c, d, e, f] = *args;
        match nr {
            libc::SYS_openat => Self::Open { path: b, flags: int(c) },
            libc::SYS_ioctl => Self::Ioctl { fd: int(a), request: b as u32, argument: c },
            libc::SYS_mmap => {
                Self::Mmap { address: a, length: b, prot: int(c), flags: int(d), fd: int(e), offset: f }
            }
            libc::SYS_munmap => Self::Munmap { address: a, length: b },
            libc::SYS_close => Self::Close { fd: int(a) },
            libc::SYS_close_range => Self::CloseRange { first: a as u32, last: b as u32, flags: c as u32 },
            libc::SYS_dup => Self::Dup { fd: int(a), at: None, least: 0, cloexec: false },
            libc::SYS_dup3 => {
                Self::Dup { fd: int(a), at: Some(int(b)), least: 0, cloexec: int(c) & libc::O_CLOEXEC != 0 }
            }
            libc::SYS_fcntl => {
                Self::Dup { fd: int(a), at: None, least: int(c), cloexec: int(b) == libc::F_DUPFD_CLOEXEC }
            }
            libc::SYS_faccessat | libc::SYS_faccessat2 => Self::Access { path: b },
            libc::SYS_newfstatat => Self::Stat { path: b, out: c },
            libc::SYS_statx => Self::Statx { path: b, out: e },
            libc::SYS_execve | libc::SYS_execveat => Self::Exec,
            _ => Self::decode_old(nr, args),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn decode_old(nr: i64, args: &[u64; 6]) -> Self {
        let [a, b, ..] = *args;
        match nr {
            libc::SYS_open => Self::Open { path: a, flags: int(b) },
            libc::SYS_access => Self::Access { path: a },
            libc::SYS_stat | libc::SYS_lstat => Self::Stat { path: a, out: b },
            libc::SYS_dup2 => Self::Dup { fd: int(a), at: Some(int(b)), least: 0, cloexec: false },
            _ => Self::Other,
        }
    }

    #[cfg(target_arch = "aarch64")]
    const fn decode_old(_: i64, _: &[u64; 6]) -> Self {
        Self::Other
    }
}
