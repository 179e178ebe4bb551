//! DMA blocks and transfers (manifests.md §13.3): what one trigger starts.

mod end;
pub(crate) mod index;
mod key;
mod memo;
mod transfer;
pub(crate) mod visit;
pub(crate) mod walk;

use super::class::DmaOp;
use super::record::{BlockRecord, block_flag, wide};
use crate::arch::Engine;
use crate::arena::Tail;
use crate::error::Error;
use zerocopy::little_endian::U32;

/// Dimensions of an access pattern at most (manifests.md §13.3).
pub const ACCESS_DIMS: usize = 4;
/// Sources of one transfer at most on mariana (Inferred); [`SOURCES_DEFAULT`] elsewhere.
pub const SOURCES_MARIANA: usize = 32;
/// Sources of one transfer at most before mariana (Confirmed).
pub const SOURCES_DEFAULT: usize = 16;
/// Sources that there is room for: as many, or fewer where a memory layout says so.
pub(crate) const SOURCES: usize = crate::layout::CORE_SOURCES;

/// Which array a block stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockSource {
    /// The `dma` array at the top of `def.json`.
    Definition,
    /// The `dma` array of an engine file.
    Engine(Engine),
}

impl BlockSource {
    /// All six, in the spec's dispatch order (manifests.md §6.3).
    pub const ALL: [Self; 6] = [
        Self::Definition,
        Self::Engine(Engine::Pe),
        Self::Engine(Engine::Act),
        Self::Engine(Engine::Pool),
        Self::Engine(Engine::Dve),
        Self::Engine(Engine::Sp),
    ];

    /// Position among a definition's six sources as stored: engines by number, then the definition.
    pub(crate) const fn slot(self) -> usize {
        match self {
            Self::Engine(engine) => engine.index(),
            Self::Definition => 5,
        }
    }
}

/// Where a block or transfer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAt {
    /// Subgraph number.
    pub subgraph: u8,
    /// Array.
    pub source: BlockSource,
    /// Position of the block in its array.
    pub block: u32,
    /// Position of the transfer in its block; in [`BlockSink::block_end`], their number.
    pub index: u32,
}

/// One block's own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'m> {
    /// `id`: what the trigger names; unique per queue.
    pub id: u32,
    /// Queue set, as a position in [`super::Definition::queue`].
    pub queue: u16,
    /// Instance within the queue set.
    pub instance: u32,
    /// Transfers in `desc`.
    pub transfers: u32,
    /// `semaphore`: counted up at the end.
    pub semaphore: Option<u32>,
    /// `event`: set at the end.
    pub event: Option<u32>,
    /// `function_start`: name of the function that starts here; empty for none.
    pub function_start: &'m [u8],
    /// `section_start_desc`.
    pub section_start: bool,
    /// `remote_semaphores`.
    pub remote_semaphores: &'m [U32],
    /// `priority_class`.
    pub priority_class: u8,
}

impl<'m> Block<'m> {
    pub(crate) fn new(tail: Tail<'m>, record: &BlockRecord) -> Option<Self> {
        let has = |flag| record.flags & flag != 0;
        Some(Self {
            id: record.id.get(),
            queue: record.queue.get(),
            instance: record.instance.get(),
            transfers: record.transfers.get(),
            semaphore: has(block_flag::SEMAPHORE).then(|| record.semaphore.get()),
            event: has(block_flag::EVENT).then(|| record.event.get()),
            function_start: record.function.get(tail),
            section_start: has(block_flag::SECTION_START),
            remote_semaphores: tail.slice::<U32>(record.remotes, wide(record.remote_count))?,
            priority_class: record.priority_class,
        })
    }
}

/// What the blocks of one source hold for one queue instance: enough to size records beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Blocks.
    pub blocks: u32,
    /// Transfers.
    pub transfers: u32,
    /// Access patterns, destinations and sources together.
    pub accesses: u32,
    /// Dimensions of all those access patterns.
    pub dims: u32,
    /// Transfers with `fma`, `add`, `min` or `max`.
    pub arithmetic: u32,
    /// Transfers with a transpose, by `op` or by `transpose_op`.
    pub transposes: u32,
    /// Sum of [`Transfer::extra_bytes`].
    pub extra: u32,
}

/// One end of a transfer: a walk through a variable, innermost dimension first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// Id of the variable.
    pub var: u32,
    /// Bytes from the variable's start.
    pub off: u64,
    /// Descriptor dtype code (manifests.md §14.2); `uint8` if absent.
    pub dtype: u8,
    /// Whether the file names a dtype.
    pub dtype_given: bool,
    /// Number of dimensions, 1 to 4.
    pub dims: u8,
    /// Extents: bytes for the innermost, counts for the rest (R10).
    sizes: [u64; ACCESS_DIMS],
    /// Strides in bytes (R10).
    steps: [i64; ACCESS_DIMS],
}

