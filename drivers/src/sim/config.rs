//! What kind of accelerator is simulated.

use crate::map;
use loader_core::arch::Arch;

/// Bytes at the start of every channel that are the firmware's (staging.md §7.1, Confirmed).
const RESERVE: u64 = 16 << 20;

/// How memory is laid out and which requests are honoured (staging.md §18.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// One region per channel, lowest-address first fit, alignment honoured: exact-address tests.
    Flat,
    /// As `Flat` with a 4 KiB guard gap on both sides of every block; the pages of a contiguous scratchpad have one around
    /// all of them together, since they are one adjacent range on every profile (R41).
    FlatGuard,
    /// The kernel driver's rules and addresses: HBM and core bases of driver-abi.md §9.2, small-object pool
    /// at the top of each region (staging.md §7.2). A load gets the addresses that the driver would give.
    Driver,
    /// As `Flat`, but every request with an alignment above 1 is answered "unsupported".
    NoAlign,
    /// As `Flat` with that many usable bytes per channel, [`Profile::MOST_TINY`] at most.
    Tiny(u64),
}

/// Distance between the channels in every profile but DRIVER: a window of 64 GiB each (staging.md §18.6).
pub(super) const CHANNEL_STEP: u64 = 1 << 36;

impl Profile {
    /// Most bytes per channel of [`Profile::Tiny`]: a channel's window without its reserve.
    pub const MOST_TINY: u64 = CHANNEL_STEP - RESERVE;

    /// Most physical cores: under DRIVER those that the driver knows bases of (driver-abi.md §9.1, §9.2).
    #[must_use]
    pub const fn most_cores(&self, arch: Arch) -> u16 {
        match self {
            Self::Driver => map::cores(arch),
            _ => u16::MAX,
        }
    }

    /// The name in `load --json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flat => "FLAT",
            Self::FlatGuard => "FLAT_GUARD",
            Self::Driver => "DRIVER",
            Self::NoAlign => "NO_ALIGN",
            Self::Tiny(_) => "TINY",
        }
    }
}

/// What happens to written bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Kept in sparse 4 KiB pages, readable.
    Full,
    /// Hashed by address, the same for every order and chunking of the writes; reads are refused.
    Digest,
    /// Counted only; reads are refused.
    Discard,
}

impl Content {
    /// The name in `--device sim,store=…`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Digest => "digest",
            Self::Discard => "discard",
        }
    }
}

/// A simulated accelerator before it is switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Architecture.
    pub arch: Arch,
    /// Physical cores; [`Profile::most_cores`] at most are switched on.
    pub cores: u16,
    /// Layout rules.
    pub profile: Profile,
    /// What happens to written bytes.
    pub content: Content,
    /// First byte after the reserve is at this distance from the channel's base. 16 MiB is the
    /// firmware's (staging.md §7.1, Confirmed); 0 makes address 0 usable, for tests of that case.
    pub reserve: u64,
}

impl Config {
    /// Profile FLAT with all cores of one device, bytes kept.
    #[must_use]
    pub const fn flat(arch: Arch) -> Self {
        let cores = match arch {
            Arch::Sunda => 2,
            Arch::Cayman | Arch::Mariana => 8,
        };
        Self { arch, cores, profile: Profile::Flat, content: Content::Full, reserve: RESERVE }
    }

    /// The same with no more cores, and no more bytes per channel, than the profile has addresses for. What is switched
    /// on is this one, so that no core and no block lies where another one does.
    #[must_use]
    pub fn within_profile(mut self) -> Self {
        self.cores = self.cores.min(self.profile.most_cores(self.arch));
        if let Profile::Tiny(bytes) = &mut self.profile {
            *bytes = (*bytes).min(CHANNEL_STEP.saturating_sub(self.reserve));
        }
        self
    }

    /// HBM channels of the device (staging.md §7.1, Confirmed).
    #[must_use]
    pub const fn channels(&self) -> u8 {
        match self.arch {
            Arch::Sunda => 2,
            Arch::Cayman | Arch::Mariana => 4,
        }
    }

    /// Cores that share one HBM stack (staging.md §7.1, Confirmed).
    #[must_use]
    pub const fn cores_per_stack(&self) -> u16 {
        match self.arch {
            Arch::Sunda => 1,
            Arch::Cayman | Arch::Mariana => 2,
        }
    }

    /// Bytes of one HBM stack (staging.md §7.1, Confirmed).
    #[must_use]
    pub const fn stack_bytes(&self) -> u64 {
        match self.arch {
            Arch::Sunda => 16 << 30,
            Arch::Cayman => 24 << 30,
            Arch::Mariana => 36 << 30,
        }
    }
}
