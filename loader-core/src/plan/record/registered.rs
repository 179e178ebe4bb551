//! Records of a registered model (staging.md §5.1 to §5.3, §16).

use super::model::LoadParams;
use crate::arena::ArenaRef;
use crate::lower::record::layout::records;
use crate::lower::record::{Pad, Text};
use zerocopy::little_endian::{U16, U32, U64};

/// `state` of a registered model: what the loader stores and unload requires (X6).
pub const STATE_READY: u32 = 4;

records! {
    /// What a caller of the public interface gets (size Confirmed, order Inferred).
    Handle: 284 {
        /// Index of the logical core.
        0 vcore: U32,
        /// Model name.
        4 name: Text<256>,
        /// Model id of the file.
        260 uuid: [u8; 16],
        /// Public id.
        276 h_nn: U32,
        /// Rank among the devices of a collective load; 0 without one.
        280 global_id: U32,
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
        /// Interned model id: the UUID folded to 64 bits.
        280 interned: U64,
        /// Model id of the file.
        288 uuid: [u8; 16],
        /// Multiply-accumulate operations, from the statistics member.
        304 mac_count: U64,
        /// Execution timeout in seconds.
        312 timeout: U64,
        /// Inputs by name.
        320 inputs: InfoMap,
        /// Outputs by name.
        368 outputs: InfoMap,
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
        456 replica_groups: RankGroups,
    }

    /// A map of [`IoInfo`] by name; the entries are the shell's (place of the count Inferred).
    InfoMap: 48 {
        /// The reference's tree.
        0 tree: Pad<40>,
        /// Entries.
        40 count: U64,
    }

    /// A vector of replica groups; the groups are the shell's (place of the count ours).
    RankGroups: 24 {
        /// The reference's vector.
        0 begin: Pad<16>,
        /// Groups.
        16 count: U64,
    }

    /// What is known of an input or output (staging.md §5.2, Confirmed).
    IoInfo: 144 {
        /// Bytes.
        0 size: U64,
        /// Public element type.
        8 dtype: U32,
        /// Extents.
        12 shape: [U32; 32],
        /// How many of them.
        140 ndim: U32,
    }

    /// Bytes and blocks of one kind of memory.
    MemoryUse: 16 {
        /// Bytes.
        0 bytes: U64,
        /// Blocks.
        8 chunks: U32,
        /// Padding.
        12 pad: Pad<4>,
    }

    /// What a loaded subgraph says of itself in the datastore (staging.md §16, Confirmed).
    ModelNode: 672 {
        /// Hash of the record with this word zero.
        0 hash: U32,
        /// Model.
        4 model_id: U32,
        /// Node.
        8 node_id: U32,
        /// Model name.
        12 name: Text<256>,
        /// Model id of the file.
        268 uuid: [u8; 16],
        /// Core.
        284 core: u8,
        /// Subgraph.
        285 subgraph: u8,
        /// Padding.
        286 pad: U16,
        /// Host memory by [`MemoryKind`](crate::stage::register::MemoryKind).
        288 host: [MemoryUse; 12],
        /// Device memory by kind.
        480 device: [MemoryUse; 12],
    }

    /// A [`ModelNode`] where it lies (Confirmed).
    NodeSlot: 712 {
        /// The record.
        0 node: ModelNode,
        /// Unknown.
        672 unknown: Pad<40>,
    }

    /// The model nodes of a datastore, from its start to their end (Confirmed).
    NodeTable: 46888 {
        /// Counters of other kinds.
        0 unknown: Pad<1312>,
        /// One bit for every slot that is taken.
        1312 in_use: U64,
        /// Slots.
        1320 slots: [NodeSlot; 64],
    }
}
