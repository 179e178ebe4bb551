//! Engine blocks, queue records and ring instances (lowering.md §5.3, §5.4).

use super::Emit;
use super::lanes::Lane;
use super::pools::Pool;
use crate::arch::Engine;
use crate::arena::ArenaRef;
use crate::error::{Error, LowerCode, remark};
use crate::lower::input::{BlobIn, FileIn, Input, QueueIn, Subgraph};
use crate::lower::kbins::behind;
use crate::lower::measure::{self, INSTANCES_MOST};
use crate::lower::record::{Ap, BlobKind, Desc, Dim, EngType, EngineHdr, QueueHdr, RingInstHdr};
use crate::manifest::BlockSource;
use zerocopy::little_endian::U32;

/// Bytes of an instruction slot.
const SLOT: u64 = 64;

impl<I: Input> Emit<'_, '_, I> {
    #[inline(never)]
    pub(super) fn engines(&mut self) -> Result<(), Error> {
        self.subject.check_engines()?;
        let headers = self.alloc::<EngineHdr>(5);
        self.open(Pool::Blobs);
        for (slot, &engine) in (0..).zip(&Engine::BY_NAME) {
            let place = headers.at::<EngineHdr>(slot);
            self.engine(place, engine);
            if let Some(to) = self.kbin.engine.get_mut(wide(slot)) {
                *to = place;
            }
        }
        Ok(())
    }

    fn engine(&mut self, place: ArenaRef, engine: Engine) {
        let blob = self.subject.input.engine(self.subject.sg, engine).unwrap_or(BlobIn::NONE);
        let (len, tail) = (blob.len, blob.len % SLOT);
        if tail != 0 {
            let note = || self.subject.fail(LowerCode::InstrTail).name(engine.key().as_bytes());
            remark(self.notes, || note().member(blob.member).numbers(tail, SLOT));
        }
        let (id, blobs) = (self.blob(BlobKind::INSTR, blob, 0), self.room(Pool::Blobs));
        let files = [FileIn::DEFINITION, FileIn::Part(BlockSource::Engine(engine))];
        let [definition, file] = files.map(|file| self.file(file));
        let Some(header) = self.get_mut::<EngineHdr>(place) else { return };
        header.eng_type = engine.into();
        header.name.set(engine.key().as_bytes());
        header.ninstr = U32::new(u32::try_from(len >> 6).unwrap_or(u32::MAX));
        (header.blob, header.blobs) = (id, blobs);
        (header.definition_plus_one, header.file_plus_one) = (definition, file);
    }

    /// Number of the member that a manifest is, plus one; 0 if it is none.
    fn file(&self, file: FileIn) -> U32 {
        let member = self.subject.input.file(self.subject.sg, file);
        U32::new(member.map_or(0, |member| member.0.saturating_add(1)))
    }

    #[inline(never)]
    pub(super) fn queues(&mut self, subgraph: &Subgraph<'_>) -> Result<(), Error> {
        let subject = self.subject;
        let (mut hardware, mut table) = (0u64, Default::default());
        for (number, queue) in (0..).zip(subject.input.queues(subject.sg)) {
            if !I::CHECKED {
                subject.check_queue_order(&queue, &mut table)?;
            }
            let checked = subject.check_queue(&queue, &mut table);
            let emitted = checked.and_then(|owner| self.queue(&queue, owner, number));
            emitted.map_err(|error| error.element(number))?;
            let rings = u64::from(queue.num_queues().max(1)).saturating_mul(u64::from(queue.instances()));
            hardware = hardware.saturating_add(rings);
        }
        if !I::CHECKED {
            subject.check_queue_table(&table)?;
        }
        subject.check_hardware(subgraph.name, hardware)?;
        self.rings();
        Ok(())
    }

    /// The record of a queue, and its instances.
    fn queue(&mut self, queue: &I::Queue<'_>, owner: EngType, number: u32) -> Result<(), Error> {
        let subject = self.subject;
        let place = self.alloc::<QueueHdr>(1);
        let instances = self.alloc::<ArenaRef>(queue.instances());
        self.header(place, queue, owner, number);
        subject.limit("instances of a queue", u64::from(queue.instances()), INSTANCES_MOST)?;
        if !I::CHECKED && (queue.first_instance() != self.found.instances || queue.instances() == 0) {
            return Err(subject.broken("instances are numbered through all queues"));
        }
        for instance in 0..queue.instances() {
            let name = queue.instance_name(instance);
            let name = name.ok_or_else(|| subject.broken("an instance has no name"))?;
            subject.short_name(name)?;
            let at = self.alloc::<RingInstHdr>(1);
            self.put_nth(instances, instance, &at);
            if let Some(header) = self.get_mut::<RingInstHdr>(at) {
                header.name.set(name);
            }
        }
        self.found.instances = self.found.instances.saturating_add(queue.instances());
        if let Some(to) = self.kbin.dma.get_mut(wide(number)) {
            *to = place;
        }
        Ok(())
    }

