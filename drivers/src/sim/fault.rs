//! Deliberate failures: every operation has a number, any of them can be made to fail.

use super::digest::mix;
use super::ledger::MAX_CORES;
use loader_core::device::{DeviceError, Usage};

/// One rule for failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The n-th allocation from now, counted from 1.
    Alloc(u64),
    /// The n-th write from now, counted from 1.
    Write(u64),
    /// The n-th read from now, counted from 1.
    Read(u64),
    /// The n-th allocation, write or read from now, counted together from 1. Frees are not counted:
    /// a free that fails cannot be undone by anybody.
    Operation(u64),
    /// The n-th free from now, counted from 1. The next attempt to free the block may succeed.
    Free(u64),
    /// The n-th allocation or write for a core from now, counted from 1: the same one in every order of the threads.
    OnCore(u16, u64),
    /// Every allocation of a usage.
    Usage(Usage),
    /// Every allocation and write for a core.
    Core(u16),
    /// Every allocation and write once that many bytes were written.
    AfterBytes(u64),
    /// Each operation with a chance of one in `one_in`, drawn from `seed` and the operation's number.
    Random {
        /// Chooses the sequence.
        seed: u64,
        /// Chance.
        one_in: u32,
    },
}

/// At most four rules; an operation fails if any rule says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    rules: [Option<Fault>; 4],
}

/// What is about to happen.
#[derive(Clone, Copy)]
pub(super) enum Attempt {
    Alloc { core: u16, usage: Usage },
    Write { core: u16 },
    Read,
    Free,
}

/// Operations since the rules were set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) allocs: u64,
    pub(super) writes: u64,
    pub(super) reads: u64,
    pub(super) frees: u64,
    pub(super) bytes: u64,
    /// Allocations and writes by core.
    by_core: [u64; MAX_CORES],
}

impl Count {
    pub(super) const fn operations(&self) -> u64 {
        self.allocs + self.writes + self.reads
    }

    /// Counts what belongs to a core.
    pub(super) fn attempt(&mut self, attempt: &Attempt) {
        if let Attempt::Alloc { core, .. } | Attempt::Write { core } = *attempt
            && let Some(count) = self.by_core.get_mut(usize::from(core))
        {
            *count += 1;
        }
    }

    fn of_core(&self, core: u16) -> u64 {
        self.by_core.get(usize::from(core)).copied().unwrap_or(0)
    }
}

impl Faults {
    /// Nothing fails.
    pub const NONE: Self = Self { rules: [None; 4] };

    /// One rule.
    #[must_use]
    pub const fn one(fault: Fault) -> Self {
        Self { rules: [Some(fault), None, None, None] }
    }

    /// One rule more; a fifth is ignored.
    #[must_use]
    pub fn and(mut self, fault: Fault) -> Self {
        if let Some(free) = self.rules.iter_mut().find(|rule| rule.is_none()) {
            *free = Some(fault);
        }
        self
    }

    /// Why the attempt, already counted in `count`, fails; `None` if it does not.
    ///
    /// Rules about allocations run out of memory; the rest is an input-output error, so that it is not taken
    /// for the end of a contiguous scratchpad, which is no failure (staging.md §13.2, F7).
    pub(super) fn hits(&self, attempt: Attempt, count: &Count) -> Option<DeviceError> {
        let rule = self.rules.iter().flatten().find(|fault| Self::fits(fault, attempt, count))?;
        let memory =
            matches!(rule, Fault::Alloc(_) | Fault::Usage(_) | Fault::Core(_) | Fault::AfterBytes(_));
        let out_of_memory = memory && matches!(attempt, Attempt::Alloc { .. });
        Some(if out_of_memory { DeviceError::OutOfMemory } else { DeviceError::Io(5) })
    }

    fn fits(fault: &Fault, attempt: Attempt, count: &Count) -> bool {
        match (*fault, attempt) {
            (Fault::Alloc(n), Attempt::Alloc { .. }) => count.allocs == n,
            (Fault::Write(n), Attempt::Write { .. }) => count.writes == n,
            (Fault::Read(n), Attempt::Read) => count.reads == n,
            (Fault::Free(n), Attempt::Free) => count.frees == n,
            (_, Attempt::Free) => false,
            (Fault::Operation(n), _) => count.operations() == n,
            (Fault::OnCore(wanted, n), Attempt::Alloc { core, .. } | Attempt::Write { core }) => {
                core == wanted && count.of_core(core) == n
            }
            (Fault::Usage(wanted), Attempt::Alloc { usage, .. }) => usage == wanted,
            (Fault::Core(wanted), Attempt::Alloc { core, .. } | Attempt::Write { core }) => core == wanted,
            (Fault::AfterBytes(n), Attempt::Alloc { .. } | Attempt::Write { .. }) => count.bytes >= n,
            (Fault::Random { seed, one_in }, _) => {
                mix(seed ^ mix(count.operations())).is_multiple_of(u64::from(one_in.max(1)))
            }
            _ => false,
        }
    }
}
