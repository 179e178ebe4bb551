//! DMA engines and queues as requests see them (driver-abi.md §7.11).

use super::dispatch::{Call, Fail, Reply, fail};
use super::fault::{Action, When};
use super::memory::Memory;
use super::violation::What;
use crate::abi::errno::{E2BIG, EACCES, EFBIG, EINVAL, EPERM};
use crate::abi::record::{
    DmaAckCompleted, DmaDescriptorCopyout, DmaEngGetState, DmaEngSetState, DmaEngState, DmaQueueCopyStart,
    DmaQueueGetState, DmaQueueInit, DmaQueueInitBatch, DmaQueueState, Record as _,
};
use crate::abi::value::{
    MAX_BATCH, MAX_DMA_ENGINES, MAX_RING, MIN_RING, QUEUES_PER_ENGINE, RING_ALIGN, RING_STEP, queue_type,
};
use alloc::boxed::Box;
use loader_core::device::Place;
use zerocopy::IntoBytes as _;

/// Engine states (§5).
pub(super) const IDLE: u32 = 1;
pub(super) const NORMAL: u32 = 2;
pub(super) const ABORT: u32 = 3;

/// One side of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ring {
    pub(super) base: u64,
    pub(super) count: u32,
    pub(super) head: u32,
    pub(super) tail: u32,
    /// Entries between head and tail.
    pub(super) pending: u32,
    /// Lap: starts at 1, counts modulo 4.
    pub(super) lap: u32,
    pub(super) has_chunk: bool,
}

impl Ring {
    pub(super) const fn new(base: u64, count: u32) -> Self {
        Self { base, count, head: 0, tail: 0, pending: 0, lap: 1, has_chunk: base != 0 }
    }

    /// Address of the entry at the head.
    pub(super) const fn entry(&self) -> u64 {
        self.base + 16 * self.head as u64
    }

    /// Goes past the head.
    pub(super) const fn step(&mut self) {
        self.pending = self.pending.saturating_sub(1);
        self.head += 1;
        if self.head >= self.count {
            self.head = 0;
            self.lap = (self.lap + 1) % 4;
        }
    }

