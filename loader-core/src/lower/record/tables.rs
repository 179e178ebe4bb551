//! Small fixed tables: DVE, carve-outs, FP8, patch entries (lowering.md §2.8, §2.9, §2.14, §10.1).

use super::BlobId;
use super::enums::{CarveoutType, PatchSection, PatchType};
use super::field::Pad;
use super::layout::records;
use zerocopy::little_endian::{U32, U64};

records! {
    /// DVE configuration (Confirmed).
    DveCfg: 64 {
        /// Opcode table.
        0 opcode_table: BlobId,
        /// Its bytes.
        8 opcode_size: U64,
        /// Fast control table; on sunda `control_table` (R19).
        16 control_fast_table: BlobId,
        /// Its bytes.
        24 control_fast_size: U64,
        /// Slow control table.
        32 control_slow_table: BlobId,
        /// Its bytes.
        40 control_slow_size: U64,
        /// Datapath table.
        48 datapath_table: BlobId,
        /// Its bytes.
        56 datapath_size: U64,
    }

    /// Count of carve-outs; the entries follow (Confirmed).
    CarveoutSetHdr: 8 {
        /// [`Carveout`] records that follow.
        0 count: U64,
    }

    /// One reserved region of the state buffer (Confirmed).
    Carveout: 40 {
        /// Kind.
        0 kind: CarveoutType,
        /// Padding.
        4 pad: Pad<4>,
        /// Byte offset in a partition.
        8 offset: U64,
        /// Bytes per partition.
        16 size: U64,
        /// First partition.
        24 start_partition: U64,
        /// Partitions.
        32 num_partitions: U64,
    }

    /// FP8 conversion (Confirmed; the last two bits are carried without a meaning, X-19).
    Fp8Cfg: 16 {
        /// Range extension.
        0 fp8_range_extension: u8,
        /// Padding.
        1 pad0: Pad<3>,
        /// Largest exponent of e4m3.
        4 emax_fp8_e4m3: U32,
        /// Largest exponent of e5m2.
        8 emax_fp8_e5m2: U32,
        /// OCP saturation.
        12 ocp_sat: u8,
        /// `fp8_sis`.
        13 sis: u8,
        /// `fp8_sns`.
        14 sns: u8,
        /// Padding.
        15 pad1: Pad<1>,
    }

    /// One change that relocation made to an engine's program (Confirmed).
    PatchEntry: 16 {
        /// Bytes from the section's start.
        0 offset: U32,
        /// Slots.
        4 count: U32,
        /// What was done.
        8 kind: PatchType,
        /// Where.
        12 section: PatchSection,
    }
}
