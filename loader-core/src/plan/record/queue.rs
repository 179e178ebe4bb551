//! Rings, blocks and copies of a core (staging.md §5.9, §10.4).

use crate::arena::ArenaRef;
use crate::lower::record::Pad;
use crate::lower::record::layout::{open_enums, records};
use zerocopy::little_endian::{U16, U32, U64};

/// [`RingRec::side`]: the half that reads.
pub const RING_TX: u32 = 1;
/// [`RingRec::side`]: the half that writes.
pub const RING_RX: u32 = 2;

open_enums! {
    /// What a copy from the file feeds.
    FeedKind(U32, u32) {
        CONSTANT = 1 "constant",
        PROGRAM = 2 "program",
        TABLE = 3 "table",
    }
}

records! {
    /// One ring half (staging.md §10.4, Confirmed; queue and instance lie in the padding).
    RingRec: 32 {
        /// [`RING_TX`] or [`RING_RX`].
        0 side: U32,
        /// Slot of the queue in the kbin (ours).
        4 queue: U16,
        /// Hardware instance within the queue (ours).
        6 instance: U16,
        /// Its [`DMem`](super::DMem); null for a ring without entries (R32).
        8 block: ArenaRef,
        /// Bytes from the block's start; always 0.
        16 offset: U64,
        /// Entries.
        24 used: U32,
        /// Room for entries; 0 without a block.
        28 capacity: U32,
    }

    /// One DMA block: what the reference's block-to-descriptor-count table (§5.9) answers, by queue, id and function.
    BlockRec: 56 {
        /// Slot of the queue.
        0 queue: U16,
        /// Ring instance of the kbin (`queue_instances`).
        2 instance: U16,
        /// Block id.
        4 id: U32,
        /// Descriptors of the file.
        8 descriptors: U32,
        /// Instances that got a run, 0 to n.
        12 instances: U32,
        /// Runs.
        16 runs: U64,
        /// Bytes written to destinations.
        24 bytes: U64,
        /// Completion semaphore; counts only with [`BlockFlags::SEMAPHORE`].
        32 semaphore: U32,
        /// [`BlockFlags`].
        36 flags: U32,
        /// Name of its function, among the lowered records; null for one of the main code.
        40 function: ArenaRef,
        /// What it adds to each hardware instance of its queue, if that is not its [`BlockRec::even_count`]: [`QueueCount`]
        /// records by instance, `num_queues` of them. Small code keeps none: no instruction that it writes needs them.
        48 counts: ArenaRef,
    }

    /// What a block adds to the rings of one hardware instance (staging.md §5.9, §11.7; the record is ours).
    QueueCount: 8 {
        /// Descriptor pairs, and so the increments of the tail of tx and of rx, which are alike (I11).
        0 pairs: U32,
        /// Packets (R33).
        4 packets: U32,
    }

    /// Bytes of a member that go to the device. Sorted by member, so that one pass over the file serves all.
    Feed: 40 {
        /// Member.
        0 member: U32,
        /// What for.
        4 kind: FeedKind,
        /// Subgraph.
        8 core: U16,
        /// Engine number, for programs.
        10 engine: U16,
        /// Index of the [`DMem`](super::DMem) of that core.
        12 block: U32,
        /// First byte within the member.
        16 off: U64,
        /// Bytes.
        24 len: U64,
        /// Padding.
        32 pad: Pad<8>,
    }
}

/// Marks of a [`BlockRec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockFlags;

impl BlockFlags {
    /// It ends with semaphore copies.
    pub const SEMAPHORE: u32 = 1;
    /// Not all that the device does is encoded (R35, R39, R40).
    pub const APPROXIMATE: u32 = 2;
    /// An instruction triggers it.
    pub const TRIGGERED: u32 = 4;
    /// More than one instruction triggers it.
    pub const AGAIN: u32 = 8;
}

impl BlockRec {
    /// True if it has that mark of [`BlockFlags`].
    #[must_use]
    pub const fn is(&self, flag: u32) -> bool {
        self.flags.get() & flag != 0
    }

    /// Completion semaphore.
    #[must_use]
    pub const fn semaphore(&self) -> Option<u32> {
        if self.is(BlockFlags::SEMAPHORE) { Some(self.semaphore.get()) } else { None }
    }

    /// True if not all that the device does is encoded.
    #[must_use]
    pub const fn is_approximate(&self) -> bool {
        self.is(BlockFlags::APPROXIMATE)
    }

    /// What it adds to a hardware instance if every run is one pair and one packet: the runs go round the `rings`
    /// instances, and each of those that got one ends with a semaphore copy, a packet of its own (R9, R33).
    #[must_use]
    pub fn even_count(&self, instance: u32, rings: u32) -> QueueCount {
        let (runs, rings, instance) = (self.runs.get(), u64::from(rings.max(1)), u64::from(instance));
        let rounds = runs.checked_div(rings).unwrap_or(0);
        let more = u64::from(instance < runs.checked_rem(rings).unwrap_or(0));
        let semaphore = u64::from(self.semaphore().is_some() && instance < runs.min(rings));
        let sum = U32::new(
            u32::try_from(rounds.saturating_add(more).saturating_add(semaphore)).unwrap_or(u32::MAX),
        );
        QueueCount { pairs: sum, packets: sum }
    }

    /// One more instruction triggers it.
    pub(in crate::plan) fn mark_trigger(&mut self) {
        let again = if self.is(BlockFlags::TRIGGERED) { BlockFlags::AGAIN } else { 0 };
        self.flags = (self.flags.get() | BlockFlags::TRIGGERED | again).into();
    }
}
