//! Scripts of deliberate failures (driver-abi.md §18).

use alloc::vec::Vec;

/// Where a rule looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Every `open`, `ioctl` and `mmap`.
    Event,
    /// `open` on the full lane.
    Open,
    /// `mmap`.
    Mmap,
    /// Requests of a number.
    Request(u8),
    /// Allocations of device memory.
    AllocDevice,
    /// Allocations of host memory.
    AllocHost,
    /// Pages of a contiguous scratchpad.
    AllocScratch,
    /// Copies by the device's engines.
    Dma,
    /// Descriptors that a queue runs.
    Descriptor,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Gives this raw result before anything changes.
    Return(i64),
    /// Resets the device's cores on behalf of somebody else, then serves the call.
    ResetByOther,
    /// The device dies, then the call is served.
    Invalidate,
    /// The allocation finds no room.
    OutOfMemory,
    /// The handle table runs out.
    HandlesDown,
    /// The result cannot be stored at the caller's address.
    StoreFault,
    /// The allocation is granted and its handle stored, and then comes this raw result.
    Late(i64),
    /// The reset fails.
    ResetFails,
    /// The wait for the reset is ended by a signal.
    ResetKilled,
    /// The reset never finishes.
    ResetHangs,
    /// The caller's buffer ends after that many blocks of 64 KiB.
    UserFaultAfter(u32),
    /// The copy of that block, counted from 1, never completes.
    Timeout(u32),
    /// As `Timeout`, while the device is being reset: v2 tries again, v3 does not.
    TimeoutInReset(u32),
    /// One bit of that block is wrong, unnoticed.
    FlipBit(u32),
    /// Descriptor blocks from that one, counted from 1, are refused with EINVAL.
    RefuseBlock(u32),
    /// Entry `.0` of a batch, counted from 1, fails with errno `.1`.
    BatchEntry(u32, i32),
    /// The address on the descriptor does not answer.
    BusError,
    /// The elected initialiser never completes.
    InitialiserHangs,
}

impl Action {
    pub(super) const fn is_whole(self) -> bool {
        matches!(self, Self::Return(_) | Self::ResetByOther | Self::Invalidate)
    }
}

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Where.
    pub when: When,
    /// The n-th occurrence, from 1; 0 means every one.
    pub nth: u64,
    /// What.
    pub action: Action,
}

/// Rules and what they have seen.
#[derive(Clone, Debug, Default)]
pub struct Script {
    rules: Vec<(Rule, u64)>,
}

impl Script {
    /// Adds a rule; its counting starts now.
    pub fn add(&mut self, rule: Rule) {
        self.rules.push((rule, 0));
    }

    /// Forgets all rules.
    pub fn clear(&mut self) {
        self.rules.clear();
    }

    /// Counts an occurrence for the rules whose action `wanted` accepts, and gives the first that fires.
    pub(super) fn hit(&mut self, when: When, wanted: impl Fn(Action) -> bool) -> Option<Action> {
        let mut fired = None;
        for (rule, seen) in self.rules.iter_mut().filter(|(rule, _)| rule.when == when && wanted(rule.action))
        {
            *seen += 1;
            if fired.is_none() && (rule.nth == 0 || rule.nth == *seen) {
                fired = Some(rule.action);
            }
        }
        fired
    }
}
