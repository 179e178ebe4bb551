//! Queues of the simulator: copies between live blocks, at once (driver-abi.md §8, §17.6).
//!
//! What needs the kernel's view (registers, windows, laps of a running engine) is the simulated driver's;
//! here a descriptor's two sides must lie in live blocks.

use super::lock::{Lock, Sim};
use super::state::SimState;
use super::storage::Storage;
use crate::abi::value::{MAX_RING, MIN_RING, QUEUES_PER_ENGINE, RING_STEP};
use crate::map;
use loader_core::device::{Device as _, DeviceError, MemHandle, QueueControl, QueueId, QueueSpec, Side};

/// Most queues that are initialised at a time.
const MOST: usize = if cfg!(feature = "std") { 64 } else { 4 };
/// Bytes that move in one step.
const STEP: usize = 256;

/// An initialised queue and how far it got.
#[derive(Clone, Copy, Debug)]
struct Queue {
    spec: QueueSpec,
    tx: u32,
    rx: u32,
    laps: (u8, u8),
}

/// The initialised queues.
#[derive(Clone, Debug)]
pub(super) struct Queues([Option<Queue>; MOST]);

impl Queues {
    pub(super) const NONE: Self = Self([None; MOST]);

    fn find(&mut self, id: QueueId) -> Option<&mut Option<Queue>> {
        self.0.iter_mut().find(|slot| slot.is_some_and(|queue| queue.spec.id == id))
    }
}

impl<S: Storage> SimState<S> {
    fn check_queue(&mut self, id: QueueId) -> Result<(), DeviceError> {
        let (engine, queue) = (u32::from(id.engine), u32::from(id.queue));
        let exists = engine < map::dma_engines(self.config.arch) && queue < QUEUES_PER_ENGINE;
        if exists && !map::reserved_queue(self.config.arch, engine, queue) {
            Ok(())
        } else {
            Err(DeviceError::BadRequest)
        }
    }

    fn check_ring(&mut self, (handle, count): (MemHandle, u32)) -> Result<(), DeviceError> {
        let slot = self.slot_of(handle)?;
        if !(MIN_RING..=MAX_RING).contains(&count) || !count.is_multiple_of(RING_STEP) {
            return Err(DeviceError::BadRequest);
        }
        if u64::from(count) * 16 > slot.reserved { Err(DeviceError::OutOfRange) } else { Ok(()) }
    }

    fn init_queue(&mut self, spec: &QueueSpec) -> Result<(), DeviceError> {
        self.check_queue(spec.id)?;
        self.check_ring(spec.tx)?;
        self.check_ring(spec.rx)?;
        let fresh = Queue { spec: *spec, tx: 0, rx: 0, laps: (1, 1) };
        let free = match self.queues.find(spec.id) {
            Some(slot) => Some(slot),
            None => self.queues.0.iter_mut().find(|slot| slot.is_none()),
        };
        free.map(|slot| *slot = Some(fresh)).ok_or(DeviceError::OutOfMemory)
    }

    /// The entry of a ring, which must carry the ring's lap; bytes (0 means 65536) and address.
    fn entry(&mut self, ring: MemHandle, at: u32, lap: u8) -> Result<(u64, u64), DeviceError> {
        let mut raw = [0; 16];
        self.read(ring, u64::from(at) * 16, &mut raw)?;
        let [a, b, _, control, _, _, _, _, address @ ..] = raw;
        if control & 3 != lap {
            return Err(DeviceError::TimeoutOrRing);
        }
        let bytes = u64::from(u16::from_le_bytes([a, b]));
        Ok((if bytes == 0 { 65_536 } else { bytes }, u64::from_le_bytes(address)))
    }

    /// The live block that holds a range, and the distance of the range from its start.
    fn range_at(&self, address: u64, bytes: u64) -> Result<(MemHandle, u64), DeviceError> {
        let live = self.block_at(address).ok_or(DeviceError::OutOfRange)?;
        let at = address - live.base.0;
        if bytes > live.reserved - at { Err(DeviceError::OutOfRange) } else { Ok((live.handle, at)) }
    }

    fn run_pair(&mut self, queue: &Queue) -> Result<(), DeviceError> {
        let (bytes, from) = self.entry(queue.spec.tx.0, queue.tx, queue.laps.0)?;
        let (wanted, to) = self.entry(queue.spec.rx.0, queue.rx, queue.laps.1)?;
        if bytes != wanted {
            return Err(DeviceError::TimeoutOrRing);
        }
        let (source, target) = (self.range_at(from, bytes)?, self.range_at(to, bytes)?);
        let mut piece = [0; STEP];
        let mut done = 0;
        while done < bytes {
            let now = usize::try_from(bytes - done).map_or(STEP, |left| left.min(STEP));
            self.read(source.0, source.1 + done, &mut piece[..now])?;
            self.write(target.0, target.1 + done, &piece[..now])?;
            done += now as u64;
        }
        Ok(())
    }

    fn start_queue(&mut self, id: QueueId, tx: u32, rx: u32) -> Result<(), DeviceError> {
        let mut queue = self.queues.find(id).and_then(|slot| *slot).ok_or(DeviceError::BadRequest)?;
        if rx == 0 || tx > rx || tx > queue.spec.tx.1 || rx > queue.spec.rx.1 {
            return Err(DeviceError::BadRequest);
        }
        for _ in 0..tx {
            self.run_pair(&queue)?;
            step(&mut queue.tx, &mut queue.laps.0, queue.spec.tx.1);
            step(&mut queue.rx, &mut queue.laps.1, queue.spec.rx.1);
        }
        if let Some(slot) = self.queues.find(id) {
            *slot = Some(queue);
        }
        Ok(())
    }
}

/// Goes to the next entry; a wrap begins the next lap.
const fn step(at: &mut u32, lap: &mut u8, count: u32) {
    *at += 1;
    if *at >= count {
        *at = 0;
        *lap = (*lap + 1) % 4;
    }
}

impl<S: Storage, L: Lock<SimState<S>>> QueueControl for Sim<S, L> {
    fn init_queue(&self, spec: &QueueSpec) -> Result<(), DeviceError> {
        self.with(|state| state.init_queue(spec))
    }

    fn write_descriptors(
        &self,
        ring: MemHandle,
        _: Side,
        first: u32,
        descriptors: &[[u8; 16]],
    ) -> Result<(), DeviceError> {
        self.write(ring, u64::from(first) * 16, descriptors.as_flattened())
    }

    fn start_queue(&self, id: QueueId, tx: u32, rx: u32) -> Result<(), DeviceError> {
        self.with(|state| state.start_queue(id, tx, rx))
    }

    fn park_queue(&self, id: QueueId) -> Result<(), DeviceError> {
        self.with(|state| {
            state.check_queue(id)?;
            if let Some(slot) = state.queues.find(id) {
                *slot = None;
            }
            Ok(())
        })
    }
}
