//! Queues on top of requests (driver-abi.md §7.11, §10.5).

use super::Neuron;
use super::block::{Block, Blocks, Table};
use super::fault::Fault;
use super::sys::Sys;
use crate::abi::record::{
    DmaCopyDescriptors, DmaCopyDescriptors64, DmaQueueCopyStart, DmaQueueInit, DmaQueueInitBatch,
};
use crate::abi::request as req;
use crate::abi::value::{MAX_BATCH, MAX_RING, MIN_RING, QUEUES_PER_ENGINE, RING_STEP, feature, queue_type};
use crate::map;
use crate::sim::Lock;
use loader_core::device::{
    AllocSpec, CoreId, Device as _, DeviceError, MemHandle, Place, QueueControl, QueueId, QueueSpec, Side,
    Usage,
};

/// Entries of the ring that parked queues point to.
const PARKING: u32 = 64;

impl<S: Sys + Copy, B: Blocks, L: Lock<Table<B>>> Neuron<S, B, L> {
    /// The engine and the queue, if this device has them and the driver does not need them itself.
    fn queue_id(&self, id: QueueId) -> Result<(u32, u32), DeviceError> {
        let (engine, queue) = (u32::from(id.engine), u32::from(id.queue));
        let arch = self.arch();
        let exists = engine < map::dma_engines(arch) && queue < QUEUES_PER_ENGINE;
        let core = engine / 16;
        let first = u32::from(self.options.first_core);
        let claimed = (first..first + u32::from(self.options.cores)).contains(&core);
        if exists && claimed && !map::reserved_queue(arch, engine, queue) {
            Ok((engine, queue))
        } else {
            Err(DeviceError::BadRequest)
        }
    }

    /// The block of a ring that fits in it.
    fn ring(&self, (handle, count): (MemHandle, u32)) -> Result<Block, DeviceError> {
        let block = self.table.with(|table| table.get(handle))?;
        if !(MIN_RING..=MAX_RING).contains(&count) || count % RING_STEP != 0 {
            return Err(DeviceError::BadRequest);
        }
        if u64::from(count) * 16 > block.bytes() {
            return Err(DeviceError::OutOfRange);
        }
        Ok(block)
    }

    fn queue_record(&self, spec: &QueueSpec) -> Result<DmaQueueInit, DeviceError> {
        let (engine, queue) = self.queue_id(spec.id)?;
        let (tx, rx) = (self.ring(spec.tx)?, self.ring(spec.rx)?);
        Ok(record((engine, queue), (tx.driver(), spec.tx.1), (rx.driver(), spec.rx.1)))
    }

    fn batch(&self, specs: &[QueueSpec]) -> Result<Result<(), Fault>, DeviceError> {
        let mut raw = DmaQueueInitBatch::default();
        raw.count.set(u32::try_from(specs.len()).unwrap_or(0));
        for (to, spec) in raw.entries.iter_mut().zip(specs) {
            *to = self.queue_record(spec)?;
        }
        Ok(self.dev.call(req::DMA_QUEUE_INIT_BATCH, &mut raw))
    }

    /// The ring that parked queues point to, made once and kept as long as the device.
    fn parking(&self) -> Result<u64, DeviceError> {
        if let Some(handle) = self.table.with(|table| table.parking) {
            return Ok(handle);
        }
        let core = CoreId(self.options.first_core);
        let spec = AllocSpec {
            core,
            place: Place::Hbm(self.home_channel(core)),
            size: u64::from(PARKING) * 16,
            align: 0,
            usage: Usage::DmaRing,
            tag: "parking ring",
            contiguous: false,
        };
        let (handle, _) = self.grant(&spec)?;
        self.table.with(|table| table.parking = Some(handle));
        Ok(handle)
    }
}

fn record((engine, queue): (u32, u32), tx: (u64, u32), rx: (u64, u32)) -> DmaQueueInit {
    let mut raw = DmaQueueInit::default();
    raw.eng_id.set(engine);
    raw.qid.set(queue);
    raw.tx_handle.set(tx.0);
    raw.tx_desc_count.set(tx.1);
    raw.rx_handle.set(rx.0);
    raw.rx_desc_count.set(rx.1);
    raw
}