    fn header(&mut self, place: ArenaRef, queue: &I::Queue<'_>, owner: EngType, number: u32) {
        let note = |code| self.subject.fail(code).name(queue.name());
        if queue.owner().is_none() {
            remark(self.notes, || note(LowerCode::OwnerAssumed));
        }
        let listed = measure::wide(queue.semaphores().len());
        let hardware = u64::from(queue.num_queues().max(1));
        if listed > 1 && listed != hardware {
            let note = || note(LowerCode::SemaphoreCount).numbers(listed, hardware);
            remark(self.notes, || note().element(number));
        }
        let Some(header) = self.get_mut::<QueueHdr>(place) else { return };
        header.ring_type = queue.ring_type();
        header.owner = owner;
        header.queue_set_cnt = U32::new(queue.num_queues());
        header.semaphore_cnt = U32::new(u32::try_from(queue.semaphores().len()).unwrap_or(u32::MAX));
        crate::bytes::copy(&mut header.semaphores, queue.semaphores());
        if let Some(scratch) = queue.scratch() {
            header.dge_sb_scratch_addr = U32::new(scratch.offset);
            header.dge_sb_scratch_size = U32::new(scratch.size);
        }
        header.flags = U32::new(flags(queue));
        header.ring_instance_count = U32::new(queue.instances());
    }

    /// Allocates what transfers fill, and tells every instance where its descriptors are: instance by instance
    /// (lowering.md §10.3). Names of queues that their first instance does not carry stand before.
    #[inline(never)]
    fn rings(&mut self) {
        let subject = self.subject;
        self.open(Pool::QueueNames);
        self.lane = Lane::take(self.arena, self.found.instances);
        let all = self.rewind();
        self.lane.descs = self.alloc::<Desc>(all.desc.get());
        self.lane.aps = self.alloc::<Ap>(all.ap.get());
        self.lane.dims = self.alloc::<Dim>(all.dim.get());
        self.lane.extra = self.alloc::<u8>(all.extra.get());
        self.found.descs = all.desc.get();
        self.scratch.set_lane(self.arena, subject.sg, self.lane);
        let (mut instance, mut first) = (0u32, 0u32);
        for number in 0.. {
            let Some(queue) = subject.input.queue(subject.sg, number) else { break };
            let Some(&place) = self.kbin.dma.get(wide(number)) else { break };
            if queue.instance_name(0) != Some(queue.name()) {
                let name = self.name(Pool::QueueNames, queue.name()).off;
                if let Some(header) = self.get_mut::<QueueHdr>(place) {
                    header.name = name;
                }
            }
            let refs = behind::<QueueHdr>(place, queue.instances());
            for within in 0..refs.count() {
                instance = instance.saturating_add(1);
                let next = self.start(instance).unwrap_or(all.desc.get());
                self.ring(refs.at::<ArenaRef>(within), first, next);
                first = next;
            }
        }
    }

    /// Tells an instance where its descriptors start and end.
    fn ring(&mut self, place: ArenaRef, first: u32, end: u32) {
        let descs = self.lane.descs.at::<Desc>(first).off;
        let at = self.arena.get::<ArenaRef>(place).copied().unwrap_or(ArenaRef::NULL);
        let Some(header) = self.get_mut::<RingInstHdr>(at) else { return };
        header.ndesc = U32::new(end.saturating_sub(first));
        if end > first {
            header.descs = descs;
        }
    }
}

fn flags<'a>(queue: &impl QueueIn<'a>) -> u32 {
    let bit = |on: bool, flag: u32| if on { flag } else { 0 };
    bit(queue.pinned(), QueueHdr::PINNED)
        | bit(queue.dge(), QueueHdr::DGE)
        | bit(queue.dynamic(), QueueHdr::DYNAMIC)
}

fn wide(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
