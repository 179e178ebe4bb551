//! The reference's own descriptor layout, 5456 bytes: an export view (lowering.md §2.5).

use super::enums::{DescType, Dtype, Op};
use super::field::{Lines, Pad, Path, Text, Walk};
use super::layout::records;
use crate::arena::ArenaRef;
use core::fmt;
use zerocopy::little_endian::{I64, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

records! {
    /// Access pattern (field order Confirmed, offsets Inferred; the arithmetic closes).
    ExportAp: 160 {
        /// The variable.
        0 idx: U32,
        /// Padding.
        4 pad0: Pad<4>,
        /// Bytes from the variable's start.
        8 off: U64,
        /// Dimensions, at most 8.
        16 num_dims: U32,
        /// Padding.
        20 pad1: Pad<4>,
        /// Steps, the fastest first.
        24 steps: [I64; 8],
        /// Sizes, the fastest first.
        88 sizes: [U64; 8],
        /// Element type.
        152 dtype: Dtype,
        /// Padding.
        156 pad2: Pad<4>,
    }

    /// FMA arm of [`CceInfo`] (Confirmed).
    CceFma: 132 {
        /// Element type of the factors.
        0 scale_dtype: Dtype,
        /// f32 bits of one factor per source.
        4 scale: [U32; 32],
    }

    /// MIN/MAX arm of [`CceInfo`] (Confirmed).
    CceMinMax: 132 {
        /// 1: compare with the constant.
        0 use_constant: u8,
        /// Padding.
        1 pad0: Pad<3>,
        /// Element type of the constant.
        4 constant_dtype: Dtype,
        /// Bits of the constant.
        8 constant: U32,
        /// Padding.
        12 pad1: Pad<120>,
    }

    /// Arithmetic of a descriptor (Confirmed). The arm is read by operation.
    CceInfo: 140 {
        /// Sources, at most 32.
        0 num_sources: U32,
        /// [`CceFma`] or [`CceMinMax`].
        4 arm: CceFma,
        /// Destinations; always 1.
        136 num_dests: U32,
    }

    /// Area of a transpose (inner layout ours; see [`TransposeExtra`](super::TransposeExtra)).
    TransposeInfo: 140 {
        /// Left 0.
        0 granule: U32,
        /// `transpose_element_size` in bytes.
        4 element_size: U32,
        /// Dimensions in `shape`.
        8 rank: U32,
        /// Padding.
        12 pad: Pad<4>,
        /// `transpose_shape`.
        16 shape: [U64; 4],
        /// `transpose_op`.
        48 op: Text<24>,
        /// Padding.
        72 tail: Pad<68>,
    }

    /// Descriptor as the reference keeps it (sizes and tail Confirmed, data arm Inferred).
    ExportDesc: 5456 {
        /// Form.
        0 desc_type: DescType,
        /// Operation.
        4 op: Op,
        /// Destination.
        8 to: ExportAp,
        /// Sources.
        168 from: SourceSlots,
        /// `num_tiling_dimensions`.
        5288 num_tiling_dims: U32,
        /// [`CceInfo`] or [`TransposeInfo`] by operation.
        5292 info: CceInfo,
        /// `id` of the block.
        5432 block_id: U32,
        /// 1 on the last descriptor of a block.
        5436 block_end_desc: u8,
        /// 1 for a transpose or a named function on architectures above 2.
        5437 reset_engine_round_robin: u8,
        /// Padding.
        5438 pad0: Pad<2>,
        /// Function name, or null.
        5440 function_name: ArenaRef,
        /// `priority_class` of the block.
        5448 priority_class: u8,
        /// Padding.
        5449 pad1: Pad<7>,
    }
}

/// The 32 source slots of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(transparent)]
pub struct SourceSlots(pub [ExportAp; 32]);

impl Walk for SourceSlots {
    fn walk(&self, at: usize, path: &Path<'_>, lines: &mut dyn Lines) -> fmt::Result {
        self.0.walk(at, path, lines)
    }
}

const _: () = assert!(size_of::<SourceSlots>() == 5120);
