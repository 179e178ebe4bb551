//! Queues of a kbin, their ring instances, descriptors and access patterns.

use super::KbinView;
use crate::arena::{ArenaRef, Head, Record};
use crate::lower::record::{Ap, BlockTail, Desc, DescFlags, Dim, QueueHdr, RingInstHdr};
use zerocopy::little_endian::U32;

/// One queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueView<'m> {
    head: Head<'m>,
    place: ArenaRef,
    /// Its record.
    pub record: &'m QueueHdr,
    /// Slot in the kbin, which is also the queue's position by name.
    pub slot: usize,
}

/// One ring instance of a queue.
#[derive(Clone, Copy, Debug)]
pub struct InstanceView<'m> {
    head: Head<'m>,
    /// Its record.
    pub record: &'m RingInstHdr,
    /// Position within the queue.
    pub index: usize,
}

/// What the last descriptor of a block says about its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockEnd<'m> {
    /// Completion semaphore.
    pub semaphore: Option<u32>,
    /// Event to set.
    pub event: Option<u32>,
    /// Semaphores of the other core.
    pub remote_semaphores: &'m [U32],
}

/// Records that places refer to; places that are null count, and are left out.
struct Records<'m> {
    head: Head<'m>,
    places: &'m [ArenaRef],
    next: usize,
}

impl<'m> Records<'m> {
    /// The next record with its place and number.
    fn next<T: Record>(&mut self) -> Option<(&'m T, ArenaRef, usize)> {
        loop {
            let (&place, number) = (self.places.get(self.next)?, self.next);
            self.next = number.saturating_add(1);
            if let Some(record) = self.head.get(place) {
                return Some((record, place, number));
            }
        }
    }
}

struct Queues<'m>(Records<'m>);

impl<'m> Iterator for Queues<'m> {
    type Item = QueueView<'m>;

    #[cfg_attr(small, inline(never))]
    fn next(&mut self) -> Option<QueueView<'m>> {
        let (record, place, slot) = self.0.next()?;
        Some(QueueView { head: self.0.head, place, record, slot })
    }
}

struct Instances<'m>(Records<'m>);

impl<'m> Iterator for Instances<'m> {
    type Item = InstanceView<'m>;

    #[cfg_attr(small, inline(never))]
    fn next(&mut self) -> Option<InstanceView<'m>> {
        let (record, _, index) = self.0.next()?;
        Some(InstanceView { head: self.0.head, record, index })
    }
}

impl<'m> KbinView<'m> {
    /// Queues in slot order: by name.
    pub fn queues(&self) -> impl Iterator<Item = QueueView<'m>> + use<'m> {
        Queues(Records { head: self.head, places: &self.kbin.dma, next: 0 })
    }

    /// The queue with that name.
    #[must_use]
    pub fn queue_by_name(&self, name: &[u8]) -> Option<QueueView<'m>> {
        self.queues().find(|queue| queue.name() == name)
    }

    /// The destination of a descriptor.
    #[must_use]
    pub fn to(&self, desc: &Desc) -> Option<&'m Ap> {
        self.head.get(desc.to)
    }

    /// The sources of a descriptor.
    #[must_use]
    pub fn from(&self, desc: &Desc) -> &'m [Ap] {
        self.array(desc.from)
    }

    /// The dimensions of an access pattern, the fastest first.
    #[must_use]
    pub fn dims(&self, ap: &Ap) -> &'m [Dim] {
        self.array(ap.dims)
    }

    /// The extra bytes of a descriptor: an [`FmaExtra`](crate::lower::record::FmaExtra) with its factors, a
    /// [`MinMaxExtra`](crate::lower::record::MinMaxExtra) or a [`TransposeExtra`](crate::lower::record::TransposeExtra).
    #[must_use]
    pub fn extra(&self, desc: &Desc) -> &'m [u8] {
        self.text(desc.extra)
    }

    /// The function name of a descriptor's block; empty if there is none.
    #[must_use]
    pub fn function(&self, desc: &Desc) -> &'m [u8] {
        self.text(desc.fname)
    }

    /// A name among the records of this kbin; empty for a null reference.
    #[must_use]
    pub fn text(&self, place: ArenaRef) -> &'m [u8] {
        self.head().octets(place).unwrap_or(&[])
    }

    /// What happens at the end of the block whose last descriptor this is; `None` for the others.
    #[must_use]
    pub fn block_end(&self, desc: &Desc) -> Option<BlockEnd<'m>> {
        if !desc.ends_block() {
            return None;
        }
        let mut end = BlockEnd { semaphore: None, event: None, remote_semaphores: &[] };
        if desc.flags.has(DescFlags::TAIL) {
            let place = ArenaRef { off: desc.semaphore, len: U32::new(1) };
            let tail: &BlockTail = self.head.get(place)?;
            end.semaphore = Some(tail.semaphore.get()).filter(|_| tail.has_semaphore.get() != 0);
            end.event = tail.event_plus_one.get().checked_sub(1);
            end.remote_semaphores = self.array(super::behind::<BlockTail>(place, tail.count.get()));
        } else if desc.flags.has(DescFlags::SEMAPHORE) {
            end.semaphore = Some(desc.semaphore.get());
        }
        Some(end)
    }
}

impl<'m> QueueView<'m> {
    /// Name of the queue.
    #[must_use]
    pub fn name(&self) -> &'m [u8] {
        let off = self.record.name;
        if off.get() == 0 {
            return self.instances().next().map_or(&[], |first| first.name());
        }
        self.head.text(off).unwrap_or(&[])
    }

    /// Ring instances in order.
    pub fn instances(&self) -> impl Iterator<Item = InstanceView<'m>> + use<'m> {
        let head = self.head;
        let places = super::behind::<QueueHdr>(self.place, self.record.ring_instance_count.get());
        Instances(Records { head, places: head.slice(places).unwrap_or(&[]), next: 0 })
    }

    /// Completion semaphores of the set.
    #[must_use]
    pub fn semaphores(&self) -> &'m [U32] {
        let count = usize::try_from(self.record.semaphore_cnt.get()).unwrap_or(0);
        self.record.semaphores.get(..count).unwrap_or(&[])
    }

    /// Hardware queues of the set (`num_queues`), at least 1: how many ring pairs an instance becomes (R9).
    #[must_use]
    pub fn rings(&self) -> u32 {
        self.record.queue_set_cnt.get().max(1)
    }
}

impl<'m> InstanceView<'m> {
    /// Name of the instance, as trigger instructions spell it.
    #[must_use]
    pub fn name(&self) -> &'m [u8] {
        self.record.name.as_bytes()
    }

    /// Its descriptors in program order: blocks one after the other.
    #[must_use]
    pub fn descs(&self) -> &'m [Desc] {
        self.head.slice(self.record.desc_ref()).unwrap_or(&[])
    }

    /// Its descriptors cut into blocks, each ending with its `BLOCK_END`.
    pub fn blocks(&self) -> impl Iterator<Item = &'m [Desc]> + use<'m> {
        let mut rest = self.descs();
        core::iter::from_fn(move || {
            let end = rest.iter().position(Desc::ends_block).map_or(rest.len(), |at| at.saturating_add(1));
            let (block, after) = crate::bytes::split(rest, end);
            rest = after;
            (!block.is_empty()).then_some(block)
        })
    }
}
