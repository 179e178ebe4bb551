//! Who calls, with what, and what comes back.

use super::dispatch::Fail;

/// The thread that issues a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Process: the key of all ownership.
    pub tgid: u32,
    /// Thread.
    pub tid: u32,
    /// A SIGTERM or SIGKILL is pending in the thread's own set.
    pub killed: bool,
    /// Has CAP_SYS_RAWIO.
    pub rawio: bool,
}

impl Caller {
    /// The main thread of an ordinary process.
    #[must_use]
    pub const fn process(tgid: u32) -> Self {
        Self { tgid, tid: tgid, killed: false, rawio: false }
    }
}

/// The access mode of an `open`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenFlags {
    /// Full lane; no writable mapping.
    ReadOnly,
    /// Misc lane; no mapping.
    WriteOnly,
    /// Full lane.
    ReadWrite,
}

impl OpenFlags {
    /// From the low two bits of the flags; 3 counts as write only (driver-abi.md §2.2).
    #[must_use]
    pub const fn from_bits(flags: i32) -> Self {
        match flags & 3 {
            0 => Self::ReadOnly,
            2 => Self::ReadWrite,
            _ => Self::WriteOnly,
        }
    }

    /// Whether this opens the misc lane.
    #[must_use]
    pub const fn is_misc(self) -> bool {
        matches!(self, Self::WriteOnly)
    }
}

/// One open file description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpenId(pub u32);

/// What a system call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The raw kernel result: a value, or a negated errno.
    Done(i64),
    /// The caller sleeps; ask again after something happened or time passed.
    Blocked,
    /// The real driver would stop the kernel here.
    KernelStop(&'static str),
}

impl Outcome {
    pub(super) const fn from_reply(reply: Result<i64, Fail>) -> Self {
        match reply {
            Ok(value) | Err(Fail::Raw(value)) => Self::Done(value),
            Err(Fail::Blocked) => Self::Blocked,
            Err(Fail::Stop(why)) => Self::KernelStop(why),
        }
    }
}

/// The caller's memory. A transfer may stop early, as a fault would make it.
pub trait UserMemory {
    /// Reads at a user address; gives the number of bytes at the end of `out` that could not be read.
    fn read(&mut self, address: u64, out: &mut [u8]) -> usize;

    /// Writes at a user address; gives the number of bytes at the end of `bytes` that could not be written.
    fn write(&mut self, address: u64, bytes: &[u8]) -> usize;
}

/// A caller without any memory: every access faults.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMemory;

impl UserMemory for NoMemory {
    fn read(&mut self, _: u64, out: &mut [u8]) -> usize {
        out.len()
    }

    fn write(&mut self, _: u64, bytes: &[u8]) -> usize {
        bytes.len()
    }
}
