//! Who holds how much: the usage ledger of staging.md §7.6, and counters of misuse.

use loader_core::device::Usage;

/// Bytes of one core by usage; only HBM blocks count, by the size that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    by_usage: [u64; 22],
}

impl Row {
    /// Nothing held.
    pub const EMPTY: Self = Self { by_usage: [0; 22] };

    /// Bytes of one usage.
    #[must_use]
    pub const fn get(&self, usage: Usage) -> u64 {
        // The comparison says to the compiler that the index cannot be out of bounds.
        let column = usage as usize;
        if column < self.by_usage.len() { self.by_usage[column] } else { 0 }
    }

    /// Bytes of all usages, in their order.
    pub(super) const fn words(&self) -> &[u64] {
        &self.by_usage
    }

    /// Column 22: the core's total.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_usage.iter().sum()
    }

    pub(super) const fn add(&mut self, usage: Usage, bytes: u64) {
        self.by_usage[usage as usize] += bytes;
    }

    pub(super) const fn sub(&mut self, usage: Usage, bytes: u64) {
        self.by_usage[usage as usize] -= bytes;
    }
}

/// Most cores of one simulated device. Without a heap, no more than real devices have: the ledger is part of
/// the device, and images keep that small.
pub(super) const MAX_CORES: usize = if cfg!(feature = "std") { 32 } else { 8 };
/// Most channels of one simulated device.
pub(super) const MAX_CHANNELS: usize = 4;

/// The device's ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ledger {
    pub(super) cores: [Row; MAX_CORES],
    pub(super) channels: [u64; MAX_CHANNELS],
}

impl Ledger {
    /// Nothing held.
    pub const EMPTY: Self = Self { cores: [Row::EMPTY; MAX_CORES], channels: [0; MAX_CHANNELS] };

    /// The row of a core; empty beyond the device.
    #[must_use]
    pub fn core(&self, core: u16) -> Row {
        self.cores.get(usize::from(core)).copied().unwrap_or(Row::EMPTY)
    }

    /// Bytes in use on a channel.
    #[must_use]
    pub fn channel(&self, channel: u8) -> u64 {
        self.channels.get(usize::from(channel)).copied().unwrap_or(0)
    }
}

/// What happened since the device was switched on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Allocations granted.
    pub allocs: u64,
    /// Blocks freed.
    pub frees: u64,
    /// Writes done.
    pub writes: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Reads done.
    pub reads: u64,
    /// Frees of a handle that was freed before.
    pub double_frees: u64,
    /// Accesses through a handle that is not live.
    pub stale_handles: u64,
    /// Accesses that leave their block.
    pub out_of_range: u64,
    /// Writes beyond the size that was asked for, inside what was reserved.
    pub stray_writes: u64,
    /// Failures made on purpose.
    pub faults: u64,
    /// Log lines that found no room.
    pub lost_events: u64,
}
