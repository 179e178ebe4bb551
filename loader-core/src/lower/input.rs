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
mod records;
mod steps;

pub use manifest::{ManifestInput, PayloadTransfers};

use super::record::{ActProfile, Blob, CarveoutType, EngType, RingType};
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

impl BlobIn {
    /// No bytes of no member.
    pub const NONE: Self = Self { member: MemberId(Blob::NOT_A_MEMBER), len: 0 };
}

/// One variable, read where it lies.
pub trait VarIn<'a> {
    /// Its id.
    fn id(&self) -> u32;
    /// Its name.
    fn name(&self) -> &'a [u8];
    /// Its class.
    fn class(&self) -> VarClass;
    /// Bytes, if the entry says it.
    fn size(&self) -> Option<u64>;
    /// Bytes; 0 is "none given".
    fn alignment(&self) -> u32;
    /// Device-print element type.
    fn dtype(&self) -> &'a [u8];
    /// Device-print shape.
    fn shape(&self) -> &'a [U64];
    /// Device print.
    fn print(&self) -> Option<Print<'a>>;
    /// `fabric_path`.
    fn fabric(&self) -> Option<Fabric>;
    /// `backing_buf`.
    fn backing(&self) -> Option<Backing>;
    /// What its class adds.
    fn detail(&self) -> DetailIn;
    /// Variable id number `at` of a list or `dge-table`.
    fn element(&self, at: u32) -> Option<u32>;
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
    /// Ids: [`VarIn::element`].
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

/// The four DVE slots; [`BlobIn::NONE`] where the file names no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DveIn {
    /// Opcode table, fast control table, slow control table, datapath table: the order of their record.
    pub tables: [BlobIn; 4],
    /// A `control_table` that has no slot of its own on this architecture.
    pub unplaced_control: bool,
}

impl Default for DveIn {
    fn default() -> Self {
        Self { tables: [BlobIn::NONE; 4], unplaced_control: false }
    }
}

/// One queue, read where it lies.
pub trait QueueIn<'a> {
    /// Its name.
    fn name(&self) -> &'a [u8];
    /// Kind of its rings.
    fn ring_type(&self) -> RingType;
    /// Engine that triggers it.
    fn owner(&self) -> Option<EngType>;
    /// Hardware queues of the set.
    fn num_queues(&self) -> u32;
    /// Completion semaphores.
    fn semaphores(&self) -> &'a [U32];
    /// `pinned`.
    fn pinned(&self) -> bool;
    /// Hardware descriptor generation.
    fn dge(&self) -> bool;
    /// Descriptors are generated on the device.
    fn dynamic(&self) -> bool;
    /// The queue has `dynamic_dma`, which must state a scratch.
    fn needs_scratch(&self) -> bool;
    /// Scratch of a dynamic queue.
    fn scratch(&self) -> Option<Scratch>;
    /// Ring instances, at least 1.
    fn instances(&self) -> u32;
    /// Whether the instances have names of their own.
    fn named_instances(&self) -> bool;
    /// Number of its first instance among all instances of the subgraph.
    fn first_instance(&self) -> u32;
    /// Name of an instance.
    fn instance_name(&self, instance: u32) -> Option<&'a [u8]>;
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

/// One ucode library, read where it lies.
pub trait LibraryIn<'a> {
    /// Its name.
    fn name(&self) -> &'a [u8];
    /// `ulib_to_ucode_version`; empty if absent.
    fn version(&self) -> &'a [u8];
    /// The member that holds its bytes.
    fn content(&self) -> BlobIn;
    /// Base opcode.
    fn opcode(&self) -> i32;
    /// `cpu_id`.
    fn cpu_id(&self) -> u32;
    /// `total_cpus`.
    fn total_cpus(&self) -> u32;
    /// Its position in the file.
    fn index(&self) -> u32;
    /// Function number `at`.
    fn function(&self, at: u32) -> Option<FunctionIn<'a>>;

    /// Number of functions.
    fn functions(&self) -> u32 {
        let more = (0..).map_while(|at| self.function(at));
        u32::try_from(more.count()).unwrap_or(u32::MAX)
    }
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

    /// A variable.
    type Var<'a>: VarIn<'a>
    where
        Self: 'a;
    /// A queue.
    type Queue<'a>: QueueIn<'a>
    where
        Self: 'a;
    /// A ucode library.
    type Library<'a>: LibraryIn<'a>
    where
        Self: 'a;

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

    /// Variable number `order` by name.
    fn var(&self, sg: u32, order: u32) -> Option<Self::Var<'_>>;

    /// Variables by name.
    fn vars(&self, sg: u32) -> impl Iterator<Item = Self::Var<'_>> {
        (0..).map_while(move |order| self.var(sg, order))
    }

    /// Queue number `index` by name.
    fn queue(&self, sg: u32, index: u32) -> Option<Self::Queue<'_>>;

    /// Queues by name.
    fn queues(&self, sg: u32) -> impl Iterator<Item = Self::Queue<'_>> {
        (0..).map_while(move |index| self.queue(sg, index))
    }

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
    fn libraries(&self, sg: u32) -> impl Iterator<Item = Self::Library<'_>>;

    /// Functions that `ext_isa_ucode_lib_def` picks from the default library.
    fn ext_isa(&self, sg: u32) -> impl Iterator<Item = FunctionIn<'_>>;

    /// How many these are.
    fn ext_isa_count(&self, sg: u32) -> u32 {
        u32::try_from(self.ext_isa(sg).count()).unwrap_or(u32::MAX)
    }
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
