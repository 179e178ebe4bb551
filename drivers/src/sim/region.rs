//! Address ranges: HBM regions, on-chip windows, registers, and the memory that was freed once.

use super::config::{CHANNEL_STEP, Config, Profile};
use crate::map;
use loader_core::device::{DevAddr, Place};

/// Allocation granule and least allocation of the driver (staging.md §7.2, Confirmed).
pub(super) const GRANULE: u64 = 4096;
/// Where host memory lies. Ours; only its being apart from every channel matters.
const HOST_BASE: u64 = 0x4000_0000_0000;
const HOST_BYTES: u64 = 1 << 40;

/// The on-chip window of a core: the driver's own map under its profile, else staging.md §18.6.
pub(super) fn state_buffer(config: &Config, core: u16) -> (DevAddr, u64) {
    let base = match config.profile {
        Profile::Driver => map::core_base(config.arch, core),
        _ => 0x8000_0000_0000 + u64::from(core) * map::STATE_BUFFER,
    };
    (DevAddr(base), map::STATE_BUFFER)
}

/// The increment register of a semaphore: the driver's own map under its profile, else R28 (our choice).
pub(super) fn semaphore(config: &Config, core: u16, index: u32) -> DevAddr {
    DevAddr(match config.profile {
        Profile::Driver => map::semaphore_increment(config.arch, core, index),
        _ => 0xA000_0000_0000 + u64::from(core) * 0x400_0000 + 0x270_1800 + 4 * u64::from(index),
    })
}

/// Number of regions: host, then main and small pool per channel.
pub(super) const REGIONS: usize = 9;

/// Which region serves a request; `None` if the place does not exist.
pub(super) fn region_of(config: &Config, place: Place, size: u64, contiguous: bool) -> Option<usize> {
    match place {
        Place::Host => Some(0),
        Place::Hbm(channel) if channel < config.channels() => {
            let small = config.profile == Profile::Driver && size <= map::SMALL_LIMIT && !contiguous;
            Some(1 + 2 * usize::from(channel) + usize::from(small))
        }
        Place::Hbm(_) => None,
    }
}

/// Bytes of a channel in profile FLAT and its likes, whatever the architecture (staging.md §18.6).
const FLAT_BYTES: u64 = 24 << 30;

/// The usable addresses of a region.
pub(super) fn range_of(config: &Config, region: usize) -> (u64, u64) {
    if region == 0 {
        return (HOST_BASE, HOST_BASE + HOST_BYTES);
    }
    let channel = ((region - 1) / 2) as u8;
    let base = match config.profile {
        Profile::Driver => map::hbm_base(config.arch, channel),
        _ => u64::from(channel) * CHANNEL_STEP,
    };
    let start = base + config.reserve;
    let end = match config.profile {
        Profile::Tiny(bytes) => start + bytes,
        Profile::Driver => base + config.stack_bytes(),
        Profile::Flat | Profile::FlatGuard | Profile::NoAlign => base + FLAT_BYTES,
    };
    let split = if config.profile == Profile::Driver { end - map::SMALL_POOL } else { end };
    if region % 2 == 1 { (start, split) } else { (split, end) }
}

/// Up to 64 disjoint ranges of page numbers; beyond that, neighbours are merged.
#[derive(Clone, Debug)]
pub(super) struct Freed {
    ranges: [(u64, u64); 64],
    len: usize,
}

impl Freed {
    pub(super) const NONE: Self = Self { ranges: [(0, 0); 64], len: 0 };

    pub(super) fn contains(&self, page: u64) -> bool {
        self.ranges.iter().take(self.len).any(|&(first, last)| (first..last).contains(&page))
    }

    pub(super) fn add(&mut self, mut first: u64, mut last: u64) {
        loop {
            let mut kept = 0;
            for at in 0..self.len {
                let Some(&(a, b)) = self.ranges.get(at) else { break };
                if a <= last && first <= b {
                    (first, last) = (first.min(a), last.max(b));
                } else if let Some(slot) = self.ranges.get_mut(kept) {
                    *slot = (a, b);
                    kept += 1;
                }
            }
            if let Some(slot) = self.ranges.get_mut(kept) {
                *slot = (first, last);
                self.len = kept + 1;
                return;
            }
            // Full: the last range and the new one become one, which may touch others.
            self.len = self.ranges.len() - 1;
            let Some(&(a, b)) = self.ranges.last() else { return };
            (first, last) = (first.min(a), last.max(b));
        }
    }
}
