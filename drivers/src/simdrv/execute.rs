//! Queues at work (driver-abi.md §17.6).

use super::descriptor::{Descriptor, is_on_chip};
use super::driver::Driver;
use super::fault::{Action, When};
use super::memory::Memory;
use super::queue::{ABORT, NORMAL, Ring};
use super::register::register_at;
use super::violation::What;
use crate::map;

/// Most descriptors of a packet (§8.1).
const PACKET: u32 = 64;

/// What is left of the descriptors at the two heads.
#[derive(Clone, Copy, Default)]
struct Open {
    tx: Option<(u64, u64)>,
    rx: Option<(u64, u64)>,
    packet: u32,
}

impl<M: Memory> Driver<M> {
    /// Runs every queue of a device until it has nothing to do.
    pub(super) fn run_queues(&mut self, device: usize) {
        for engine in 0..self.devices[device].engines.len() {
            for queue in 0..self.devices[device].engines[engine].queues.len() {
                let state = &self.devices[device].engines[engine];
                if state.queues[queue].tx.pending > 0 && state.state != ABORT {
                    self.run_queue(device, engine, queue);
                }
            }
        }
    }

    fn run_queue(&mut self, device: usize, engine: usize, queue: usize) {
        self.devices[device].engines[engine].state = NORMAL;
        let mut open = Open::default();
        loop {
            let Some(step) = self.fetch(device, engine, queue, &mut open) else { return };
            if let Err(what) = step.and_then(|()| self.transfer(device, &mut open)) {
                let state = &mut self.devices[device].engines[engine];
                state.state = ABORT;
                let owner = state.queues[queue].owner;
                if let Some(what) = what {
                    self.violate(owner, crate::abi::request::DMA_QUEUE_COPY_START, what);
                }
                return;
            }
        }
    }

    /// Takes the next descriptor of each side that has nothing open. `None`: a side has none.
    fn fetch(
        &mut self,
        device: usize,
        engine: usize,
        queue: usize,
        open: &mut Open,
    ) -> Option<Result<(), Option<What>>> {
        let state = &mut self.devices[device];
        let rings = &mut state.engines[engine].queues[queue];
        if open.tx.is_none() && rings.tx.pending == 0 || open.rx.is_none() && rings.rx.pending == 0 {
            return None;
        }
        let fresh = open.tx.is_none() && open.rx.is_none();
        for (side, ring) in [(&mut open.tx, &mut rings.tx), (&mut open.rx, &mut rings.rx)] {
            if side.is_some() {
                continue;
            }
            match take(&state.memory, ring) {
                Ok(descriptor) => {
                    if descriptor.first() {
                        open.packet = 0;
                    }
                    *side = Some((descriptor.address, descriptor.bytes()));
                }
                Err(what) => return Some(Err(Some(what))),
            }
        }
        open.packet += 1;
        let owner = rings.owner;
        let lengths = (open.tx.map(|side| side.1), open.rx.map(|side| side.1));
        if fresh && lengths.0 != lengths.1 {
            self.violate(owner, crate::abi::request::DMA_QUEUE_COPY_START, What::UnequalPair);
        }
        if open.packet == PACKET + 1 {
            self.violate(owner, crate::abi::request::DMA_QUEUE_COPY_START, What::LongPacket);
        }
        Some(Ok(()))
    }

    /// Moves what both sides still have in common.
    fn transfer(&mut self, device: usize, open: &mut Open) -> Result<(), Option<What>> {
        let (Some((from, has)), Some((to, wants))) = (open.tx, open.rx) else { return Ok(()) };
        let bytes = has.min(wants);
        let fault = self.faults.hit(When::Descriptor, |action| action == Action::BusError);
        self.injected |= fault.is_some();
        if fault.is_some() || !self.answers(device, from, bytes) || !self.answers(device, to, bytes) {
            return Err(None);
        }
        let mut bounce = alloc::vec![0u8; bytes as usize];
        self.devices[device].memory.read(from, &mut bounce);
        self.store(device, to, &bounce);
        open.tx = (has > bytes).then(|| (from + bytes, has - bytes));
        open.rx = (wants > bytes).then(|| (to + bytes, wants - bytes));
        Ok(())
    }

    /// Whether anything answers on the bus for all of a range.
    fn answers(&self, device: usize, address: u64, bytes: u64) -> bool {
        let arch = self.config.arch;
        let end = address.saturating_add(bytes);
        if map::is_host(arch, address) {
            let chunk = self.devices[device].chunk_at(address);
            return chunk.is_some_and(|chunk| end <= chunk.base + chunk.bytes);
        }
        let hbm = (0..map::hbms(arch)).any(|hbm| {
            let (base, size) = self.config.hbm(hbm);
            address >= base && end <= base + size
        });
        hbm || is_on_chip(arch, address)
    }

    fn store(&mut self, device: usize, address: u64, bytes: &[u8]) {
        let arch = self.config.arch;
        let core = (0..map::cores(arch)).find_map(|core| {
            let distance = address.wrapping_sub(map::core_base(arch, core));
            register_at(distance).map(|register| (core, register))
        });
        match (core, <[u8; 4]>::try_from(bytes)) {
            (Some((core, register)), Ok(word)) => {
                let value = u32::from_le_bytes(word);
                self.devices[device].store_register(arch, usize::from(core), register, value);
            }
            _ => self.devices[device].memory.write(address, bytes),
        }
    }
}

/// The descriptor at the head, which must carry the ring's lap.
fn take<M: Memory>(memory: &M, ring: &mut Ring) -> Result<Descriptor, What> {
    let mut bytes = [0u8; 16];
    memory.read(ring.entry(), &mut bytes);
    let descriptor = Descriptor::new(&bytes);
    if descriptor.ring_id() != ring.lap {
        return Err(What::WrongRingId);
    }
    ring.step();
    Ok(descriptor)
}
