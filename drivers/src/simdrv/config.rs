//! Which driver on which hardware is simulated.

use crate::abi::value::{MAX_HANDLES, feature};
use crate::map;
use loader_core::arch::Arch;

/// The driver version (driver-abi.md §6 "Profiles", §16, §17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 2.24.7.0, the baseline: "legacy".
    V2_24,
    /// 2.27.4.0: zero copy with 48 bytes, 64-bit sums checked; errno values as before (§21, open question 1).
    V2_27,
    /// 2.30.2.0: "modern".
    V2_30,
}

impl Version {
    /// All three.
    pub const ALL: [Self; 3] = [Self::V2_24, Self::V2_27, Self::V2_30];

    /// As in `/sys/module/neuron/version`.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::V2_24 => "2.24.7.0",
            Self::V2_27 => "2.27.4.0",
            Self::V2_30 => "2.30.2.0",
        }
    }

    /// Real errno values instead of generic ones and positive counts.
    #[must_use]
    pub const fn modern(self) -> bool {
        matches!(self, Self::V2_30)
    }

    /// `offset + size` may wrap (§14: before 2.26.5).
    #[must_use]
    pub const fn wraps(self) -> bool {
        matches!(self, Self::V2_24)
    }

    /// Feature bits that `DRIVER_INFO_GET` reports (§5).
    #[must_use]
    pub const fn features(self, arch: Arch) -> u64 {
        let newer = !matches!(arch, Arch::Sunda);
        match self {
            Self::V2_24 => 0xFF,
            Self::V2_27 => 0x1FF,
            Self::V2_30 if newer => 0x7FF | feature::ASYNC_HOST | feature::ASYNC_DEVICE,
            Self::V2_30 => 0x7FF,
        }
    }
}

/// What happens on input that would crash, leak or silently do something else (§17.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Does what the driver does.
    Faithful,
    /// The same, and records a violation.
    Strict,
    /// Records a violation and answers EIO.
    Paranoid,
}

/// When started queues run (§17.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Inside the request that starts them.
    AtOnce,
    /// At the next tick.
    AtTick,
}

/// Membership in a pod (§7.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pod {
    /// A host on its own.
    Alone,
    /// Pod hardware whose election still runs for that many status requests.
    Electing(u32),
}

/// A simulated host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Architecture of all devices.
    pub arch: Arch,
    /// Devices of the host.
    pub devices: u32,
    /// Board revision.
    pub revision: u32,
    /// Driver version.
    pub version: Version,
    /// Bytes of one HBM.
    pub hbm_bytes: u64,
    /// Bytes of the pool for small requests at the end of each HBM.
    pub small_pool: u64,
    /// Range of runtime interface ids: least and greatest.
    pub compat: (u32, u32),
    /// Feature bits.
    pub features: u64,
    /// Module parameter: resets succeed at once and do nothing.
    pub no_reset: bool,
    /// Microseconds that the reset at bind takes; 0 means the devices are ready.
    pub boot_reset_us: u64,
    /// Microseconds that a requested reset takes.
    pub reset_us: u64,
    /// What happens on harmful input.
    pub strictness: Strictness,
    /// When queues run.
    pub completion: Completion,
    /// Live handles per device.
    pub max_handles: u32,
    /// Pod membership.
    pub pod: Pod,
    /// Answer EINVAL to the newest form of every request family (fault point 32).
    pub old_forms_only: bool,
    /// Chunks of at least that many bytes forget what they held when they are freed, which keeps long runs small. The
    /// real driver does not.
    pub forget_freed: u64,
}

impl Config {
    /// One device with the baseline driver, ready.
    #[must_use]
    pub const fn new(arch: Arch) -> Self {
        Self::with_version(arch, Version::V2_24)
    }

    /// One device with that driver, ready.
    #[must_use]
    pub const fn with_version(arch: Arch, version: Version) -> Self {
        Self {
            arch,
            devices: 1,
            revision: 0,
            version,
            hbm_bytes: map::hbm_bytes(arch),
            small_pool: map::SMALL_POOL,
            compat: map::compat(arch),
            features: version.features(arch),
            no_reset: false,
            boot_reset_us: 0,
            reset_us: 1000,
            strictness: Strictness::Strict,
            completion: Completion::AtOnce,
            max_handles: MAX_HANDLES,
            pod: Pod::Alone,
            old_forms_only: false,
            forget_freed: u64::MAX,
        }
    }

    /// First address and bytes of an HBM.
    #[must_use]
    pub fn hbm(&self, hbm: u8) -> (u64, u64) {
        (map::hbm_base(self.arch, hbm), self.hbm_bytes)
    }

    /// End of the main pool of an HBM: where contiguous scratchpads begin and grow down from.
    #[must_use]
    pub fn main_end(&self, hbm: u8) -> u64 {
        let (base, bytes) = self.hbm(hbm);
        base + bytes - self.small_pool
    }
}
