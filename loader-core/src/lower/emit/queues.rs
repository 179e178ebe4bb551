//! Engine blocks, queue records and ring instances (lowering.md §5.3, §5.4).

use super::Emit;
use crate::arch::Engine;
use crate::arena::ArenaRef;
use crate::error::{LowerCode, remark};
use crate::lower::input::{FileIn, Input, QueueIn};
use crate::lower::kbins::behind;
use crate::lower::measure::wide;
use crate::lower::record::{Ap, Blob, BlobKind, Desc, Dim, EngType, EngineHdr, QueueHdr, RingInstHdr};
use crate::manifest::BlockSource;
use zerocopy::little_endian::U32;

/// Bytes of an instruction slot.
const SLOT: u64 = 64;

impl<I: Input> Emit<'_, '_, I> {
    #[inline(never)]
    pub(super) fn engines(&mut self) {
        let headers = self.alloc::<EngineHdr>(5);
        self.blobs = self.alloc::<Blob>(self.counts.blobs);
        let places = (0..).map(|slot| headers.nth::<EngineHdr>(slot).unwrap_or(ArenaRef::NULL));
        self.kbin.engine.iter_mut().zip(places).for_each(|(to, place)| *to = place);
        for (place, engine) in self.kbin.engine.into_iter().zip(Engine::BY_NAME) {
            self.engine(place, engine);
        }
    }

    fn engine(&mut self, place: ArenaRef, engine: Engine) {
        let blob = self.subject.input.engine(self.subject.sg, engine);
        let len = blob.map_or(0, |blob| blob.len);
        if let Some((blob, tail)) = blob.map(|blob| (blob, len % SLOT)).filter(|(_, tail)| *tail != 0) {
            let note = || self.subject.fail(LowerCode::InstrTail).name(engine.key().as_bytes());
            remark(self.notes, || note().member(blob.member).numbers(tail, SLOT));
        }
        let (id, blobs) = (self.blob(BlobKind::INSTR, blob, 0), self.blobs);
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
    pub(super) fn queues(&mut self) {
        let subject = self.subject;
        for ((slot, number), queue) in (0..).zip(0u32..).zip(subject.input.queues(subject.sg)) {
            let place = self.alloc::<QueueHdr>(1);
            let instances = self.alloc::<ArenaRef>(u64::from(queue.instances));
            self.queue(place, &queue, number);
            for instance in 0..queue.instances {
                let at = self.alloc::<RingInstHdr>(1);
                self.put_nth(instances, instance, &at);
                let name = subject.input.instance_name(subject.sg, number, instance).unwrap_or(&[]);
                if let Some(header) = self.get_mut::<RingInstHdr>(at) {
                    header.name.set(name);
                }
            }
            if let Some(to) = self.kbin.dma.get_mut::<usize>(slot) {
                *to = place;
            }
        }
        self.queue_names();
        self.rings();
    }

    fn queue(&mut self, place: ArenaRef, queue: &QueueIn<'_>, number: u32) {
        let note = |code| self.subject.fail(code).name(queue.name);
        if queue.owner.is_none() {
            remark(self.notes, || note(LowerCode::OwnerAssumed));
        }
        let (listed, hardware) = (wide(queue.semaphores.len()), u64::from(queue.num_queues.max(1)));
        if listed > 1 && listed != hardware {
            let note = || note(LowerCode::SemaphoreCount).numbers(listed, hardware);
            remark(self.notes, || note().element(number));
        }
        // A queue without an owner was refused.
        let owner = self.subject.owner(queue).unwrap_or(EngType::NONE);
        let Some(header) = self.get_mut::<QueueHdr>(place) else { return };
        header.ring_type = queue.ring_type;
        header.owner = owner;
        header.queue_set_cnt = U32::new(queue.num_queues);
        header.semaphore_cnt = U32::new(u32::try_from(queue.semaphores.len()).unwrap_or(u32::MAX));
        crate::bytes::copy(&mut header.semaphores, queue.semaphores);
        if let Some(scratch) = queue.scratch {
            header.dge_sb_scratch_addr = U32::new(scratch.offset);
            header.dge_sb_scratch_size = U32::new(scratch.size);
        }
        header.flags = U32::new(flags(queue));
        header.ring_instance_count = U32::new(queue.instances);
    }

    /// Names of queues that their first instance does not carry.
    #[inline(never)]
    fn queue_names(&mut self) {
        let subject = self.subject;
        let mut pool = self.alloc::<u8>(self.counts.queue_names);
        for ((number, place), queue) in (0..).zip(self.kbin.dma).zip(subject.input.queues(subject.sg)) {
            if subject.input.instance_name(subject.sg, number, 0) == Some(queue.name) {
                continue;
            }
            let name = self.pool(&mut pool, queue.name);
            if let Some(header) = self.get_mut::<QueueHdr>(place) {
                header.name = name.off;
            }
        }
    }

    /// Allocates what transfers fill, and tells every instance where its descriptors are: instance by instance
    /// (lowering.md §10.3).
    #[inline(never)]
    fn rings(&mut self) {
        let subject = self.subject;
        let Some(mut lane) = self.lane() else { return };
        lane.descs = self.alloc::<Desc>(self.counts.descs);
        lane.aps = self.alloc::<Ap>(self.counts.aps);
        lane.dims = self.alloc::<Dim>(self.counts.dims);
        lane.extra = self.alloc::<u8>(self.counts.extra);
        self.scratch.set_lane(self.arena, subject.sg, lane);
        let (mut instance, mut first) = (0u32, 0u32);
        for place in self.kbin.dma {
            let queue = self.arena.get::<QueueHdr>(place);
            let refs = behind::<QueueHdr>(place, queue.map_or(0, |queue| queue.ring_instance_count.get()));
            for within in 0..refs.count() {
                let count = |source| subject.input.totals(subject.sg, source, instance).transfers;
                let ndesc = BlockSource::ALL.map(count).into_iter().fold(0, u32::saturating_add);
                let at = refs.nth::<ArenaRef>(within).and_then(|at| self.arena.get::<ArenaRef>(at)).copied();
                if let Some(header) = self.get_mut::<RingInstHdr>(at.unwrap_or(ArenaRef::NULL)) {
                    header.ndesc = U32::new(ndesc);
                    if let Some(descs) = lane.descs.nth::<Desc>(first).filter(|_| ndesc > 0) {
                        header.descs = descs.off;
                    }
                }
                instance = instance.saturating_add(1);
                first = first.saturating_add(ndesc);
            }
        }
    }
}

fn flags(queue: &QueueIn<'_>) -> u32 {
    let bit = |on: bool, flag: u32| if on { flag } else { 0 };
    bit(queue.pinned, QueueHdr::PINNED)
        | bit(queue.dge, QueueHdr::DGE)
        | bit(queue.dynamic, QueueHdr::DYNAMIC)
}
