//! The record of a loaded core (staging.md §5.5, §5.6).

use super::program::{InstrAddrs, PatchList, Span};
use crate::arena::ArenaRef;
use crate::lower::record::layout::records;
use crate::lower::record::{ArchNumber, Counted, Pad, Text};
use zerocopy::little_endian::{U32, U64};

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
        /// Block-to-descriptor-count table: [`BlockRec`](super::BlockRec) records by queue, instance, id and function.
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
        /// Ucode libraries, owned or shared: [`DMem`](super::DMem) records.
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
        /// Names of inputs and outputs by id: the kbin's [`MemRef`](crate::lower::record::MemRef) records.
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
        /// Variables found in slots that are not translated (ours): [`Bind`](super::Bind) records.
        6760 resolved: ArenaRef,
        /// Unknown.
        6768 unknown2: Pad<88>,
        /// Collective context.
        6856 collectives: CollectiveContext,
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

    /// What collectives keep for a core (offsets Confirmed; the rest unknown). Only the flag is used.
    CollectiveContext: 624 {
        /// Unknown.
        0 unknown0: Pad<8>,
        /// Allocator.
        8 allocator: ArenaRef,
        /// 1: it owns the allocator.
        16 owner: u8,
        /// Unknown.
        17 unknown1: Pad<15>,
        /// Most descriptors of a packet.
        32 packet_limit: U32,
        /// Unknown.
        36 unknown2: Pad<12>,
        /// Queue sets.
        48 queue_sets: Pad<112>,
        /// Configuration.
        160 configuration: Pad<112>,
        /// Present class of priority.
        272 priority: u8,
        /// Unknown.
        273 unknown3: Pad<89>,
        /// The event accelerator's carve-out is there (7218 in the model).
        362 event_accelerator: u8,
        /// Unknown.
        363 unknown4: Pad<221>,
        /// Mutex of whoever rewrites rings.
        584 mutex: Pad<40>,
    }
}

impl Model {
    /// [`InstrAddrs`] record size, for readers of a dump.
    pub const INSTR_ADDRS: usize = size_of::<InstrAddrs>();
}
