//! Filling the rings of a core (staging.md §10; R9, R28, R33, R34).
//!
//! A queue's blocks are expanded once for every group of instances whose buffers fit the scratch
//! memory; each half of a ring has a buffer that is written out when it is full.

use super::pointers::{RingStorage, relocate};
use super::write::write;
use crate::arch::Arch;
use crate::device::Device;
use crate::error::{Error, Stage};
use crate::lower::record::{Desc, RingType};
use crate::lower::{InstanceView, QueueView};
use crate::plan::CoreView;
use crate::plan::expand::{End, Pair, PairSink, expand_block};
use crate::plan::record::{DMem, RingRec};
use crate::plan::ring::{ENTRY_BYTES, Entry, Lap, META_COPY, Marks, control_word};
use crate::plan::rings::each_instance;
use core::mem::take;
use zerocopy::{FromBytes, IntoBytes};

/// Entries that a buffer holds at least.
const LEAST_BUFFER: usize = 16;
/// Most ring pairs that are filled at once.
const MOST_AT_ONCE: usize = if crate::layout::SMALL { 8 } else { 32 };
/// Bytes of a semaphore copy.
const SEMAPHORE_BYTES: u32 = 4;

fn broken() -> Error {
    Error::internal(Stage::Stage, "ring")
}

/// Writes all rings of a core.
#[inline(never)]
pub(super) fn fill<D: Device>(core: &CoreView<'_>, device: &D, scratch: &mut [u8]) -> Result<(), Error> {
    let mut rows = core.rings();
    each_instance(&core.kbin, &mut |queue, instance| {
        let pairs = usize::try_from(queue.rings()).unwrap_or(usize::MAX);
        let (own, rest) = rows.split_at_checked(pairs.saturating_mul(2)).ok_or_else(broken)?;
        rows = rest;
        fill_instance(core, device, queue, instance, own, scratch)
    })
}

#[inline(never)]
fn fill_instance<D: Device>(
    core: &CoreView<'_>,
    device: &D,
    queue: &QueueView<'_>,
    instance: &InstanceView<'_>,
    rows: &[RingRec],
    scratch: &mut [u8],
) -> Result<(), Error> {
    if rows.iter().all(|row| row.used.get() == 0) {
        return Ok(());
    }
    let entry = size_of::<Entry>();
    let fits = scratch.len().checked_div(entry.saturating_mul(2).saturating_mul(LEAST_BUFFER)).unwrap_or(0);
    let at_once = fits.clamp(1, MOST_AT_ONCE).min((rows.len() / 2).max(1));
    let room = scratch.len().checked_div(at_once.saturating_mul(2)).unwrap_or(0);
    let room = room.checked_div(entry).unwrap_or(0).saturating_mul(entry);
    if room == 0 {
        return Err(Error::internal(Stage::Stage, "scratch memory for rings"));
    }
    for (group, own) in rows.chunks(at_once.saturating_mul(2)).enumerate() {
        let first = u32::try_from(group.saturating_mul(at_once)).unwrap_or(u32::MAX);
        let mut halves = heapless::Vec::<Half<'_, '_>, { 2 * MOST_AT_ONCE }>::new();
        let mut rest = &mut *scratch;
        for row in own {
            let (buffer, after) = take(&mut rest).split_at_mut_checked(room).ok_or_else(broken)?;
            rest = after;
            let lap = Lap::new(row.capacity.get());
            halves
                .push(Half { row, lap, pointers: None, buffer, filled: 0, written: 0 })
                .map_err(|_| broken())?;
        }
        if queue.record.ring_type == RingType::INDIRECT_MEMCPY {
            for pair in halves.as_chunks_mut::<2>().0 {
                find_storage(core, pair);
            }
        }
        let mut filler = Filler { core, device, arch: core.kbin.arch().ok_or_else(broken)?, first, halves };
        for descs in instance.blocks() {
            filler.block(queue, descs)?;
        }
        filler.flush()?;
    }
    Ok(())
}

/// Tells the writing half of an indirect-copy ring where both halves lie.
fn find_storage(core: &CoreView<'_>, [tx, rx]: &mut [Half<'_, '_>; 2]) {
    let start = |half: &Half<'_, '_>| core.ring_block(half.row).map(DMem::address);
    rx.pointers = Some(RingStorage { tx: start(tx), rx: start(rx) });
}

/// One half of a ring with what is not written yet.
struct Half<'m, 's> {
    row: &'m RingRec,
    lap: Lap,
    /// For the half of an indirect-copy ring that writes: what its pointers may lead to.
    pointers: Option<RingStorage>,
    buffer: &'s mut [u8],
    filled: usize,
    written: u64,
}

struct Filler<'a, 'm, 's, D> {
    core: &'a CoreView<'m>,
    device: &'a D,
    arch: Arch,
    /// First hardware instance of this group.
    first: u32,
    halves: heapless::Vec<Half<'a, 's>, { 2 * MOST_AT_ONCE }>,
}