impl<S: Sys + Copy, B: Blocks, L: Lock<Table<B>>> QueueControl for Neuron<S, B, L> {
    fn init_queue(&self, spec: &QueueSpec) -> Result<(), DeviceError> {
        let mut raw = self.queue_record(spec)?;
        Ok(self.dev.call(req::DMA_QUEUE_INIT, &mut raw)?)
    }

    fn init_queues(&self, specs: &[QueueSpec]) -> Result<(), DeviceError> {
        let single =
            self.table.with(|table| table.forms.single_queues) || !self.has(feature::BATCH_QUEUE_INIT);
        if single {
            return specs.iter().try_for_each(|spec| self.init_queue(spec));
        }
        specs.chunks(MAX_BATCH as usize).try_for_each(|part| match self.batch(part)? {
            Err(fault) if fault.is_unknown() => {
                part.iter().try_for_each(|spec| self.init_queue(spec))?;
                self.table.with(|table| table.forms.single_queues = true);
                Ok(())
            }
            done => done.map_err(DeviceError::from),
        })
    }

    fn write_descriptors(
        &self,
        ring: MemHandle,
        side: Side,
        first: u32,
        descriptors: &[[u8; 16]],
    ) -> Result<(), DeviceError> {
        let block = self.table.with(|table| table.get(ring))?;
        let offset = u64::from(first) * 16;
        block.within(offset, size_of_val(descriptors))?;
        let Ok(count) = u32::try_from(descriptors.len()) else { return Err(DeviceError::OutOfRange) };
        if count == 0 {
            return Ok(());
        }
        let side = if side == Side::Tx { queue_type::TX } else { queue_type::RX };
        let mut narrow = self.table.with(|table| table.forms.narrow_descriptors);
        if !narrow {
            let mut raw = DmaCopyDescriptors64::default();
            raw.mem_handle.set(block.driver());
            raw.buffer.set(descriptors.as_ptr() as u64);
            raw.num_descs.set(count);
            raw.offset.set(offset);
            raw.queue_type.set(side);
            // SAFETY: the driver reads `count` descriptors of 16 bytes at the only address, which are borrowed.
            let outcome = unsafe { self.dev.call_with(req::DMA_COPY_DESCRIPTORS64, &mut raw) };
            match outcome {
                Err(fault) if fault.is_unknown() => narrow = true,
                done => return done.map_err(DeviceError::from),
            }
        }
        let mut raw = DmaCopyDescriptors::default();
        raw.mem_handle.set(block.driver());
        raw.buffer.set(descriptors.as_ptr() as u64);
        raw.num_descs.set(count);
        raw.offset.set(u32::try_from(offset).map_err(|_| DeviceError::OutOfRange)?);
        raw.queue_type.set(side);
        // SAFETY: as above.
        unsafe { self.dev.call_with(req::DMA_COPY_DESCRIPTORS, &mut raw) }?;
        self.table.with(|table| table.forms.narrow_descriptors = narrow);
        Ok(())
    }

    fn start_queue(&self, id: QueueId, tx: u32, rx: u32) -> Result<(), DeviceError> {
        let (engine, queue) = self.queue_id(id)?;
        if rx == 0 {
            // Can hit an assertion of drivers before 2.26.5.
            return Err(DeviceError::BadRequest);
        }
        let mut raw = DmaQueueCopyStart::default();
        raw.eng_id.set(engine);
        raw.qid.set(queue);
        raw.tx_desc_count.set(tx);
        raw.rx_desc_count.set(rx);
        Ok(self.dev.call(req::DMA_QUEUE_COPY_START, &mut raw)?)
    }

    fn park_queue(&self, id: QueueId) -> Result<(), DeviceError> {
        let queue = self.queue_id(id)?;
        let ring = self.parking()?;
        Ok(self.dev.call(req::DMA_QUEUE_INIT, &mut record(queue, (ring, PARKING), (ring, PARKING)))?)
    }
}