    const fn push(&mut self, count: u32) {
        self.pending += count;
        if self.count > 0 {
            self.tail = (self.tail + count) % self.count;
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Queue {
    pub(super) owner: u32,
    pub(super) tx: Ring,
    pub(super) rx: Ring,
}

#[derive(Clone, Debug)]
pub(super) struct Engine {
    pub(super) state: u32,
    pub(super) queues: [Queue; QUEUES_PER_ENGINE as usize],
}

impl Default for Engine {
    fn default() -> Self {
        Self { state: IDLE, queues: [Queue::default(); QUEUES_PER_ENGINE as usize] }
    }
}

impl Engine {
    /// A reset of the core: nothing is programmed any more; who programmed it last stays known.
    pub(super) fn forget(&mut self) {
        self.state = IDLE;
        for queue in &mut self.queues {
            (queue.tx, queue.rx) = (Ring::default(), Ring::default());
        }
    }
}

/// The errno of a ring whose count the hardware does not take.
const fn count_fits(count: u32) -> Result<(), Fail> {
    if count < MIN_RING || count > MAX_RING { fail(EINVAL) } else { Ok(()) }
}

impl<M: Memory> Call<'_, M> {
    fn engine(&mut self, engine: u32) -> Result<&mut Engine, Fail> {
        let bounded = engine < MAX_DMA_ENGINES;
        self.device_mut().engines.get_mut(engine as usize).filter(|_| bounded).ok_or(Fail::errno(EINVAL))
    }

    fn queue(&mut self, engine: u32, queue: u32) -> Result<&mut Queue, Fail> {
        self.engine(engine)?.queues.get_mut(queue as usize).ok_or(Fail::errno(EINVAL))
    }

    /// The ring that a handle names: zero and unknown handles are a ring at address 0.
    fn ring(&mut self, handle: u64, count: u32) -> Result<Ring, Fail> {
        if handle == 0 {
            return Ok(Ring::new(0, count));
        }
        let Some(chunk) = self.device().chunk_of(handle).copied() else {
            self.violation(What::ForeignHandle)?;
            return Ok(Ring::new(0, count));
        };
        if u64::from(count) * 16 > chunk.bytes {
            self.violation(What::RingBeyondChunk)?;
        }
        Ok(Ring::new(chunk.base, count))
    }

    fn init_queue(&mut self, raw: &DmaQueueInit) -> Reply {
        let (engine, number) = (raw.eng_id.get(), raw.qid.get());
        let tgid = self.caller.tgid;
        self.queue(engine, number)?.owner = tgid;
        if engine < 16 * u32::from(crate::map::cores(self.driver.config.arch)) {
            self.claimed(engine / 16)?;
        }
        let (tx_count, rx_count) = (raw.tx_desc_count.get(), raw.rx_desc_count.get());
        let completion = raw.rxc_handle.get();
        if let Some(chunk) = self.device().chunk_of(completion)
            && u64::from(rx_count) * 16 > chunk.bytes
        {
            return fail(EINVAL);
        }
        let tx = self.ring(raw.tx_handle.get(), tx_count)?;
        let rx = self.ring(raw.rx_handle.get(), rx_count)?;
        let aligned = tx.base % RING_ALIGN == 0 && rx.base % RING_ALIGN == 0;
        let stepped = tx_count % RING_STEP == 0 && rx_count % RING_STEP == 0;
        if !aligned || !stepped || completion != 0 {
            return fail(EPERM);
        }
        count_fits(tx_count)?;
        self.queue(engine, number)?.tx = tx;
        count_fits(rx_count)?;
        self.queue(engine, number)?.rx = rx;
        Ok(0)
    }

    pub(super) fn queue_init(&mut self) -> Reply {
        let raw: DmaQueueInit = self.arg().map_err(|_| Fail::errno(EACCES))?;
        self.note("engine", u64::from(raw.eng_id.get()));
        self.note("queue", u64::from(raw.qid.get()));
        self.init_queue(&raw)
    }

    pub(super) fn queue_init_batch(&mut self) -> Reply {
        // 12 KiB: on the heap, as the kernel's stack would not like it either.
        let mut raw = Box::<DmaQueueInitBatch>::default();
        if self.user.read(self.arg, raw.as_mut_bytes()) != 0 {
            return fail(EACCES);
        }
        let count = raw.count.get();
        self.note("count", u64::from(count));
        if count > MAX_BATCH {
            return fail(E2BIG);
        }
        let fault =
            self.driver.faults.hit(When::Request(133), |action| matches!(action, Action::BatchEntry(..)));
        self.driver.injected |= fault.is_some();
        for (at, entry) in (1u32..).zip(&raw.entries).take(count as usize) {
            if let Some(Action::BatchEntry(stop, errno)) = fault
                && stop == at
            {
                return fail(errno);
            }
            self.init_queue(entry)?;
        }
        Ok(0)
    }

    pub(super) fn copy_start(&mut self) -> Reply {
        let raw: DmaQueueCopyStart = self.arg()?;
        let (engine, number) = (raw.eng_id.get(), raw.qid.get());
        let (tx, rx) = (raw.tx_desc_count.get(), raw.rx_desc_count.get());
        for (key, value) in [("engine", engine), ("queue", number), ("tx", tx), ("rx", rx)] {
            self.note(key, u64::from(value));
        }
        let legacy = !self.driver.config.version.modern();
        let queue = self.queue(engine, number)?;
        if rx > queue.rx.count || tx > queue.tx.count {
            return fail(EPERM);
        }
        let receiver = queue.rx.has_chunk;
        queue.rx.push(rx);
        queue.tx.push(tx);
        if !receiver {
            self.violation(What::NoReceiveRing)?;
            if legacy {
                return Err(Fail::Stop("queue started without a receive ring"));
            }
        }
        if self.driver.config.completion == super::Completion::AtOnce {
            self.driver.run_queues(self.open.device);
        }
        Ok(0)
    }

    pub(super) fn ack_completed(&mut self) -> Reply {
        let raw: DmaAckCompleted = self.arg()?;
        let legacy = !self.driver.config.version.modern();
        let queue = self.queue(raw.eng_id.get(), raw.qid.get())?;
        if legacy && !queue.tx.count.is_power_of_two() {
            return Err(Fail::Stop("acknowledging on a ring that is not a power of two"));
        }
        Ok(0)
    }

    pub(super) fn eng_set_state(&mut self) -> Reply {
        let raw: DmaEngSetState = self.arg()?;
        self.engine(raw.eng_id.get())?.state = raw.state.get();
        Ok(0)
    }

    pub(super) fn eng_get_state(&mut self) -> Reply {
        let raw: DmaEngGetState = self.arg()?;
        let state = self.engine(raw.eng_id.get())?.state;
        let mut out = DmaEngState::default();
        out.max_queues.set(QUEUES_PER_ENGINE);
        out.num_queues.set(QUEUES_PER_ENGINE);
        out.tx_state.set(state);
        out.rx_state.set(state);
        self.put_bytes(raw.state.get(), out.as_bytes())
    }

    pub(super) fn queue_get_state(&mut self) -> Reply {
        let raw: DmaQueueGetState = self.arg()?;
        // Not checked on legacy drivers: whatever lies there is read. Here that is an idle queue.
        let queue = self.queue(raw.eng_id.get(), raw.qid.get()).map(|queue| *queue).unwrap_or_default();
        for (ring, address) in [(queue.tx, raw.tx.get()), (queue.rx, raw.rx.get())] {
            let mut out = DmaQueueState::default();
            out.sw_status.set(u32::from(ring.count > 0));
            out.base_addr.set(ring.base);
            out.length.set(ring.count);
            out.head_pointer.set(ring.head);
            out.tail_pointer.set(ring.tail);
            self.put_bytes(address, out.as_bytes())?;
        }
        Ok(0)
    }

    pub(super) fn descriptor_copyout(&mut self) -> Reply {
        let raw: DmaDescriptorCopyout = self.arg()?;
        let queue = *self.queue(raw.eng_id.get(), raw.qid.get())?;
        let ring = if raw.kind.get() == queue_type::TX { queue.tx } else { queue.rx };
        let (mut start, count) = (u64::from(raw.start_index.get()), u64::from(raw.count.get()));
        if count == 0 {
            return fail(EINVAL);
        }
        if start + count > u64::from(ring.count) {
            return fail(EFBIG);
        }
        if self.device().chunk_at(ring.base).is_some_and(|chunk| chunk.place != Place::Host) {
            start = 0;
        }
        let mut bytes = alloc::vec![0u8; 16 * count as usize];
        self.device().memory.read(ring.base + 16 * start, &mut bytes);
        self.put_bytes(raw.buffer.get(), &bytes)
    }
}

const _: () = assert!(DmaQueueInitBatch::BYTES == 12296);
