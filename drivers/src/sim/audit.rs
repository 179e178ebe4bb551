//! Invariants that concern the device alone (staging.md §18.6): I1, I3 to I6 and I8. Those about what a loader says that it
//! put there are [`super::judge`]'s.

use super::config::Profile;
use super::ledger::Ledger;
use super::region::range_of;
use super::state::SimState;
use super::storage::Storage;
use super::violation::{Violation, check};
use loader_core::device::{Place, category};

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
        for (region, index) in self.indexes.iter().enumerate() {
            let (mut cursor, end) = range_of(&self.config, region);
            let mut at = index.first;
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