impl<D: Device> Filler<'_, '_, '_, D> {
    fn block(&mut self, queue: &QueueView<'_>, descs: &[Desc]) -> Result<(), Error> {
        let kbin = self.core.kbin;
        let totals = expand_block(&kbin, descs, queue.rings(), self.arch, self)?;
        let end = descs.last().and_then(|desc| kbin.block_end(desc));
        let Some(semaphore) = end.and_then(|end| end.semaphore) else { return Ok(()) };
        let source = self.core.semaphore_word().ok_or_else(broken)?.address().0;
        let register = self.device.semaphore_increment(self.core.core(), semaphore).0;
        let marks = Marks { first: true, last: true, ..Marks::default() };
        let used = u32::try_from(totals.runs.min(u64::from(queue.rings()))).unwrap_or(u32::MAX);
        for instance in 0..used {
            let tx = entry(SEMAPHORE_BYTES, marks, META_COPY, source)?;
            let rx = entry(SEMAPHORE_BYTES, marks, 0, register)?;
            self.append(instance, tx, rx)?;
        }
        Ok(())
    }

    /// Appends a pair if its instance is of this group.
    fn append(&mut self, instance: u32, tx: Entry, rx: Entry) -> Result<(), Error> {
        let Some(index) = instance.checked_sub(self.first).and_then(|index| usize::try_from(index).ok())
        else {
            return Ok(());
        };
        let at = index.saturating_mul(2);
        let Some([sender, receiver]) = self.halves.get_mut(at..at.saturating_add(2)) else { return Ok(()) };
        sender.push(self.core, self.device, tx)?;
        receiver.push(self.core, self.device, rx)
    }

    fn flush(&mut self) -> Result<(), Error> {
        for half in &mut self.halves {
            half.flush(self.core, self.device)?;
            if half.written != u64::from(half.row.used.get()).saturating_mul(ENTRY_BYTES) {
                return Err(Error::internal(Stage::Stage, "a ring differs from its count"));
            }
        }
        Ok(())
    }

    fn address(&self, end: End, len: u32) -> Result<u64, Error> {
        self.core.word(end.var, end.off, u64::from(len))
    }
}

impl<D: Device> PairSink for Filler<'_, '_, '_, D> {
    fn pair(&mut self, pair: &Pair) -> Result<(), Error> {
        let half = u32::try_from(self.halves.len() / 2).unwrap_or(0);
        if !(self.first..self.first.saturating_add(half)).contains(&pair.instance) {
            return Ok(());
        }
        let new = self.arch > Arch::Sunda;
        let marks = Marks { first: pair.first, last: pair.last, ..Marks::default() };
        let send = Marks { barrier: pair.run_end && !new, ..marks };
        let receive = Marks { ordered: new, ..marks };
        let tx = entry(pair.tx, send, META_COPY, self.address(pair.from, pair.tx)?)?;
        let rx = entry(pair.rx, receive, 0, self.address(pair.to, pair.rx)?)?;
        self.append(pair.instance, tx, rx)
    }
}

fn entry(len: u32, marks: Marks, meta: u32, address: u64) -> Result<Entry, Error> {
    let control = control_word(len, 0, marks).ok_or_else(broken)?;
    Ok(Entry { control: control.into(), meta: meta.into(), address: address.into() })
}

impl Half<'_, '_> {
    fn push<D: Device>(&mut self, core: &CoreView<'_>, device: &D, mut entry: Entry) -> Result<(), Error> {
        if self.filled == self.buffer.len() {
            self.flush(core, device)?;
        }
        let end = self.filled.saturating_add(size_of::<Entry>());
        let slot = self.buffer.get_mut(self.filled..end).ok_or_else(broken)?;
        self.lap.stamp(&mut entry);
        crate::bytes::copy(slot, entry.as_bytes());
        self.filled = end;
        Ok(())
    }

    fn flush<D: Device>(&mut self, core: &CoreView<'_>, device: &D) -> Result<(), Error> {
        if self.filled == 0 {
            return Ok(());
        }
        let block = core.ring_block(self.row).ok_or_else(broken)?;
        if let Some(storage) = &self.pointers {
            let bytes = self.buffer.get_mut(..self.filled).ok_or_else(broken)?;
            let entries = <[Entry]>::mut_from_bytes(bytes).map_err(|_| broken())?;
            // Nothing that a file says becomes a ring pointer, so `relocated_rings` of the tally is 0.
            if relocate(entries, storage)? != core.tally().relocated_rings.get() {
                return Err(Error::internal(Stage::Stage, "ring pointers differ from their count"));
            }
        }
        write(device, block, self.written, self.buffer.get(..self.filled).ok_or_else(broken)?)?;
        self.written = self.written.saturating_add(u64::try_from(self.filled).unwrap_or(0));
        self.filled = 0;
        Ok(())
    }
}
