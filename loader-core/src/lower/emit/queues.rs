//! Engine blocks, queue records and ring instances (lowering.md §5.3, §5.4).

use super::Emit;
use crate::arch::Engine;
use crate::arena::ArenaRef;
use crate::error::{LowerCode, remark};
use crate::lower::input::{FileIn, Input, QueueIn};
use crate::lower::kbins::behind;
use crate::lower::measure::{self, QUEUES};
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
        for (slot, engine) in (0..).zip(Engine::BY_NAME) {
            let place = headers.at::<EngineHdr>(slot);
            self.engine(place, engine);
            if let Some(to) = self.kbin.engine.get_mut(wide(slot)) {
                *to = place;
            }
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
        // Names of queues that their first instance does not carry.
        let mut names = [None; QUEUES];
        let mut number = 0u32;
        for queue in subject.input.queues(subject.sg) {
            let place = self.alloc::<QueueHdr>(1);
            let mut instances = self.alloc::<ArenaRef>(u64::from(queue.instances()));
            self.queue(place, &queue, number);
            for instance in 0..queue.instances() {
                let at = self.alloc::<RingInstHdr>(1);
                let to = self.next::<ArenaRef>(&mut instances);
                self.put(to, &at);
                let name = queue.instance_name(instance).unwrap_or(&[]);
                if let Some(header) = self.get_mut::<RingInstHdr>(at) {
                    header.name.set(name);
                }
                if let Some(slot) =
                    names.get_mut(wide(number)).filter(|_| instance == 0 && name != queue.name())
                {
                    *slot = Some(queue.name());
                }
            }
            if let Some(to) = self.kbin.dma.get_mut(wide(number)) {
                *to = place;
            }
            number = number.saturating_add(1);
        }
        let mut pool = self.alloc::<u8>(self.counts.queue_names);
        for (place, name) in self.kbin.dma.into_iter().zip(names) {
            let Some(name) = name else { continue };
            let kept = self.pool(&mut pool, name);
            if let Some(header) = self.get_mut::<QueueHdr>(place) {
                header.name = kept.off;
            }
        }
        self.rings();
    }

    fn queue(&mut self, place: ArenaRef, queue: &I::Queue<'_>, number: u32) {
        let note = |code| self.subject.fail(code).name(queue.name());
        if queue.owner().is_none() {
            remark(self.notes, || note(LowerCode::OwnerAssumed));
        }
        let (listed, hardware) =
            (measure::wide(queue.semaphores().len()), u64::from(queue.num_queues().max(1)));
        if listed > 1 && listed != hardware {
            let note = || note(LowerCode::SemaphoreCount).numbers(listed, hardware);
            remark(self.notes, || note().element(number));
        }
        // A queue without an owner was refused.
        let owner = self.subject.owner(queue).unwrap_or(EngType::NONE);
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
                let mut ndesc = 0u32;
                for source in BlockSource::ALL {
                    let totals = subject.input.totals(subject.sg, source, instance);
                    ndesc = ndesc.saturating_add(totals.transfers);
                }
                let at = self.arena.get::<ArenaRef>(refs.at::<ArenaRef>(within)).copied();
                if let Some(header) = self.get_mut::<RingInstHdr>(at.unwrap_or(ArenaRef::NULL)) {
                    header.ndesc = U32::new(ndesc);
                    if ndesc > 0 {
                        header.descs = lane.descs.at::<Desc>(first).off;
                    }
                }
                instance = instance.saturating_add(1);
                first = first.saturating_add(ndesc);
            }
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
