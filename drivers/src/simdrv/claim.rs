//! Claims of cores: one table for the host (driver-abi.md §7.2).

use super::dispatch::{Call, Fail, Reply, fail};
use super::memory::Memory;
use super::violation::What;
use crate::abi::errno::{EBUSY, EINVAL, ENXIO};
use crate::abi::record::{CrwlNcMap, CrwlNcMapExt};
use crate::abi::value::MAX_CORES;
use crate::map;
use zerocopy::IntoBytes as _;

/// A set of cores of the claim table.
#[derive(Clone, Copy)]
struct Bits([u64; 8]);

impl Bits {
    const NONE: Self = Self([0; 8]);

    fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    const fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }
}

/// What a search found.
struct Found {
    first: Option<usize>,
    longest: usize,
}

/// Looks for `count` consecutive free slots in `start..=end`, lowest first, with the driver's quirk: after a
/// run that is too short it goes on two slots behind the slot that ended it.
fn search(claims: &[u32; MAX_CORES], start: usize, end: usize, count: usize) -> Found {
    let (mut at, mut longest) = (start, 0);
    while at <= end {
        let run = claims[at..=end].iter().take(count.max(1)).take_while(|owner| **owner == 0).count();
        if run > 0 && run >= count {
            return Found { first: Some(at), longest };
        }
        longest = longest.max(run);
        at += run + 2;
    }
    Found { first: None, longest }
}

/// A claim as both forms carry it.
struct Wish {
    count: u32,
    start: u32,
    end: u32,
}

impl<M: Memory> Call<'_, M> {
    /// Slots of the table before the first one of this device.
    fn first_slot(&self) -> usize {
        self.open.device * usize::from(map::cores(self.driver.config.arch))
    }

    /// The bits that were claimed, relative to the device, the longest run seen, and the result.
    fn mark(&mut self, wish: &Wish) -> Result<(Bits, usize, Reply), Fail> {
        let range = if self.driver.config.version.modern() { ENXIO } else { EINVAL };
        let shift = self.first_slot();
        let (start, end) = (wish.start as usize + shift, wish.end as usize + shift);
        if wish.start > wish.end || start >= MAX_CORES || end >= MAX_CORES {
            return fail(range);
        }
        if !self.open.flags.is_misc() {
            self.violation(What::ClaimOnFullLane)?;
        }
        self.note("count", u64::from(wish.count));
        self.note("start", u64::from(wish.start));
        self.note("end", u64::from(wish.end));
        let count = wish.count as usize;
        let found = search(&self.driver.claims, start, end, count);
        let Some(first) = found.first else { return Ok((Bits::NONE, found.longest, fail(EBUSY))) };
        let mut bits = Bits::NONE;
        for slot in first..first + count {
            self.driver.claims[slot] = self.caller.tgid;
            bits.set(slot - shift);
        }
        Ok((bits, found.longest, Ok(0)))
    }

    pub(super) fn range_mark(&mut self) -> Reply {
        let mut raw: CrwlNcMap = self.arg()?;
        let wish =
            Wish { count: raw.nc_count.get(), start: raw.start_nc_index.get(), end: raw.end_nc_index.get() };
        let (bits, longest, reply) = self.mark(&wish)?;
        raw.bitmap.set(bits.0[0]);
        raw.max_nc_available.set(longest as u32);
        self.put_bytes(self.arg, raw.as_bytes())?;
        reply
    }

    pub(super) fn range_mark_ext(&mut self) -> Reply {
        if self.driver.config.old_forms_only {
            return fail(EINVAL);
        }
        let mut raw: CrwlNcMapExt = self.arg()?;
        let wish =
            Wish { count: raw.nc_count.get(), start: raw.start_nc_index.get(), end: raw.end_nc_index.get() };
        let (bits, longest, reply) = self.mark(&wish)?;
        for (to, from) in raw.bitmap.iter_mut().zip(bits.0) {
            to.set(from);
        }
        raw.max_nc_available.set(longest as u32);
        self.put_bytes(self.arg, raw.as_bytes())?;
        reply
    }

    fn unmark(&mut self, bits: Bits) -> Reply {
        let (shift, tgid) = (self.first_slot(), self.caller.tgid);
        for slot in (shift..MAX_CORES).filter(|slot| bits.has(slot - shift)) {
            if self.driver.claims[slot] == tgid {
                self.driver.claims[slot] = 0;
            }
        }
        Ok(0)
    }

    pub(super) fn range_unmark(&mut self) -> Reply {
        let raw: CrwlNcMap = self.arg()?;
        let mut bits = Bits::NONE;
        bits.0[0] = raw.bitmap.get();
        self.unmark(bits)
    }

    pub(super) fn range_unmark_ext(&mut self) -> Reply {
        if self.driver.config.old_forms_only {
            return fail(EINVAL);
        }
        let raw: CrwlNcMapExt = self.arg()?;
        self.unmark(Bits(raw.bitmap.map(zerocopy::U64::get)))
    }

    /// Whether the caller holds a core of this device; recorded as a violation if not.
    pub(super) fn claimed(&mut self, core: u32) -> Result<(), Fail> {
        let slot = self.first_slot() + core as usize;
        let free_for_all = self.driver.claims.iter().all(|owner| *owner != self.caller.tgid);
        match self.driver.claims.get(slot) {
            Some(owner) if *owner == self.caller.tgid => Ok(()),
            // A process that never claims is a tool or a test of single requests: nothing to compare with.
            _ if free_for_all => Ok(()),
            _ => self.violation(What::Unclaimed),
        }
    }
}
