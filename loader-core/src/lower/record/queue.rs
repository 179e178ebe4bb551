//! Queue records and ring instances (lowering.md §2.3, §2.4).

use super::enums::{EngType, RingType};
use super::field::Text;
use super::layout::records;
use crate::arena::ArenaRef;
use zerocopy::little_endian::U32;

/// Semaphore slots of a queue record.
pub const QUEUE_SEMAPHORES: usize = 32;

records! {
    /// Header of a queue record; `ring_instance_count` references to [`RingInstHdr`] follow at 296 (Confirmed).
    QueueHdr: 296 {
        /// Kind of its rings.
        0 ring_type: RingType,
        /// Engine that triggers it.
        4 owner: EngType,
        /// Hardware queues of the set (`num_queues`).
        8 queue_set_cnt: U32,
        /// Used entries of `semaphores`.
        12 semaphore_cnt: U32,
        /// Completion semaphores.
        16 semaphores: [U32; 32],
        /// Always 0: no key is known (lowering.md O-07).
        144 pseudo_serialization_semaphore_cnt: U32,
        /// Always 0.
        148 pseudo_serialization_semaphores: [U32; 32],
        /// Scratch of dynamic queues: byte offset in a state-buffer partition.
        276 dge_sb_scratch_addr: U32,
        /// Scratch of dynamic queues: bytes per partition.
        280 dge_sb_scratch_size: U32,
        /// [`QueueHdr::PINNED`], [`QueueHdr::DGE`], [`QueueHdr::DYNAMIC`] (numbering ours, lowering.md O-06).
        284 flags: U32,
        /// References that follow this header.
        288 ring_instance_count: U32,
        /// Arena offset of the queue's NUL-ended name if its first instance is named differently, else 0
        /// (padding in the reference).
        292 name: U32,
    }

    /// Header of a ring instance (Confirmed). In the reference its descriptors follow at 264; here the compact
    /// ones are an array of their own.
    RingInstHdr: 264 {
        /// Instance name.
        0 name: Text<256>,
        /// Descriptors.
        256 ndesc: U32,
        /// Arena offset of the first compact [`Desc`](super::Desc), 0 if there is none (padding in the reference).
        260 descs: U32,
    }
}

impl QueueHdr {
    /// `pinned` queue: state-buffer preload.
    pub const PINNED: u32 = 1;
    /// Hardware descriptor-generation queue.
    pub const DGE: u32 = 2;
    /// Queue with dynamic scratch.
    pub const DYNAMIC: u32 = 4;
}

impl RingInstHdr {
    /// Reference to the compact descriptors.
    #[must_use]
    pub fn desc_ref(&self) -> ArenaRef {
        ArenaRef { off: self.descs, len: self.ndesc }
    }
}
