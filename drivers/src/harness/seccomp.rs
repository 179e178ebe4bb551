//! The filter, its listener, and the three calls on it.

use super::syscalls::{self, ADDED_FLAGS_ARG, Rule};
use core::fmt;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::vec::Vec;

/// Why the harness cannot work here.
#[derive(Debug)]
pub struct Unavailable {
    /// What was tried.
    pub step: &'static str,
    /// The kernel's answer.
    pub error: io::Error,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, error } = self;
        if *step == START {
            return write!(f, "{step}: {error}");
        }
        write!(f, "no seccomp user notification here: {step}: {error}")?;
        match error.raw_os_error() {
            Some(libc::EBUSY) => {
                f.write_str("; another harness or a sandbox around it has the only listener")
            }
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Unavailable {}

/// The step at which it is the program that fails, not the harness.
pub(super) const START: &str = "the program does not start";

/// The steps of [`install`].
pub(super) const STEPS: [&str; 2] = ["PR_SET_NO_NEW_PRIVS", "seccomp(NEW_LISTENER | WAIT_KILLABLE_RECV)"];

/// A stopped system call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notice {
    pub(super) id: u64,
    pub(super) tid: u32,
    pub(super) nr: i64,
    pub(super) args: [u64; 6],
}

/// The answer to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The raw result.
    Result(i64),
    /// The kernel does it.
    Continue,
}

/// The side of the filter that gets the notices.
#[derive(Debug)]
pub(super) struct Listener(OwnedFd);

const fn statement(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

const fn jump(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt, jf, k }
}

/// Offset of the low half of an argument in `seccomp_data` (little endian).
const fn arg(index: u32) -> u32 {
    16 + 8 * index
}

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const SET: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
const ALLOW: libc::sock_filter = statement(RETURN, libc::SECCOMP_RET_ALLOW);
const NOTIFY: libc::sock_filter = statement(RETURN, libc::SECCOMP_RET_USER_NOTIF);

/// The filter program. Only calls that may concern a device stop.
fn program() -> Vec<libc::sock_filter> {
    let mut code =
        std::vec![statement(LOAD, 4), jump(EQUAL, syscalls::AUDIT_ARCH, 1, 0), ALLOW, statement(LOAD, 0),];
    for &(nr, rule) in syscalls::RULES {
        let body: &[libc::sock_filter] = match rule {
            Rule::Always => &[NOTIFY],
            // Type byte 'N'.
            Rule::Ioctl => {
                &[statement(LOAD, arg(1)), statement(AND, 0xFF00), jump(EQUAL, 0x4E00, 0, 1), NOTIFY, ALLOW]
            }
            Rule::Mmap => {
                &[statement(LOAD, arg(3)), jump(SET, libc::MAP_ANONYMOUS as u32, 0, 1), ALLOW, NOTIFY]
            }
            Rule::Fcntl => &[
                statement(LOAD, arg(ADDED_FLAGS_ARG)),
                jump(EQUAL, libc::F_DUPFD as u32, 1, 0),
                jump(EQUAL, libc::F_DUPFD_CLOEXEC as u32, 0, 1),
                NOTIFY,
                ALLOW,
            ],
        };
        code.push(jump(EQUAL, nr as u32, 0, body.len() as u8));
        code.extend_from_slice(body);
    }
    code.push(ALLOW);
    code
}

/// Puts the filter on the calling thread. It stays until the thread ends and is inherited by its children.
/// Async-signal-safe once `code` exists.
///
/// # Errors
/// If the kernel does not let this thread have one.
pub(super) fn install(code: &Program) -> Result<RawFd, (&'static str, i32)> {
    let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(0);
    // SAFETY: no memory is passed.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err((STEPS[0], errno()));
    }
    let program = libc::sock_fprog { len: code.0.len() as u16, filter: code.0.as_ptr().cast_mut() };
    // An ordinary signal must not abort a request: without the second flag the call would be issued twice.
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    // SAFETY: `program` points to `len` instructions that outlive the call.
    let fd =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    if fd < 0 { Err((STEPS[1], errno())) } else { Ok(fd as RawFd) }
}

/// A compiled filter.
#[derive(Debug)]
pub(super) struct Program(Vec<libc::sock_filter>);

// SAFETY: the instructions are plain numbers.
unsafe impl Send for Program {}
// SAFETY: as above; they are only read.
unsafe impl Sync for Program {}

impl Program {
    pub(super) fn new() -> Self {
        Self(program())
    }
}

impl Listener {
    /// Takes a fresh listener descriptor over.
    ///
    /// # Safety
    /// Nobody else may own the descriptor.
    pub(super) unsafe fn from_fd(fd: RawFd) -> Self {
        // SAFETY: the caller hands the ownership over.
        Self(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    pub(super) fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// The next notice; `None` if the caller went away meanwhile.
    pub(super) fn receive(&self) -> Option<Notice> {
        // SAFETY: all-zero is a valid value, and the kernel asks for zeroed memory.
        let mut raw: libc::seccomp_notif = unsafe { core::mem::zeroed() };
        // SAFETY: the structure is the one that the request writes.
        let got = unsafe { libc::ioctl(self.fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut raw) };
        (got == 0).then(|| Notice {
            id: raw.id,
            tid: raw.pid,
            nr: i64::from(raw.data.nr),
            args: raw.data.args,
        })
    }

    /// Whether the caller still waits.
    pub(super) fn is_valid(&self, id: u64) -> bool {
        // SAFETY: the request reads eight bytes.
        unsafe { libc::ioctl(self.fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) == 0 }
    }

    /// Lets the caller go on. A caller that went away is nobody's concern.
    pub(super) fn answer(&self, id: u64, answer: Answer) {
        let mut response = libc::seccomp_notif_resp { id, val: 0, error: 0, flags: 0 };
        match answer {
            Answer::Continue => response.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
            Answer::Result(value) if (-4095..0).contains(&value) => response.error = value as i32,
            Answer::Result(value) => response.val = value,
        }
        // SAFETY: the structure is the one that the request reads.
        unsafe { libc::ioctl(self.fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const response) };
    }

    /// Gives the caller a descriptor of `source`'s file and answers the call with its number; `None` if it gets none,
    /// and the call is still to be answered.
    pub(super) fn add_fd(&self, id: u64, source: RawFd, cloexec: bool) -> Option<i32> {
        let request = libc::seccomp_notif_addfd {
            id,
            flags: libc::SECCOMP_ADDFD_FLAG_SEND as u32,
            srcfd: source as u32,
            newfd: 0,
            newfd_flags: if cloexec { libc::O_CLOEXEC as u32 } else { 0 },
        };
        // SAFETY: the structure is the one that the request reads.
        let fd = unsafe { libc::ioctl(self.fd(), libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw const request) };
        (fd >= 0).then_some(fd)
    }
}
