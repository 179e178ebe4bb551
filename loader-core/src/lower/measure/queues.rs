//! Queues: roles, owners, semaphores, instances, capability limits (lowering.md §5.4).

use super::{Subject, wide};
use crate::arch::Arch;
use crate::error::{Error, LowerCode};
use crate::lower::input::{Input, QueueIn};
use crate::lower::record::{EngType, RingType};

/// Queue slots of a kbin.
pub(crate) const QUEUES: usize = 32;
/// Semaphores of a queue set.
const SEMAPHORES_MOST: u64 = 32;
/// Instances of one queue; the producer stays below (lowering.md §11.7).
pub(crate) const INSTANCES_MOST: u64 = 16;
/// Hardware queues of a file, by the producer's own rule: 11 × 16 (lowering.md X-15).
const HW_QUEUES_MOST: u64 = 176;

/// What the table of queues has shown so far.
#[derive(Default)]
pub(crate) struct Queues<'a> {
    before: Option<&'a [u8]>,
    count: u64,
    dge: u64,
    act_loads: u64,
}

impl<'a, I: Input> Subject<'a, I> {
    pub(crate) fn check_queue_order(
        &self,
        queue: &I::Queue<'a>,
        table: &mut Queues<'a>,
    ) -> Result<(), Error> {
        if table.before.is_some_and(|before| before >= queue.name()) {
            return Err(self.broken("queues come in the order of their names"));
        }
        table.before = Some(queue.name());
        table.count = table.count.saturating_add(1);
        table.dge = table.dge.saturating_add(u64::from(queue.dge()));
        Ok(())
    }

    pub(crate) fn check_queue_table(&self, table: &Queues<'_>) -> Result<(), Error> {
        if table.count > wide(QUEUES) {
            return Err(self.fail(LowerCode::TooManyQueues).numbers(table.count, wide(QUEUES)));
        }
        if table.dge > self.dge_most() {
            return Err(self.fail(LowerCode::TooManyHwDge).numbers(table.dge, self.dge_most()));
        }
        Ok(())
    }

    /// Hardware queues of all sets.
    pub(crate) fn check_hardware(&self, subgraph: &[u8], hardware: u64) -> Result<(), Error> {
        if hardware > HW_QUEUES_MOST {
            let fault = self.fail(LowerCode::TooManyHwQueues).name(subgraph);
            return Err(fault.numbers(hardware, HW_QUEUES_MOST));
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

    /// Checks a queue; gives its owner.
    pub(crate) fn check_queue(&self, queue: &I::Queue<'_>, table: &mut Queues<'_>) -> Result<EngType, Error> {
        let fault = |code| self.fail(code).name(queue.name());
        self.short_name(queue.name())?;
        let semaphores = wide(queue.semaphores().len());
        if !I::CHECKED && semaphores > SEMAPHORES_MOST {
            return Err(fault(LowerCode::TooManySemaphores).numbers(semaphores, SEMAPHORES_MOST));
        }
        let owner = self.owner(queue).ok_or_else(|| fault(LowerCode::BadQueueOwner))?;
        if !I::CHECKED {
            self.check_role(queue)?;
            self.check_act_load(queue, table)?;
        }
        Ok(owner)
    }

    /// What queues of some roles must have, and must not.
    fn check_role(&self, queue: &I::Queue<'_>) -> Result<(), Error> {
        let fault = |code| self.fail(code).name(queue.name());
        let role = match queue.ring_type() {
            RingType::IN => Some("input"),
            RingType::OUT => Some("output"),
            RingType::EMBEDDING_UPDATE => Some("embedding update"),
            _ => None,
        };
        if let Some(role) = role.filter(|_| queue.named_instances()) {
            return Err(fault(LowerCode::QueueInstancesNotAllowed).name2(role.as_bytes()));
        }
        if queue.needs_scratch() && queue.scratch().is_none() {
            return Err(fault(LowerCode::DynamicDmaIncomplete));
        }
        Ok(())
    }

    /// The owner of a queue. Without one: pool for `in` and `out` where legacy files are allowed (X-05, Open).
    fn owner(&self, queue: &I::Queue<'_>) -> Option<EngType> {
        let io = matches!(queue.ring_type(), RingType::IN | RingType::OUT);
        match queue.owner() {
            Some(owner) => owner.engine().map(EngType::from),
            None if io && self.policy.allow_legacy() => Some(EngType::POOL),
            None => None,
        }
    }

    fn check_act_load(&self, queue: &I::Queue<'_>, table: &mut Queues<'_>) -> Result<(), Error> {
        let is_load = queue.ring_type() == RingType::DYNAMIC_ACT_TBL;
        table.act_loads = table.act_loads.saturating_add(u64::from(is_load));
        if is_load && (table.act_loads > 1 || queue.num_queues() != 1) {
            let fault = self.fail(LowerCode::ActLoadQueue).name(queue.name());
            return Err(fault.numbers(table.act_loads, u64::from(queue.num_queues())));
        }
        Ok(())
    }
}
