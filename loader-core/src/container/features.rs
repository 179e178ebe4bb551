//! The feature bits of the header (container.md §5.2).

use bitflags::bitflags;

bitflags! {
    /// What a file asks of its loader. Bits without a name are kept as they are.
    ///
    /// Names are Confirmed except [`Self::BIN_WEIGHTS`], [`Self::DVE_PERF_MODE`] and
    /// [`Self::ARCH_GT_39_COMPANION`], which the specification leaves Open (Q12).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Features: u64 {
        /// Bit 0 (number Inferred): constants kept as binary files.
        const BIN_WEIGHTS = 1;
        /// Bit 1.
        const COLLECTIVE_HAS_OFFSET = 1 << 1;
        /// Bit 2.
        const CUSTOM_OPS = 1 << 2;
        /// Bit 3.
        const COALESCED_CCOPS = 1 << 3;
        /// Bit 4.
        const QUEUE_SET_INSTANCES = 1 << 4;
        /// Bit 5.
        const HAS_FUNCTIONS = 1 << 5;
        /// Bit 6.
        const DYNAMIC_PWP = 1 << 6;
        /// Bit 7.
        const INDIRECT_MEMCPY_32B_SEM_WAIT = 1 << 7;
        /// Bit 8.
        const INDIRECT_MEMCPY_BOUND_CHECK = 1 << 8;
        /// Bit 9.
        const DMA_DESC_HIGHER_DIM = 1 << 9;
        /// Bit 10: makes `lnc_size` meaningful.
        const VNC = 1 << 10;
        /// Bit 11: set for arch numbers above 20.
        const DVE_PERF_MODE = 1 << 11;
        /// Bit 12.
        const DGE = 1 << 12;
        /// Bit 13.
        const POOL_RSQRT = 1 << 13;
        /// Bit 14.
        const REMOTE_SEM = 1 << 14;
        /// Bit 15.
        const DGE_CAST = 1 << 15;
        /// Bit 16.
        const VECTOR_DGE = 1 << 16;
        /// Bit 17.
        const EMBEDDING_STRIDE32 = 1 << 17;
        /// Bit 20.
        const SQI_NO_REARM = 1 << 20;
        /// Bit 21.
        const HARDWARE_DGE = 1 << 21;
        /// Bit 22.
        const PARTIAL_SB2SB_CCOP = 1 << 22;
        /// Bit 24: set for arch numbers above 39.
        const ARCH_GT_39_COMPANION = 1 << 24;
        /// Bit 25.
        const LARGE_TENSOR_SUPPORT = 1 << 25;
        /// The rest is kept too.
        const _ = !0;
    }
}

impl Features {
    /// Bit 63 is outside the gate of every known release (container.md §5.1, Confirmed).
    pub const TESTED: u64 = u64::MAX >> 1;

    /// The bits that a loader which understands `supported` has to refuse.
    #[must_use]
    pub const fn unknown_to(self, supported: u64) -> u64 {
        self.bits() & Self::TESTED & !supported
    }

    /// The set bits in ascending order, with their names where they have one.
    pub fn list(self) -> impl Iterator<Item = Feature> {
        (0..64u8).filter_map(move |bit| {
            let mask = 1u64.checked_shl(u32::from(bit))?;
            (self.bits() & mask != 0).then(|| Feature { bit, mask, name: name_of(bit) })
        })
    }
}

/// One set feature bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Bit number, 0 to 63.
    pub bit: u8,
    /// The bit as a mask.
    pub mask: u64,
    /// The compiler's name without its `neff_` prefix, if the bit has one.
    pub name: Option<&'static str>,
}

/// The name of a bit (container.md §5.2).
#[must_use]
pub const fn name_of(bit: u8) -> Option<&'static str> {
    Some(match bit {
        0 => "bin_weights",
        1 => "collective_has_offset",
        2 => "custom_ops",
        3 => "coalesced_ccops",
        4 => "queue_set_instances",
        5 => "has_functions",
        6 => "dynamic_pwp",
        7 => "indirect_memcpy_32b_sem_wait",
        8 => "indirect_memcpy_bound_check",
        9 => "DMA_desc_higher_dim",
        10 => "vnc",
        11 => "dve_perf_mode",
        12 => "DGE",
        13 => "POOL_RSQRT",
        14 => "remote_sem",
        15 => "DGE_cast",
        16 => "vector_DGE",
        17 => "embedding_stride32",
        20 => "SQI_no_rearm",
        21 => "hardware_DGE",
        22 => "partial_sb2sb_ccop",
        24 => "arch_gt_39_companion",
        25 => "large_tensor_support",
        _ => return None,
    })
}
