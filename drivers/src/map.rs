//! Address maps of the three architectures as the kernel driver sees them (driver-abi.md §9).
//!
//! Pure tables, shared by the real device, the simulated driver and the simulator's DRIVER profile.

use loader_core::arch::Arch;

/// Bytes at the start of every HBM that belong to firmware (§7.4).
pub const CARVE_OUT: u64 = 16 << 20;
/// Bytes of the pool for small requests at the end of every HBM (§7.4).
pub const SMALL_POOL: u64 = 1 << 30;
/// Largest request that is tried in the small pool first (§7.4).
pub const SMALL_LIMIT: u64 = 512 << 10;
/// Bytes of a core's on-chip window (§9.1).
pub const STATE_BUFFER: u64 = 0x200_0000;
/// Events start here in a core's window; semaphores follow (§7.9).
pub const EVENT_BASE: u64 = 0x270_0000;
/// Semaphore registers, from [`EVENT_BASE`]: read, set, increment, decrement (§7.9).
pub const SEMAPHORE_REGISTERS: [u64; 4] = [0x1000, 0x1400, 0x1800, 0x1C00];
/// Distance between two cores in the mapping table of v3, whose offsets are cookies (§7.6).
const COOKIE_STEP: u64 = 0x400_0000;

const HBM_V3: [u64; 4] = [0, 0x40_0000_0000, 0x8000_0000_0000, 0x8040_0000_0000];
const TPB_V3: [u64; 8] = [
    0x20_0000_0000,
    0x30_0000_0000,
    0x60_0000_0000,
    0x70_0000_0000,
    0x8020_0000_0000,
    0x8030_0000_0000,
    0x8060_0000_0000,
    0x8070_0000_0000,
];
const PREPROC_V3: [u64; 4] = [0x12_0000_0000, 0x52_0000_0000, 0x8012_0000_0000, 0x8052_0000_0000];

/// Physical cores of a device (§9.1).
#[must_use]
pub const fn cores(arch: Arch) -> u16 {
    match arch {
        Arch::Sunda => 2,
        Arch::Cayman | Arch::Mariana => 8,
    }
}

/// HBMs of a device (§9.1).
#[must_use]
pub const fn hbms(arch: Arch) -> u8 {
    match arch {
        Arch::Sunda => 2,
        Arch::Cayman | Arch::Mariana => 4,
    }
}

/// Bytes of an HBM that the driver uses (§9.1).
#[must_use]
pub const fn hbm_bytes(arch: Arch) -> u64 {
    match arch {
        Arch::Sunda => 16 << 30,
        Arch::Cayman => 24 << 30,
        Arch::Mariana => 36 << 30,
    }
}

/// First address of an HBM; zero beyond the device (§9.2).
#[must_use]
pub fn hbm_base(arch: Arch, hbm: u8) -> u64 {
    match arch {
        Arch::Sunda => u64::from(hbm) * 0x10_0000_0000,
        Arch::Cayman | Arch::Mariana => HBM_V3.get(usize::from(hbm)).copied().unwrap_or(0),
    }
}

/// The HBM nearest to a core (§9.1).
#[must_use]
pub const fn home_hbm(arch: Arch, core: u16) -> u8 {
    let hbm = match arch {
        Arch::Sunda => core,
        Arch::Cayman | Arch::Mariana => core / 2,
    };
    hbm.to_le_bytes()[0] % hbms(arch)
}

/// First address of a core's window, for descriptors and operands (§9.2).
#[must_use]
pub fn core_base(arch: Arch, core: u16) -> u64 {
    match arch {
        Arch::Sunda => 0xFFF_C000_0000 + u64::from(core) * 0x400_0000,
        Arch::Cayman | Arch::Mariana => TPB_V3.get(usize::from(core)).copied().unwrap_or(0),
    }
}

/// Bytes of a core's window that `PROGRAM_ENGINE_NC64` may address (§7.8).
#[must_use]
pub const fn core_window(arch: Arch) -> u64 {
    match arch {
        Arch::Sunda => 0x400_0000,
        Arch::Cayman | Arch::Mariana => 0x8_0400_0000,
    }
}

/// The offset under which a core's window is mapped. On v3 and later not an address (§7.6).
#[must_use]
pub fn core_cookie(arch: Arch, core: u16) -> u64 {
    match arch {
        Arch::Sunda => core_base(arch, core),
        Arch::Cayman | Arch::Mariana => 0x20_0000_0000 + u64::from(core) * COOKIE_STEP,
    }
}

/// TOP_SPs of a device as notification queues and mappings count them (§9.1).
#[must_use]
pub const fn top_sps(arch: Arch) -> u8 {
    match arch {
        Arch::Sunda => 6,
        Arch::Cayman | Arch::Mariana => 16,
    }
}

/// First address of a TOP_SP in the numbering of the mapping table (§7.6).
#[must_use]
pub fn top_sp_base(arch: Arch, index: u8) -> u64 {
    let at = u64::from(index);
    match arch {
        Arch::Sunda => 0xFFF_D000_0000 + at * 0x40_0000,
        Arch::Cayman | Arch::Mariana if index < 8 => 0x82_8000_0000 + at * 0x4000_0000,
        Arch::Cayman | Arch::Mariana => 0x8082_8000_0000 + (at % 8) * 0x4000_0000,
    }
}

