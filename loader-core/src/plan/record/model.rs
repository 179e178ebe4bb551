//! The record of a loaded core, and those of a registered model (staging.md §5.2 to §5.6).

use super::program::{InstrAddrs, PatchList, Span};
use crate::arena::ArenaRef;
use crate::lower::record::layout::records;
use crate::lower::record::{ArchNumber, Counted, Pad, Text};
use zerocopy::little_endian::{U32, U64};

/// `state` of a registered model: what the loader stores and unload requires (X6).
pub const STATE_READY: u32 = 4;

records! {
    /// The 32-byte load parameter block; its interior is ours (Open, staging.md §5.3).
    LoadParams: 32 {
        /// Execution timeout in seconds; 0 for none.
        0 timeout: U64,
        /// Ring-cache entries.
        8 ring_cache: U64,
        /// 1: the payload digest was verified.
        16 verified: u8,
        /// 1: contiguous scratchpad.
        17 contiguous: u8,
        /// Padding.
        18 pad: Pad<6>,
        /// Scratchpad page in bytes.
        24 page_size: U64,
    }

    /// Sums over a core (ours).
    Tally: 32 {
        /// Patched operands, pointer cells and ring entries that name a placed variable.
        0 relocated_variables: U64,
        /// Entries of the second relocation.
        8 relocated_rings: U64,
        /// Approximate blocks, tables and slots.
        16 approximate: U32,
        /// Scratchpad pages this core holds references to.
        20 pages: U32,
        /// Index of the DMem that holds the semaphore word, plus 1.
        24 semaphore_word: U32,
        /// Physical core.
        28 core: U32,
    }

    /// One loaded core (staging.md §5.5). Bytes that the reference leaves unknown hold our own references.
    Model: 7744 {
        /// Model name.
        0 name: Text<256>,
        /// Unknown.
        256 unknown0: Pad<16>,
        /// Queue set of the reference; see `rings` and `blocks`.
        272 queue_set: Pad<6024>,
        /// Block-to-descriptor-count table: [`BlockRec`](super::BlockRec) records by queue and id.
        6296 blocks: ArenaRef,
        /// Position-map records: engines pe, act, pool, dve, sp.
        6304 patch_info: [PatchList; 5],
        /// Key in the core's model table.
        6384 h_model: U32,
        /// Unknown.
        6388 unknown1: Pad<44>,
        /// Load parameters.
        6432 params: LoadParams,
        /// Blocks of device memory in allocation order: [`DMem`](super::DMem) records.
        6464 allocator: ArenaRef,
        /// Garbage list; the blocks above serve as one.
        6472 garbage: ArenaRef,
        /// Ucode library set.
        6480 ucode: ArenaRef,
        /// References.
        6488 refs: U64,
        /// Inputs: [`FeatureMap`] records.
        6496 inputs: Counted,
        /// Outputs.
        6512 outputs: Counted,
        /// Architecture.
        6528 target: ArchNumber,
        /// Padding.
        6532 pad: Pad<4>,
        /// [`InstrAddrs`] per engine, by engine number.
        6536 addrs: [ArenaRef; 5],
        /// Range of the functions per engine, by engine number.
        6576 functions: [Span; 5],
        /// Descriptors of the hardware execution queue.
        6656 exec_descs: U64,
        /// Variables by id: [`VarPlace`](super::VarPlace) records.
        6664 variables: ArenaRef,
        /// Names of inputs and outputs by id; the kbin's records serve as such.
        6672 io_names: ArenaRef,
        /// Ring halves (ours): [`RingRec`](super::RingRec) records by queue, instance, side.
        6680 rings: ArenaRef,
        /// Images (ours): [`Image`](super::Image) records by engine number.
        6688 images: ArenaRef,
        /// Operands bound at execute (ours): [`Bind`](super::Bind) records.
        6696 binds: ArenaRef,
        /// Opaque slots (ours): [`Opaque`](super::Opaque) records.
        6704 opaques: ArenaRef,
        /// Branch targets (ours): [`Target`](super::Target) records.
        6712 targets: ArenaRef,
        /// Subgraph name (ours), in the kbin's records.
        6720 subgraph: ArenaRef,
        /// Sums (ours).
        6728 tally: Tally,
        /// Unknown.
        6760 unknown2: Pad<96>,
        /// Collective context; only the flag below is used.
        6856 collective0: Pad<362>,
        /// The event accelerator's carve-out is there (absolute 7218).
        7218 event_accelerator: u8,
        /// Rest of the collective context.
        7219 collective1: Pad<261>,
        /// Scratchpad cleanup record; `tally.pages` and the page table serve as one.
        7480 scratchpad: ArenaRef,
        /// Unknown.
        7488 unknown3: Pad<8>,
        /// Hash link of the reference.
        7496 node: Pad<48>,
        /// Unknown.
        7544 unknown4: Pad<40>,
        /// Reset the event accelerator before the first run.
        7584 reset_event_accelerator: u8,
        /// Program the fp8 configuration before the first run.
        7585 program_fp8: u8,
        /// Unknown.
        7586 unknown5: Pad<158>,
    }

    /// An input or output for binding by name (Confirmed).
    FeatureMap: 272 {
        /// Name.
        0 name: Text<256>,
        /// Least bytes of a tensor bound to it.
        256 min_size: U64,
        /// Variable.
        264 var_id: U32,
        /// Padding.
        268 pad: Pad<4>,
    }

    /// What one load has in common over its cores (staging.md §5.3).
    Bridge: 72 {
        /// Key in the model tables.
        0 h_model: U32,
        /// Padding.
        4 pad: Pad<4>,
        /// Logical core; its index plus 1.
        8 vcore: U64,
        /// Subgraphs.
        16 sg_count: U32,
        /// Model id of the file.
        20 uuid: [u8; 16],
        /// Padding.
        36 pad1: Pad<4>,
        /// Load parameters.
        40 params: LoadParams,
    }

    /// A registered model (staging.md §5.2, Confirmed).
    Registered: 480 {
        /// Public id.
        0 h_nn: U32,
        /// Padding.
        4 pad0: Pad<4>,
        /// Logical core; its index plus 1.
        8 vcore: U64,
        /// Subgraphs.
        16 sg_count: U32,
        /// Model name.
        20 name: Text<256>,
        /// Padding.
        276 pad1: Pad<4>,
        /// Interned model id; always 0.
        280 interned: U64,
        /// Model id of the file.
        288 uuid: [u8; 16],
        /// Multiply-accumulate operations, from the statistics member.
        304 mac_count: U64,
        /// Execution timeout in seconds.
        312 timeout: U64,
        /// Input info map; the shell keeps it.
        320 inputs: Pad<48>,
        /// Output info map; the shell keeps it.
        368 outputs: Pad<48>,
        /// The [`Bridge`].
        416 bridge: ArenaRef,
        /// [`STATE_READY`].
        424 state: U32,
        /// Padding.
        428 pad2: Pad<4>,
        /// References.
        432 refs: U64,
        /// Datastore objects.
        440 datastore: ArenaRef,
        /// Their number.
        448 datastore_count: U32,
        /// Profiling flag.
        452 profiling: u8,
        /// Padding.
        453 pad3: Pad<3>,
        /// Replica groups.
        456 replica_groups: Pad<24>,
    }
}

impl Model {
    /// [`InstrAddrs`] record size, for readers of a dump.
    pub const INSTR_ADDRS: usize = size_of::<InstrAddrs>();
}
