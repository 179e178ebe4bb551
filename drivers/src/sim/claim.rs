//! What a loader says that it put on a device: plain data, in slices of the caller.
//!
//! A loader under test fills these records from its own tables, and [`SimState::judge`](super::SimState::judge) compares
//! them with the device. Nothing here is particular to one loader.

use loader_core::arch::Engine;
use loader_core::device::{CoreId, MemHandle};

/// A block that a loader took and has not given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockClaim {
    /// Its handle.
    pub handle: MemHandle,
    /// Bytes from the granted address to the first used one; above 0 where a device that cannot align gave more.
    pub skip: u64,
    /// Bytes used.
    pub size: u64,
    /// Alignment of the first used byte; 0 and 1 for none.
    pub align: u64,
}

/// A scratchpad page, which models of its core share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageClaim {
    /// Its block.
    pub block: BlockClaim,
    /// Core that holds it.
    pub core: CoreId,
    /// Position in the core's scratchpad.
    pub index: u32,
    /// References that the loader counts.
    pub refs: u32,
}

/// A block of a core that its models share, such as a microcode library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedClaim {
    /// Its block.
    pub block: BlockClaim,
    /// References that the loader counts.
    pub refs: u32,
}

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At an address, from the load on.
    At(u64),
    /// Wherever the input or output lies that an execution binds to it.
    Bound,
    /// Nowhere: a table or a list.
    Nowhere,
}

/// A variable of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableClaim {
    /// Its id.
    pub id: u32,
    /// Bytes that may be addressed.
    pub size: u64,
    /// Where it is.
    pub place: Place,
}

/// Bytes of the file that lie on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentClaim<'a> {
    /// First address.
    pub address: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// One half of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfClaim<'a> {
    /// First entry; not looked at where `capacity` is 0.
    pub address: u64,
    /// Entries that do something.
    pub entries: u32,
    /// Entries with the padding behind those.
    pub padded: u32,
    /// Room, 0 for a half that was never allocated.
    pub capacity: u32,
    /// Everything that was written to it, for a store that keeps a digest alone; else empty.
    pub written: &'a [u8],
}

/// Consecutive entries of a ring whose two sides count elements of different width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CastClaim {
    /// First entry.
    pub first: u32,
    /// Entries.
    pub count: u32,
    /// Bytes of an element on the source and on the destination side.
    pub bytes: (u8, u8),
}

/// A ring: two halves of equal length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingClaim<'a> {
    /// Source side.
    pub tx: HalfClaim<'a>,
    /// Destination side.
    pub rx: HalfClaim<'a>,
    /// It moves inputs or outputs, so its entries may hold templates.
    pub io: bool,
    /// It is used over and over, so its capacity is a power of two.
    pub wraps: bool,
    /// Entries that change the element type, in order.
    pub casts: &'a [CastClaim],
}

/// An operand of an instruction that names a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandClaim {
    /// Byte of the image where its eight bytes start.
    pub at: u32,
    /// The variable.
    pub var: u32,
    /// Bytes from its start.
    pub off: u64,
}

/// Part of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Before the main code.
    Preamble,
    /// The main code.
    Main,
    /// After the main code.
    Postamble,
    /// Functions, behind everything.
    Function,
}

/// What a record of the position map says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// So many slots are on the device only.
    Insert,
    /// The slots differ from the file's, one for one.
    Modify,
    /// So many slots of the file are not on the device.
    Delete,
}

/// A record of the position map (staging.md §12.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchClaim {
    /// Byte of the image, or of the functions for [`Section::Function`].
    pub offset: u32,
    /// Slots.
    pub count: u32,
    /// What happened there.
    pub kind: PatchKind,
    /// Where.
    pub section: Section,
}

/// The way back: what a slot of the file became (staging.md §12.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeClaim {
    /// Byte of the image of its first slot, or where it would have been.
    pub at: u32,
    /// Slots; 0 if it was deleted.
    pub slots: u32,
}

/// Slots that are kept as the file has them although they are pseudo-instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpaqueClaim {
    /// First slot of the image.
    pub slot: u32,
    /// Slots.
    pub count: u32,
}

/// The program of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageClaim<'a> {
    /// The engine.
    pub engine: Engine,
    /// First byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// All of them, for a store that keeps a digest alone; else empty.
    pub written: &'a [u8],
    /// Slots of preamble, main code, postamble and functions, which lie in this order.
    pub slots: [u32; 4],
    /// Slots of the file's stream that became the main code, and the functions.
    pub source: [u32; 2],
    /// Opaque slots in order.
    pub opaque: &'a [OpaqueClaim],
    /// Operands that name variables.
    pub operands: &'a [OperandClaim],
    /// The position map, in order within each section.
    pub patches: &'a [PatchClaim],
    /// The way back for every slot of the file, main code first.
    pub ranges: &'a [RangeClaim],
}

/// One loaded core.
#[derive(Clone, Copy, Debug)]
pub struct CoreClaim<'a> {
    /// The physical core.
    pub core: CoreId,
    /// Blocks, pages and shared ones not among them.
    pub blocks: &'a [BlockClaim],
    /// Shared blocks that it uses.
    pub shared: &'a [MemHandle],
    /// Variables by ascending id.
    pub variables: &'a [VariableClaim],
    /// Constants and tables.
    pub contents: &'a [ContentClaim<'a>],
    /// Rings that are complete at load.
    pub rings: &'a [RingClaim<'a>],
    /// Programs.
    pub images: &'a [ImageClaim<'a>],
}

/// One loaded model.
#[derive(Clone, Copy, Debug)]
pub struct ModelClaim<'a> {
    /// Its cores.
    pub cores: &'a [CoreClaim<'a>],
    /// The core that holds its scratchpad, and the pages that it uses.
    pub scratchpad: (CoreId, u32),
}

/// Everything that is on a device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claims<'a> {
    /// Blocks of the cores themselves, which are there without any model.
    pub baseline: &'a [BlockClaim],
    /// Scratchpad pages.
    pub pages: &'a [PageClaim],
    /// Blocks that models share.
    pub shared: &'a [SharedClaim],
    /// Loaded models.
    pub models: &'a [ModelClaim<'a>],
}