/// Bytes of a TOP_SP's window (§7.6).
pub const TOP_SP_BYTES: u64 = 0x40_0000;

/// DMA engines of a device (§9.1).
#[must_use]
pub const fn dma_engines(arch: Arch) -> u32 {
    match arch {
        Arch::Sunda => 34,
        Arch::Cayman | Arch::Mariana => 132,
    }
}

/// The engine and queue that the kernel copies with for a core (§9.4).
#[must_use]
pub fn copy_queue(arch: Arch, core: u16) -> (u32, u32) {
    match arch {
        Arch::Sunda => (32 + u32::from(core), 0),
        Arch::Cayman | Arch::Mariana => (128 + u32::from(core) / 2, u32::from(core) % 2),
    }
}

/// Whether a queue belongs to the driver's copies or to a core's instruction fetchers (§7.11).
#[must_use]
pub const fn reserved_queue(arch: Arch, engine: u32, queue: u32) -> bool {
    let within = engine % 16;
    match arch {
        Arch::Sunda => engine >= 32 || queue == 14 && within <= 10,
        Arch::Cayman | Arch::Mariana => engine >= 128 || queue == 14 && matches!(within, 0..=4 | 7 | 8),
    }
}

/// The bits that host addresses carry (§9.1).
#[must_use]
pub const fn host_base(arch: Arch) -> u64 {
    match arch {
        Arch::Sunda => 1 << 44,
        Arch::Cayman | Arch::Mariana => 1 << 46,
    }
}

/// Whether an address is routed to host memory, as `DMA_COPY_DESCRIPTORS` tests it (§7.11).
#[must_use]
pub const fn is_host(arch: Arch, address: u64) -> bool {
    match arch {
        Arch::Sunda => address & 0x1F00_0000_0000 == 0x1000_0000_0000,
        Arch::Cayman | Arch::Mariana => address & (1 << 46) != 0,
    }
}

/// The increment register of a semaphore: a 4-byte write of n there adds n (§9.3).
#[must_use]
pub fn semaphore_increment(arch: Arch, core: u16, index: u32) -> u64 {
    core_base(arch, core) + EVENT_BASE + SEMAPHORE_REGISTERS[2] + 4 * u64::from(index)
}

/// The windows that `PROGRAM_ENGINE` may address: first address and bytes (§7.8).
pub fn program_windows(arch: Arch) -> impl Iterator<Item = (u64, u64)> {
    let v2 = [(0xFFF_C000_0000, 0x800_0000), (0xFFF_D000_0000, 0x180_0000)];
    let newer = arch != Arch::Sunda;
    let cores = (0..8).map(move |core| (core_base(arch, core), core_window(arch)));
    let top_sps = (0u64..20).map(|at| {
        let base = if at < 10 { 0x82_8000_0000 } else { 0x8082_8000_0000 };
        (base + (at % 10) * 0x4000_0000, TOP_SP_BYTES)
    });
    let hbms = (0..4).map(move |hbm| (hbm_base(arch, hbm), hbm_bytes(arch)));
    let preproc = PREPROC_V3.into_iter().map(|base| (base, 0x34C_0000));
    let v3 = cores.chain(top_sps).chain(hbms).chain(preproc);
    v2.into_iter().filter(move |_| !newer).chain(v3.filter(move |_| newer))
}

/// The PCI vendor of all accelerators (§9.1).
pub const PCI_VENDOR: u16 = 0x1D0F;

/// PCI device ids of an architecture (§9.1).
#[must_use]
pub const fn pci_ids(arch: Arch) -> &'static [u16] {
    match arch {
        Arch::Sunda => &[0x7164, 0x7264],
        Arch::Cayman => &[0x7364],
        Arch::Mariana => &[0x7564, 0x7565],
    }
}

/// The instance families of an architecture (§9.1).
#[must_use]
pub const fn instances(arch: Arch) -> &'static str {
    match arch {
        Arch::Sunda => "trn1, inf2",
        Arch::Cayman => "trn2",
        Arch::Mariana => "trn3",
    }
}

/// Range of runtime interface ids the driver accepts: least and greatest (§7.1). For v4 not known (§21, open
/// question 2); the v3 range stands in.
#[must_use]
pub const fn compat(arch: Arch) -> (u32, u32) {
    match arch {
        Arch::Sunda => (5, 7),
        Arch::Cayman | Arch::Mariana => (10, 11),
    }
}

/// Physical cores of a v3 device in logical order (§A.1).
#[must_use]
pub const fn logical_cores(device: u32) -> [u32; 8] {
    match device % 16 {
        0 | 2 | 8 | 10 => [4, 5, 6, 7, 2, 3, 0, 1],
        1 | 3 | 9 | 11 => [2, 3, 0, 1, 4, 5, 6, 7],
        4 | 6 | 12 | 14 => [0, 1, 2, 3, 6, 7, 4, 5],
        _ => [6, 7, 4, 5, 0, 1, 2, 3],
    }
}

#[cfg(test)]
mod tests;
