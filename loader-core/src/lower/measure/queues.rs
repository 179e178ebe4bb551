//! Queues: roles, owners, semaphores, instances, capability limits (lowering.md §5.4).

use super::{Subject, wide};
use crate::arch::Arch;
use crate::error::{Error, LowerCode};
use crate::lower::dims::{Counts, add, one_more};
use crate::lower::input::{Input, QueueIn};
use crate::lower::record::{EngType, RingType};

/// Queue slots of a kbin.
pub(crate) const QUEUES: usize = 32;
/// Semaphores of a queue set.
const SEMAPHORES_MOST: u64 = 32;
/// Instances of one queue; the producer stays below (lowering.md §11.7).
const INSTANCES_MOST: u64 = 16;
/// Hardware queues of a file, by the producer's own rule: 11 × 16 (lowering.md X-15).
const HW_QUEUES_MOST: u64 = 176;

/// What the table of queues has shown so far.
#[derive(Default)]
struct Queues<'a> {
    before: Option<&'a [u8]>,
    dge: u64,
    act_loads: u64,
}

impl<'a, I: Input> Subject<'a, I> {
    #[inline(never)]
    pub(super) fn count_queues(&self, counts: &mut Counts) -> Result<(), Error> {
        let (mut hardware, mut table) = (0u64, Queues::default());
        for queue in self.input.queues(self.sg) {
            let index = u32::try_from(counts.queues).unwrap_or(u32::MAX);
            one_more(&mut counts.queues);
            self.check_queue_order(&queue, &mut table)?;
            self.count_queue(&queue, index, &mut table, counts).map_err(|error| error.element(index))?;
            let rings = u64::from(queue.num_queues.max(1)).saturating_mul(u64::from(queue.instances));
            add(&mut hardware, rings);
        }
        self.check_queue_table(&table, counts.queues)?;
        if hardware > HW_QUEUES_MOST {
            let name = self.subgraph()?.name;
            return Err(self.fail(LowerCode::TooManyHwQueues).name(name).numbers(hardware, HW_QUEUES_MOST));
        }
        Ok(())
    }

    fn count_queue(
        &self,
        queue: &QueueIn<'a>,
        index: u32,
        table: &mut Queues<'_>,
        counts: &mut Counts,
    ) -> Result<(), Error> {
        self.check_queue(queue)?;
        self.check_act_load(queue, table)?;
        self.count_instances(queue, index, counts)
    }

    fn check_queue_order(&self, queue: &QueueIn<'a>, table: &mut Queues<'a>) -> Result<(), Error> {
        if !I::CHECKED && table.before.is_some_and(|before| before >= queue.name) {
            return Err(self.broken("queues come in the order of their names"));
        }
        table.before = Some(queue.name);
        table.dge = table.dge.saturating_add(u64::from(queue.dge));
        Ok(())
    }

    fn check_queue_table(&self, table: &Queues<'_>, count: u64) -> Result<(), Error> {
        if !I::CHECKED && count > wide(QUEUES) {
            return Err(self.fail(LowerCode::TooManyQueues).numbers(count, wide(QUEUES)));
        }
        if !I::CHECKED && table.dge > self.dge_most() {
            return Err(self.fail(LowerCode::TooManyHwDge).numbers(table.dge, self.dge_most()));
        }
        Ok(())
    }

    /// Hardware descriptor-generation queues (lowering.md §3.9).
    fn dge_most(&self) -> u64 {
        match self.arch() {
            Some(Arch::Sunda) => 0,
            Some(Arch::Cayman | Arch::Mariana) | None => 2,
        }
    }

    fn check_queue(&self, queue: &QueueIn<'_>) -> Result<(), Error> {
        let fault = |code| self.fail(code).name(queue.name);
        self.short_name(queue.name)?;
        let semaphores = wide(queue.semaphores.len());
        if !I::CHECKED && semaphores > SEMAPHORES_MOST {
            return Err(fault(LowerCode::TooManySemaphores).numbers(semaphores, SEMAPHORES_MOST));
        }
        if self.owner(queue).is_none() {
            return Err(fault(LowerCode::BadQueueOwner));
        }
        if I::CHECKED {
            return Ok(());
        }
        let role = match queue.ring_type {
            RingType::IN => Some("input"),
            RingType::OUT => Some("output"),
            RingType::EMBEDDING_UPDATE => Some("embedding update"),
            _ => None,
        };
        if let Some(role) = role.filter(|_| queue.named_instances) {
            return Err(fault(LowerCode::QueueInstancesNotAllowed).name2(role.as_bytes()));
        }
        if queue.needs_scratch && queue.scratch.is_none() {
            return Err(fault(LowerCode::DynamicDmaIncomplete));
        }
        Ok(())
    }

    /// The owner of a queue. Without one: pool for `in` and `out` where legacy files are allowed (X-05, Open).
    pub(crate) fn owner(&self, queue: &QueueIn<'_>) -> Option<EngType> {
        let io = matches!(queue.ring_type, RingType::IN | RingType::OUT);
        match queue.owner {
            Some(owner) => owner.engine().map(EngType::from),
            None if io && self.policy.allow_legacy() => Some(EngType::POOL),
            None => None,
        }
    }

    fn check_act_load(&self, queue: &QueueIn<'_>, table: &mut Queues<'_>) -> Result<(), Error> {
        let is_load = queue.ring_type == RingType::DYNAMIC_ACT_TBL;
        table.act_loads = table.act_loads.saturating_add(u64::from(is_load));
        if !I::CHECKED && is_load && (table.act_loads > 1 || queue.num_queues != 1) {
            let fault = self.fail(LowerCode::ActLoadQueue).name(queue.name);
            return Err(fault.numbers(table.act_loads, u64::from(queue.num_queues)));
        }
        Ok(())
    }

    fn count_instances(&self, queue: &QueueIn<'_>, index: u32, counts: &mut Counts) -> Result<(), Error> {
        self.limit("instances of a queue", u64::from(queue.instances), INSTANCES_MOST)?;
        let next = u64::from(queue.first_instance) == counts.instances;
        if !I::CHECKED && (!next || queue.instances == 0) {
            return Err(self.broken("instances are numbered through all queues"));
        }
        for instance in 0..queue.instances {
            let name = self.input.instance_name(self.sg, index, instance);
            let name = name.ok_or_else(|| self.broken("an instance has no name"))?;
            self.short_name(name)?;
            if instance == 0 && name != queue.name {
                add(&mut counts.queue_names, wide(queue.name.len()).saturating_add(1));
            }
        }
        add(&mut counts.instances, u64::from(queue.instances));
        Ok(())
    }
}
