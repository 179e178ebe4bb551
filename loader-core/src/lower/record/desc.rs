//! The working form of a DMA descriptor: a plain copy with two dimensions a side takes 160 bytes
//! of arena where the reference's record takes 5456 (lowering.md §11.4).

use super::enums::{DescType, Dtype, Op};
use super::field::{Pad, Text, leaf};
use super::layout::records;
use crate::arena::ArenaRef;
use core::fmt;
use zerocopy::little_endian::{I64, U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Marks of a compact descriptor.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(transparent)]
pub struct DescFlags(pub u8);

impl DescFlags {
    /// Last descriptor of its block.
    pub const BLOCK_END: Self = Self(1);
    /// `reset_engine_round_robin` of the reference's record.
    pub const ROUND_ROBIN: Self = Self(2);
    /// A copy that converts between element types.
    pub const CAST: Self = Self(4);
    /// First descriptor of a block with `section_start_desc`.
    pub const SECTION_START: Self = Self(8);
    /// `semaphore` is the block's completion semaphore (only with `BLOCK_END`).
    pub const SEMAPHORE: Self = Self(16);
    /// `semaphore` is the arena offset of a [`BlockTail`] (only with `BLOCK_END`).
    pub const TAIL: Self = Self(32);

    /// True if all marks of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of marks.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// `self` if `on`, else none.
    #[must_use]
    pub const fn when(self, on: bool) -> Self {
        if on { self } else { Self(0) }
    }
}

impl fmt::Display for DescFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [(DescFlags, &str); 6] = [
            (DescFlags::BLOCK_END, "block-end"),
            (DescFlags::ROUND_ROBIN, "round-robin"),
            (DescFlags::CAST, "cast"),
            (DescFlags::SECTION_START, "section-start"),
            (DescFlags::SEMAPHORE, "semaphore"),
            (DescFlags::TAIL, "tail"),
        ];
        write!(f, "{}", self.0)?;
        for (_, name) in NAMES.iter().filter(|(flag, _)| self.has(*flag)) {
            write!(f, " {name}")?;
        }
        Ok(())
    }
}

leaf!(DescFlags);

records! {
    /// Compact descriptor (lowering.md §11.4).
    Desc: 48 {
        /// Destination: one [`Ap`].
        0 to: ArenaRef,
        /// Sources: `n_from` [`Ap`]s.
        8 from: ArenaRef,
        /// [`FmaExtra`], [`MinMaxExtra`] or [`TransposeExtra`] by `op`; length in bytes. Null: none.
        16 extra: ArenaRef,
        /// Function name of the block, or null.
        24 fname: ArenaRef,
        /// `id` of the block.
        32 block_id: U32,
        /// Sources.
        36 n_from: U16,
        /// [`DescType`] number.
        38 desc_type: u8,
        /// [`Op`] number.
        39 op: i8,
        /// Marks.
        40 flags: DescFlags,
        /// `priority_class` of the block.
        41 priority: u8,
        /// `num_tiling_dimensions`.
        42 n_tile: u8,
        /// Where the block stands: number of the engine whose file holds it, 5 for the definition.
        43 file: u8,
        /// By `flags`: completion semaphore of the block, arena offset of a [`BlockTail`], or 0.
        44 semaphore: U32,
    }

    /// Compact access pattern.
    Ap: 24 {
        /// The variable.
        0 var_id: U32,
        /// Dimensions.
        4 ndims: u8,
        /// [`Dtype`] number.
        5 dtype: u8,
        /// Padding.
        6 pad: Pad<2>,
        /// Bytes from the variable's start.
        8 off: U64,
        /// `ndims` [`Dim`]s, the fastest first.
        16 dims: ArenaRef,
    }

    /// One dimension of an access pattern. Of the fastest one, size and step count bytes (R10).
    Dim: 16 {
        /// Elements; bytes in the fastest dimension.
        0 size: U64,
        /// Bytes from one element to the next.
        8 step: I64,
    }

    /// Extra bytes of an FMA: this header, then one f32 bit pattern per source.
    FmaExtra: 8 {
        /// Element type of the factors; always fp32.
        0 scale_dtype: Dtype,
        /// Factors that follow.
        4 count: U32,
    }

    /// Extra bytes of a MIN or MAX with a constant.
    MinMaxExtra: 12 {
        /// 1: compare with the constant.
        0 use_constant: u8,
        /// Padding.
        1 pad: Pad<3>,
        /// Element type of the constant.
        4 constant_dtype: Dtype,
        /// Bits of the constant.
        8 constant: U32,
    }

    /// Extra bytes of a transpose, as long as the reference's area. The inner layout is ours: the reference's
    /// is Open (lowering.md §2.5); its first word, a packet granule made downstream, stays 0.
    TransposeExtra: 140 {
        /// Left 0 for the stage that makes packets.
        0 granule: U32,
        /// `transpose_element_size` in bytes.
        4 element_size: U32,
        /// Dimensions in `shape`.
        8 rank: U32,
        /// Padding.
        12 pad: Pad<4>,
        /// `transpose_shape`.
        16 shape: [U64; 4],
        /// `transpose_op`, such as `WZXY`.
        48 op: Text<24>,
        /// Padding.
        72 tail: Pad<68>,
    }

    /// What the end of a block does beyond one completion semaphore; `count` semaphore numbers follow
    /// (the reference has no slot for it, lowering.md O-16).
    BlockTail: 16 {
        /// Completion semaphore.
        0 semaphore: U32,
        /// 1 if `semaphore` counts.
        4 has_semaphore: U32,
        /// Event to set, plus one; 0 for none.
        8 event_plus_one: U32,
        /// `remote_semaphores` that follow.
        12 count: U32,
    }
}

impl Desc {
    /// The operation.
    #[must_use]
    pub fn operation(&self) -> Op {
        Op::new(i32::from(self.op))
    }

    /// The form.
    #[must_use]
    pub fn form(&self) -> DescType {
        DescType::new(u32::from(self.desc_type))
    }

    /// True for the last descriptor of a block.
    #[must_use]
    pub const fn ends_block(&self) -> bool {
        self.flags.has(DescFlags::BLOCK_END)
    }
}

impl Ap {
    /// The element type.
    #[must_use]
    pub fn element_type(&self) -> Dtype {
        Dtype::new(u32::from(self.dtype))
    }
}
