//! A queue set of a subgraph, as its `dma_queue` entry says (manifests.md §8).

use super::class::{Fabric, Role};
use super::record::{QueueRecord, Text, queue_flag, wide};
use super::table::Table;
use crate::arch::Engine;
use crate::arena::Tail;
use zerocopy::little_endian::U32;

/// Scratch of a `dynamic_dma` queue in each partition of the state buffer (R12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scratch {
    /// `SB_scratch_partition_offset`, bytes.
    pub offset: u32,
    /// `SB_scratch_partition_size`, bytes.
    pub size: u32,
}

/// One queue set.
#[derive(Clone, Copy, Debug)]
pub struct Queue<'m> {
    /// The key of its entry.
    pub name: &'m [u8],
    /// `type`.
    pub role: Role,
    /// Engine that triggers it, if given.
    pub owner: Option<Engine>,
    /// Hardware queues of the set, 1 to 16.
    pub num_queues: u32,
    /// `semaphore` (one) or `semaphore_set`; at most 32.
    pub semaphores: &'m [U32],
    /// `fabric_path`.
    pub fabric: Fabric,
    /// `pinned`.
    pub pinned: bool,
    /// `dge`: hardware descriptor generation.
    pub dge: bool,
    /// `indirect_memcpy`.
    pub indirect_memcpy: bool,
    /// `dynamic_dma`.
    pub dynamic: Option<Scratch>,
    /// `embedding_update_sync_semaphore`.
    pub embedding_semaphore: Option<u32>,
    /// First of its instances in the definition's flat numbering ([`super::Definition::totals`]).
    pub first_instance: u32,
    /// Number of its instances, at least 1.
    pub instances: u32,
    /// Whether `queue_instances` is present.
    pub named_instances: bool,
    tail: Tail<'m>,
    names: &'m Table,
    first_name: u32,
}

impl<'m> Queue<'m> {
    pub(crate) fn new(tail: Tail<'m>, names: &'m Table, record: &'m QueueRecord) -> Option<Self> {
        let has = |flag| record.flags & flag != 0;
        let scratch = Scratch { offset: record.scratch_offset.get(), size: record.scratch_size.get() };
        Some(Self {
            name: record.name.get(tail),
            role: Role::ALL.get(usize::from(record.role)).copied()?,
            owner: Engine::from_number(u32::from(record.owner)),
            num_queues: record.num_queues.get(),
            semaphores: record.semaphores.get(..wide(record.semaphore_count))?,
            fabric: Fabric::ALL.get(usize::from(record.fabric)).copied()?,
            pinned: has(queue_flag::PINNED),
            dge: has(queue_flag::DGE),
            indirect_memcpy: has(queue_flag::INDIRECT),
            dynamic: has(queue_flag::DYNAMIC).then_some(scratch),
            embedding_semaphore: has(queue_flag::EMBEDDING).then(|| record.embedding_semaphore.get()),
            first_instance: record.first_instance.get(),
            instances: record.instances.get(),
            named_instances: has(queue_flag::INSTANCES),
            tail,
            names,
            first_name: record.first_name.get(),
        })
    }

    /// Ring type number (manifests.md §8.2).
    #[must_use]
    pub const fn ring_type(&self) -> u32 {
        self.role.ring_type(self.indirect_memcpy)
    }

    /// Name of instance `index`: from `queue_instances`, else the set's own for instance 0.
    #[must_use]
    pub fn instance_name(&self, index: u32) -> Option<&'m [u8]> {
        if !self.named_instances {
            return (index == 0).then_some(self.name);
        }
        let at = self.first_name.checked_add(index).filter(|_| index < self.instances)?;
        Some(self.names.get::<Text>(self.tail, at)?.get(self.tail))
    }
}
