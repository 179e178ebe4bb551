//! Records of a placed model (staging.md §5): the reference's own where it has one, ours beside them.
//!
//! Pointers of the reference are 8-byte [`ArenaRef`](crate::arena::ArenaRef)s, as in the records of
//! lowering; where a record of ours needs a field that the reference lacks, it lies in the
//! reference's padding or unknown bytes and says so.

mod memory;
mod model;
mod program;
mod queue;
pub mod reference;
mod registered;

pub use memory::{DMem, PlaceArm, VarPlace};
pub use model::{CollectiveContext, FeatureMap, LoadParams, Model, Tally};
pub(in crate::plan) use program::pseudo_index;
pub use program::{
    Bind, FUNCTION_NAME, Image, InstrAddrs, NoteKind, Opaque, PatchList, SlotNote, Span, Target, TargetKind,
    Why, is_known,
};
pub use queue::{BlockFlags, BlockRec, Feed, FeedKind, QueueCount, RING_RX, RING_TX, RingRec};
pub use registered::{
    Bridge, Handle, InfoMap, IoInfo, MemoryUse, ModelNode, NodeSlot, NodeTable, RankGroups, Registered,
    STATE_READY,
};
