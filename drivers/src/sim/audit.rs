//! Invariants that concern the device alone (staging.md §18.6).

use super::config::Profile;
use super::ledger::Ledger;
use super::region::range_of;
use super::state::SimState;
use super::storage::Storage;
use core::fmt;
use loader_core::device::{Place, category};

/// An invariant of staging.md §18.6 that does not hold, with an address or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Number of the invariant: 1 for I1.
    pub invariant: u8,
    /// What was wrong.
    pub what: &'static str,
    /// An address, or a count.
    pub value: u64,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "I{}: {} ({:#x})", self.invariant, self.what, self.value)
    }
}

impl core::error::Error for Violation {}

const fn check(holds: bool, invariant: u8, what: &'static str, value: u64) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation { invariant, what, value }) }
}

impl<S: Storage> SimState<S> {
    /// Checks I1, I3, I4, I5, I6 and I8.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn audit(&self) -> Result<(), Violation> {
        self.audit_places()?;
        self.audit_counters()?;
        self.audit_ledger()
    }

    fn audit_places(&self) -> Result<(), Violation> {
        let slots = self.storage.slots();
        for (region, &head) in self.heads.iter().enumerate() {
            let (mut cursor, end) = range_of(&self.config, region);
            let mut at = head;
            while let Some(slot) = slots.get(at as usize) {
                check(slot.base >= cursor, 1, "block overlaps or lies in the reserve", slot.base)?;
                cursor = slot.base + slot.reserved;
                check(cursor <= end, 1, "block leaves its channel", slot.base)?;
                check(category(slot.usage, slot.place).is_some(), 5, "usage not legal here", slot.base)?;
                let align = slot.align.max(1);
                let exempt = self.config.profile == Profile::NoAlign;
                check(exempt || slot.base.is_multiple_of(align), 6, "block is not aligned", slot.base)?;
                at = slot.next;
            }
        }
        Ok(())
    }

    const fn audit_counters(&self) -> Result<(), Violation> {
        let count = &self.counters;
        let bad = count.double_frees + count.stale_handles + count.out_of_range;
        match check(bad == 0, 3, "double frees, stale handles or accesses out of range", bad) {
            Ok(()) => {
                check(count.stray_writes == 0, 8, "writes beyond the requested size", count.stray_writes)
            }
            wrong => wrong,
        }
    }

    fn audit_ledger(&self) -> Result<(), Violation> {
        let mut sums = Ledger::EMPTY;
        for live in self.live() {
            if let Place::Hbm(channel) = live.place {
                sums.cores[usize::from(live.core.0)].add(live.usage, live.size);
                sums.channels[usize::from(channel)] += live.size;
            }
        }
        check(sums == self.ledger, 4, "ledger differs from the live blocks", 0)
    }
}
