//! Activation function sets (lowering.md §2.7).

use super::BlobId;
use super::field::{Pad, Text};
use super::layout::records;
use zerocopy::little_endian::{I32, U32};

records! {
    /// Profile of one activation function (offsets Confirmed, meanings Inferred beyond the names).
    ActProfile: 76 {
        /// Function number.
        0 func_id: U32,
        /// Point of symmetry.
        4 symmetry_point: U32,
        /// Invert the sign around it.
        8 sym_invert_sign_point: u8,
        /// Use the symmetry.
        9 symmetry_opt_en: u8,
        /// Use the negative region.
        10 sym_opt_use_neg_region: u8,
        /// Padding.
        11 pad0: Pad<1>,
        /// Exponent offset.
        12 exp_offset: I32,
        /// First control entry of the positive side.
        16 pwl_control_base_pos: U32,
        /// First control entry of the negative side.
        20 pwl_control_base_neg: U32,
        /// Thresholds and saturation controls; their split is Open, so the bytes stay 0 (lowering.md O-09).
        24 thresholds: Pad<24>,
        /// Result for NaN.
        48 fnan_result: U32,
        /// Result for +Inf.
        52 fpinf_result: U32,
        /// Result for -Inf.
        56 fninf_result: U32,
        /// Result for 0.
        60 fzero_result: U32,
        /// FMA constant 0.
        64 fma_const_0: U32,
        /// FMA constant 1.
        68 fma_const_1: U32,
        /// Indirection of the FMA source.
        72 fma_indirection_src_sel: u8,
        /// Immediate bias.
        73 imm_bias: u8,
        /// Padding.
        74 pad1: Pad<2>,
    }

    /// One activation function set (Confirmed).
    ActSet: 2192 {
        /// Set name.
        0 name: Text<256>,
        /// Bucket table.
        256 bkt_tbl: BlobId,
        /// Its bytes.
        264 bkt_sz: U32,
        /// Padding.
        268 pad0: Pad<4>,
        /// Control table.
        272 ctl_tbl: BlobId,
        /// Its bytes.
        280 ctl_sz: U32,
        /// One per function.
        284 profile_data: [ActProfile; 25],
        /// Used profiles.
        2184 num_functions: u8,
        /// Padding.
        2185 pad1: Pad<7>,
    }
}