impl Access {
    /// No walk at all, to be filled.
    pub(crate) const NONE: Self = Self {
        var: 0,
        off: 0,
        dtype: 0,
        dtype_given: false,
        dims: 0,
        sizes: [0; ACCESS_DIMS],
        steps: [0; ACCESS_DIMS],
    };

    /// A walk of the given extents and strides, which must be equally long and at most four.
    #[must_use]
    pub fn new(var: u32, off: u64, dtype: Option<u8>, sizes: &[u64], steps: &[i64]) -> Option<Self> {
        if sizes.len() != steps.len() || sizes.is_empty() {
            return None;
        }
        let mut access = Self {
            var,
            off,
            dtype: dtype.unwrap_or(super::dtype::DESCRIPTOR_UINT8),
            dtype_given: dtype.is_some(),
            dims: u8::try_from(sizes.len()).ok()?,
            sizes: [0; ACCESS_DIMS],
            steps: [0; ACCESS_DIMS],
        };
        crate::bytes::copy(access.sizes.get_mut(..sizes.len())?, sizes);
        crate::bytes::copy(access.steps.get_mut(..steps.len())?, steps);
        Some(access)
    }

    /// Extents, innermost (bytes) first; none is 0.
    #[must_use]
    pub fn sizes(&self) -> &[u64] {
        self.sizes.get(..usize::from(self.dims)).unwrap_or(&[])
    }

    /// Strides in bytes, innermost first.
    #[must_use]
    pub fn steps(&self) -> &[i64] {
        self.steps.get(..usize::from(self.dims)).unwrap_or(&[])
    }
}

/// `constant` of `min` and `max`, as the bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Descriptor dtype code: `float32`, `int32` or `uint32`.
    pub dtype: u8,
    /// The value's 32 bits.
    pub bits: u32,
}

/// `transpose_*` keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transpose<'a> {
    /// `transpose_shape`.
    pub shape: [u64; 4],
    /// `transpose_element_size`, bytes.
    pub element_size: u32,
    /// `transpose_op`, such as `WZXY`; empty if absent.
    pub op: &'a [u8],
}

/// One transfer, its ends resolved to variable ids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer<'a> {
    /// Operation.
    pub op: DmaOp,
    /// A copy that converts between the ends' dtypes.
    pub cast: bool,
    /// Destination.
    pub to: Access,
    /// Sources: one, or as many as `from_arr` has.
    pub from: &'a [Access],
    /// Whether the sources came as `from_arr`.
    pub gather: bool,
    /// `num_tiling_dimensions`.
    pub tiling: u8,
    /// `scale` of `fma`, 1.0 by default.
    pub scale: f64,
    /// `constant` of `min` and `max`, where its dtype is given.
    pub constant: Option<Constant>,
    /// Transpose, if any of its keys is present.
    pub transpose: Option<Transpose<'a>>,
}

impl Transfer<'_> {
    /// Bytes of parameters that the lowered record keeps beside its access patterns, a multiple of 8
    /// (lowering.md §11.4): factors of `fma`, the constant of `min` and `max`, a transpose.
    #[must_use]
    pub fn extra_bytes(&self) -> u32 {
        let sources = u32::try_from(self.from.len()).unwrap_or(u32::MAX);
        match self.op {
            DmaOp::Fma => sources.saturating_mul(4).saturating_add(15) & !7,
            DmaOp::Min | DmaOp::Max if self.constant.is_some() => 16,
            DmaOp::Add | DmaOp::Min | DmaOp::Max => 0,
            DmaOp::Transpose => 144,
            DmaOp::Copy if self.transpose.is_some() => 144,
            DmaOp::Copy => 0,
        }
    }
}

/// Receives blocks in archive order of their files; see [`super::visit_blocks`].
pub trait BlockSink {
    /// One transfer. The block's own fields may not be known yet in this pass: look them up with
    /// [`super::Definition::block`], which a finished [`super::Manifest`] answers for every block.
    ///
    /// # Errors
    /// Ends the pass.
    fn transfer(&mut self, at: BlockAt, transfer: &Transfer<'_>) -> Result<(), Error>;

    /// All transfers of a block were given.
    ///
    /// # Errors
    /// Ends the pass.
    fn block_end(&mut self, at: BlockAt, block: &Block<'_>) -> Result<(), Error>;
}
