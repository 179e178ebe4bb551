//! What lowering reads: one working set per subgraph.
//!
//! The manifests of S2 are one such input ([`ManifestInput`]). Callers that make working sets of their own
//! (tests, generators) implement the same trait; nothing in this stage trusts them, nor, on a host, S2
//! ([`Input::CHECKED`]).
//!
//! Order is part of the contract, as in the reference's ordered maps (lowering.md §4): variables, queues and
//! libraries come in the byte order of their names.

mod manifest;
mod profiles;
mod steps;

pub use manifest::{ManifestInput, PayloadTransfers};

use super::record::{ActProfile, CarveoutType, EngType, RingType};
use crate::arch::Engine;
use crate::error::{Error, Notes};
use crate::manifest::{
    Backing, Block, BlockSink, BlockSource, Fabric, Fp8, Print, Scratch, Totals, VarClass,
};
use crate::source::MemberId;
use zerocopy::little_endian::{U32, U64};

/// What stands once in a subgraph.
#[derive(Clone, Copy, Debug)]
pub struct Subgraph<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Directory of its members, without the last `/`.
    pub dir: &'a [u8],
    /// Architecture number, 0 if there is none.
    pub target: u32,
    /// Collective streams (R13).
    pub num_streams: u64,
    /// `act_semaphore`, 0 if absent.
    pub act_semaphore: u32,
    /// FP8 conversion; `None` is "not initialised".
    pub fp8: Option<Fp8>,
    /// Whether `runtime_statebuffer_reservation` is present, possibly empty.
    pub has_carveouts: bool,
    /// Whether `ext_isa_ucode_lib_def` is present.
    pub has_ext_isa: bool,
}

/// Bytes in a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobIn {
    /// The member.
    pub member: MemberId,
    /// Bytes of it.
    pub len: u64,
}

/// One variable.
#[derive(Clone, Copy, Debug)]
pub struct VarIn<'a> {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: &'a [u8],
    /// Its class.
    pub class: VarClass,
    /// Bytes, if the entry says it.
    pub size: Option<u64>,
    /// Bytes; 0 is "none given".
    pub alignment: u32,
    /// Device-print element type.
    pub dtype: &'a [u8],
    /// Device-print shape.
    pub shape: &'a [U64],
    /// Device print.
    pub print: Option<Print<'a>>,
    /// `fabric_path`.
    pub fabric: Option<Fabric>,
    /// `backing_buf`.
    pub backing: Option<Backing>,
    /// What its class adds.
    pub detail: DetailIn,
}

impl VarIn<'_> {
    /// Bytes that a constant needs: its payload's, or what its entry says if that is more. Placing a constant whose
    /// payload is short is refused (staging.md §8.2, T06), so the shortage must still be seen there.
    pub(crate) fn constant_bytes(&self, payload_len: u64) -> u64 {
        self.size.map_or(payload_len, |said| said.max(payload_len))
    }
}

/// What only one class of variables has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetailIn {
    /// Nothing.
    None,
    /// Bytes from the start of its area.
    Virtual {
        /// `backing_variable_off`.
        offset: u64,
    },
    /// A constant.
    File {
        /// Its member.
        member: MemberId,
        /// First byte of it.
        payload_offset: u64,
        /// Bytes.
        payload_len: u64,
    },
    /// The variable whose address it holds.
    Pointer {
        /// Its id.
        referenced: u32,
    },
    /// Elements of [`Input::list`].
    List {
        /// How many.
        len: u32,
    },
    /// The same for a `dge-table`.
    DgeTable {
        /// How many.
        len: u32,
    },
    /// The owner.
    Remote {
        /// Its subgraph's number in the file.
        subgraph: u32,
        /// Its id there.
        var_id: u32,
    },
}

/// The four DVE slots; `None` where the file names no table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DveIn {
    /// Opcode table, fast control table, slow control table, datapath table: the order of their record.
    pub tables: [Option<BlobIn>; 4],
    /// A `control_table` that has no slot of its own on this architecture.
    pub unplaced_control: bool,
}

/// One queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueIn<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Kind of its rings.
    pub ring_type: RingType,
    /// Engine that triggers it.
    pub owner: Option<EngType>,
    /// Hardware queues of the set.
    pub num_queues: u32,
    /// Completion semaphores.
    pub semaphores: &'a [U32],
    /// `pinned`.
    pub pinned: bool,
    /// Hardware descriptor generation.
    pub dge: bool,
    /// Descriptors are generated on the device.
    pub dynamic: bool,
    /// The queue has `dynamic_dma`, which must state a scratch.
    pub needs_scratch: bool,
    /// Scratch of a dynamic queue.
    pub scratch: Option<Scratch>,
    /// Ring instances, at least 1.
    pub instances: u32,
    /// Whether the instances have names of their own.
    pub named_instances: bool,
    /// Number of its first instance among all instances of the subgraph.
    pub first_instance: u32,
}

/// One activation function set.
#[derive(Clone, Copy, Debug)]
pub struct ActSetIn<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Bucket table.
    pub bkt: BlobIn,
    /// Control table.
    pub ctl: BlobIn,
}

/// One reserved region of the state buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarveoutIn {
    /// Kind.
    pub kind: CarveoutType,
    /// Byte offset in a partition.
    pub offset: u64,
    /// Bytes per partition.
    pub size: u64,
    /// First partition.
    pub start_partition: u64,
    /// Partitions.
    pub num_partitions: u64,
}

