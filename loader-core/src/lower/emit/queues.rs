//! Engine blocks, queue records and ring instances (lowering.md §5.3, §5.4).

use super::Emit;
use super::lanes::Scratch;
use crate::arch::Engine;
use crate::arena::ArenaRef;
use crate::error::{Error, LowerCode};
use crate::lower::input::{FileIn, Input, QueueIn};
use crate::lower::measure::wide;
use crate::lower::record::{Ap, Blob, BlobKind, Desc, Dim, EngineHdr, Kbin, QueueHdr, RingInstHdr, Text};
use crate::manifest::BlockSource;
use zerocopy::little_endian::U32;

/// Bytes of an instruction slot.
const SLOT: u64 = 64;

impl<I: Input> Emit<'_, '_, I> {
    #[inline(never)]
    pub(super) fn engines(&mut self, kbin: &mut Kbin) -> Result<(), Error> {
        let headers = self.alloc::<EngineHdr>(5)?;
        self.blobs = self.alloc::<Blob>(self.counts.blobs)?;
        for (slot, engine) in (0..).zip(Engine::BY_NAME) {
            let header = self.engine(engine)?;
            self.put_nth(headers, slot, header)?;
            if let (Some(to), Some(place)) =
                (kbin.engine.get_mut(index(slot)), headers.nth::<EngineHdr>(slot))
            {
                *to = place;
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn engine(&mut self, engine: Engine) -> Result<EngineHdr, Error> {
        let blob = self.subject.input.engine(self.subject.sg, engine);
        let len = blob.map_or(0, |blob| blob.len);
        let tail = len % SLOT;
        if tail != 0 {
            let note = self.subject.fail(LowerCode::InstrTail).name(engine.key().as_bytes());
            let note = blob.map_or(note, |blob| note.member(blob.member));
            self.notes.note(note.numbers(tail, SLOT));
        }
        Ok(EngineHdr {
            eng_type: engine.into(),
            name: Text::new(engine.key().as_bytes()).unwrap_or_default(),
            ninstr: U32::new(u32::try_from(len >> 6).unwrap_or(u32::MAX)),
            blob: self.blob(BlobKind::INSTR, blob, 0)?,
            blobs: self.blobs,
            definition_plus_one: self.file(FileIn::DEFINITION),
            file_plus_one: self.file(FileIn::Part(BlockSource::Engine(engine))),
            ..EngineHdr::default()
        })
    }

    /// Number of the member that a manifest is, plus one; 0 if it is none.
    fn file(&self, file: FileIn) -> U32 {
        let member = self.subject.input.file(self.subject.sg, file);
        U32::new(member.map_or(0, |member| member.0.saturating_add(1)))
    }

    pub(super) fn queues(&mut self, kbin: &mut Kbin) -> Result<(), Error> {
        let subject = self.subject;
        for ((number, slot), queue) in (0..).zip(&mut kbin.dma).zip(subject.input.queues(subject.sg)) {
            let place = self.alloc::<QueueHdr>(1)?;
            let instances = self.alloc::<ArenaRef>(u64::from(queue.instances))?;
            let header = self.queue(&queue, number)?;
            self.put(place, header)?;
            for instance in 0..queue.instances {
                let at = self.alloc::<RingInstHdr>(1)?;
                self.put_nth(instances, instance, at)?;
                let name = subject.input.instance_name(subject.sg, number, instance).unwrap_or(&[]);
                let name = Text::new(name).map_err(|_| subject.broken("an instance name is too long"))?;
                self.put(at, RingInstHdr { name, ..RingInstHdr::default() })?;
            }
            *slot = place;
        }
        self.queue_names(kbin)?;
        self.rings(kbin)
    }

    fn queue(&mut self, queue: &QueueIn<'_>, number: u32) -> Result<QueueHdr, Error> {
        let owner = self.subject.owner(queue).ok_or_else(|| self.subject.broken("a queue has no owner"))?;
        if queue.owner.is_none() {
            self.notes.note(self.subject.fail(LowerCode::OwnerAssumed).name(queue.name));
        }
        let (listed, hardware) = (wide(queue.semaphores.len()), u64::from(queue.num_queues.max(1)));
        if listed > 1 && listed != hardware {
            let note = self.subject.fail(LowerCode::SemaphoreCount).name(queue.name);
            self.notes.note(note.numbers(listed, hardware).element(number));
        }
        let mut header = QueueHdr {
            ring_type: queue.ring_type,
            owner,
            queue_set_cnt: U32::new(queue.num_queues),
            semaphore_cnt: U32::new(u32::try_from(queue.semaphores.len()).unwrap_or(u32::MAX)),
            dge_sb_scratch_addr: U32::new(queue.scratch.map_or(0, |scratch| scratch.offset)),
            dge_sb_scratch_size: U32::new(queue.scratch.map_or(0, |scratch| scratch.size)),
            flags: U32::new(flags(queue)),
            ring_instance_count: U32::new(queue.instances),
            ..QueueHdr::default()
        };
        for (slot, semaphore) in header.semaphores.iter_mut().zip(queue.semaphores) {
            *slot = *semaphore;
        }
        Ok(header)
    }

    /// Names of queues that their first instance does not carry.
    #[inline(never)]
    fn queue_names(&mut self, kbin: &Kbin) -> Result<(), Error> {
        let subject = self.subject;
        let pool = self.alloc::<u8>(self.counts.queue_names)?;
        let mut used = 0u32;
        for ((number, place), queue) in (0..).zip(kbin.dma).zip(subject.input.queues(subject.sg)) {
            if subject.input.instance_name(subject.sg, number, 0) == Some(queue.name) {
                continue;
            }
            let off = pool.off.get().saturating_add(used);
            let start = index(used);
            let end = start.saturating_add(queue.name.len());
            let slot = self.arena.slice_mut::<u8>(pool).and_then(|pool| pool.get_mut(start..end));
            crate::bytes::copy(slot.ok_or_else(|| subject.broken("a queue name has no place"))?, queue.name);
            used = u32::try_from(end).unwrap_or(u32::MAX).saturating_add(1);
            let broken = || subject.broken("a queue has no record");
            self.arena.get_mut::<QueueHdr>(place).ok_or_else(broken)?.name = U32::new(off);
        }
        Ok(())
    }

    /// Allocates what transfers fill, and tells every instance where its descriptors are.
    #[inline(never)]
    fn rings(&mut self, kbin: &Kbin) -> Result<(), Error> {
        let subject = self.subject;
        let broken = || subject.broken("scratch has no place");
        let mut lane = self.scratch.lane(self.arena, subject.sg).ok_or_else(broken)?;
        lane.descs = self.alloc::<Desc>(self.counts.descs)?;
        lane.aps = self.alloc::<Ap>(self.counts.aps)?;
        lane.dims = self.alloc::<Dim>(self.counts.dims)?;
        lane.extra = self.alloc::<u8>(self.counts.extra)?;
        self.scratch.set_lane(self.arena, subject.sg, lane);
        let descs = lane.descs;
        let end = Scratch::rewind(self.arena, &subject, &lane, |_, _, _| Ok(()))?;
        let mut instance = 0;
        for place in kbin.dma {
            let Some(count) = self.arena.get::<QueueHdr>(place).map(|queue| queue.ring_instance_count.get())
            else {
                break;
            };
            let refs = crate::lower::kbins::behind::<QueueHdr>(place, count);
            for within in 0..count {
                let first = self.start(&lane, instance, end.desc.get())?;
                let next = self.start(&lane, instance.saturating_add(1), end.desc.get())?;
                instance = instance.saturating_add(1);
                let at = refs.nth::<ArenaRef>(within).and_then(|at| self.arena.get::<ArenaRef>(at)).copied();
                let header = at.and_then(|at| self.arena.get_mut::<RingInstHdr>(at)).ok_or_else(broken)?;
                header.ndesc = U32::new(next.saturating_sub(first));
                if header.ndesc.get() > 0 {
                    header.descs = descs.nth::<Desc>(first).ok_or_else(broken)?.off;
                }
            }
        }
        Ok(())
    }

    /// Number of the first descriptor of an instance.
    fn start(&mut self, lane: &super::lanes::Lane, instance: u32, end: u32) -> Result<u32, Error> {
        let Some(first) = crate::manifest::BlockSource::ALL.first().copied() else { return Ok(0) };
        if instance >= lane.instances.get() {
            return Ok(end);
        }
        let at = lane.cursor(first, instance);
        let cursors = self.tail::<super::lanes::Cursor>(lane.cursors, lane.count())?;
        Ok(cursors.get(at).map_or(0, |cursor| cursor.desc.get()))
    }
}

fn flags(queue: &QueueIn<'_>) -> u32 {
    let bit = |on: bool, flag: u32| if on { flag } else { 0 };
    bit(queue.pinned, QueueHdr::PINNED)
        | bit(queue.dge, QueueHdr::DGE)
        | bit(queue.dynamic, QueueHdr::DYNAMIC)
}

fn index(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