/// One step through three-level rank arrays: a group, then its subgroups, each with its ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankStep {
    /// A replica group or a set of pairs begins.
    Group,
    /// A subgroup or a pair begins.
    Subgroup,
    /// A rank of it.
    Rank(u32),
}

/// One ucode library.
#[derive(Clone, Copy, Debug)]
pub struct LibraryIn<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// `ulib_to_ucode_version`; empty if absent.
    pub version: &'a [u8],
    /// Its bytes.
    pub content: BlobIn,
    /// Base opcode.
    pub opcode: i32,
    /// `cpu_id`.
    pub cpu_id: u32,
    /// `total_cpus`.
    pub total_cpus: u32,
    /// Its position for [`Input::functions`].
    pub index: u32,
}

/// One function of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionIn<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Opcode, as a byte or its signed spelling.
    pub opcode: i32,
    /// Sub-opcode, the same.
    pub sub_opcode: i32,
}

/// A manifest, for the place of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileIn {
    /// The one that lists the subgraphs.
    Graph,
    /// A subgraph's definition, or one of its engine files.
    Part(BlockSource),
}

impl FileIn {
    /// A subgraph's definition.
    pub const DEFINITION: Self = Self::Part(BlockSource::Definition);
}

/// Working sets of all subgraphs, in graph order. `sg` is a position below [`Input::subgraphs`].
///
/// Called more than once for everything (the measuring pass, then the emitting one); answers must not change.
pub trait Input {
    /// Whether what S2 refuses with codes of its own was refused already (R25): lowering then does not hold the same
    /// things against the same rules again, nor against the promises of this trait.
    const CHECKED: bool = false;

    /// Number of subgraphs.
    fn subgraphs(&self) -> u32;

    /// What stands once in a subgraph.
    fn subgraph(&self, sg: u32) -> Option<Subgraph<'_>>;

    /// The member that a manifest is, for the place of a refusal; `None` if it is none.
    fn file(&self, sg: u32, file: FileIn) -> Option<MemberId> {
        let _ = (sg, file);
        None
    }

    /// DVE tables, if the engine file has any.
    fn dve(&self, sg: u32) -> Option<DveIn>;

    /// Number of variables.
    fn var_count(&self, sg: u32) -> u32;

    /// Variables by name.
    fn vars(&self, sg: u32) -> impl Iterator<Item = VarIn<'_>>;

    /// Variable ids of a list or `dge-table`.
    fn list(&self, sg: u32, var_id: u32) -> impl Iterator<Item = u32>;

    /// Queues by name.
    fn queues(&self, sg: u32) -> impl Iterator<Item = QueueIn<'_>>;

    /// Queue number `index`.
    fn queue(&self, sg: u32, index: u16) -> Option<QueueIn<'_>> {
        self.queues(sg).nth(usize::from(index))
    }

    /// Name of an instance of queue number `queue`.
    fn instance_name(&self, sg: u32, queue: u32, instance: u32) -> Option<&[u8]>;

    /// What the blocks of a source hold for one instance, in the flat numbering of [`QueueIn::first_instance`].
    fn totals(&self, sg: u32, source: BlockSource, instance: u32) -> Totals;

    /// Number of blocks of a source.
    fn block_count(&self, sg: u32, source: BlockSource) -> u32;

    /// A block of a source.
    fn block(&self, sg: u32, source: BlockSource, ordinal: u32) -> Option<Block<'_>>;

    /// Instruction bytes of an engine; `None` for a placeholder.
    fn engine(&self, sg: u32, engine: Engine) -> Option<BlobIn>;

    /// The names of two different blobs that two files give for one engine.
    fn two_programs(&self, sg: u32, engine: Engine) -> Option<(&[u8], &[u8])> {
        let _ = (sg, engine);
        None
    }

    /// Activation function sets in list order.
    fn act_sets(&self, sg: u32) -> impl Iterator<Item = ActSetIn<'_>>;

    /// Carve-outs in list order.
    fn carveouts(&self, sg: u32) -> impl Iterator<Item = CarveoutIn>;

    /// Replica groups, step by step.
    fn replica_groups(&self, sg: u32) -> impl Iterator<Item = RankStep>;

    /// Source-target pairs, step by step; a pair is a subgroup of two ranks.
    fn src_target_pairs(&self, sg: u32) -> impl Iterator<Item = RankStep>;

    /// Ucode libraries by name, without the default one.
    fn libraries(&self, sg: u32) -> impl Iterator<Item = LibraryIn<'_>>;

    /// Functions of a library.
    fn functions(&self, sg: u32, library: u32) -> impl Iterator<Item = FunctionIn<'_>>;

    /// Functions that `ext_isa_ucode_lib_def` picks from the default library.
    fn ext_isa(&self, sg: u32) -> impl Iterator<Item = FunctionIn<'_>>;
}

/// Receives blocks, and profiles of activation functions.
pub trait LowerSink: BlockSink {
    /// Profile number `index` of activation set number `set`.
    ///
    /// # Errors
    /// Ends the pass.
    fn profile(&mut self, sg: u32, set: u32, index: u32, profile: &ActProfile) -> Result<(), Error>;
}

/// What the members hold beyond the tables: the transfers of all blocks and the activation profiles, in one pass, in
/// any order of files; the blocks of one source come in order.
pub trait Transfers {
    /// Hands every block and profile to `sink`.
    ///
    /// # Errors
    /// The sink's, or those of the bytes' owner.
    fn visit<S: LowerSink>(&mut self, sink: &mut S, notes: &mut dyn Notes) -> Result<(), Error>;
}
