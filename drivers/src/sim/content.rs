//! The machine's memory: writes, reads, and one number for all of it.

use super::config::Content;
use super::digest;
use super::event::{EventKind, fnv};
use super::fault::Attempt;
use super::region::GRANULE;
use super::state::SimState;
use super::storage::{PAGE_BYTES, Slot, Storage};
use loader_core::device::{DeviceError, MemHandle};

/// Byte that memory reads as before anything was written to it.
const FRESH: u8 = 0xCD;
/// Byte that memory reads as after it was freed.
const DEAD: u8 = 0xDD;

impl<S: Storage> SimState<S> {
    fn check_range(&mut self, slot: &Slot, at: u64, len: usize) -> Result<u64, DeviceError> {
        let len = len as u64;
        if len > slot.reserved || at > slot.reserved - len {
            self.counters.out_of_range += 1;
            return Err(DeviceError::OutOfRange);
        }
        Ok(slot.base + at)
    }

    /// Everything of a write but the bytes: handle, range, faults, counters, log. Gives the address.
    ///
    /// # Errors
    /// Any [`DeviceError`].
    pub(super) fn check_write(
        &mut self,
        handle: MemHandle,
        at: u64,
        bytes: &[u8],
    ) -> Result<u64, DeviceError> {
        self.count.writes += 1;
        let slot = self.slot_of(handle)?;
        self.fault(Attempt::Write { core: slot.core.0 })?;
        let address = self.check_range(&slot, at, bytes.len())?;
        let len = bytes.len() as u64;
        self.counters.stray_writes += u64::from(at + len > slot.size);
        self.counters.writes += 1;
        self.counters.bytes_written += len;
        self.count.bytes += len;
        if S::TRIALS && self.storage.logs() {
            self.log(EventKind::Write { fnv: fnv(bytes) }, address, len);
        }
        Ok(address)
    }

    pub(super) fn add_digest(&mut self, handle: MemHandle, sum: u64) -> Result<(), DeviceError> {
        self.slot_of(handle)?;
        let slot = self.storage.slots_mut().get_mut(handle.slot as usize).ok_or(DeviceError::BadHandle)?;
        slot.digest = digest::add(slot.digest, sum);
        Ok(())
    }

    /// As [`loader_core::device::Device::write`].
    ///
    /// # Errors
    /// Any [`DeviceError`].
    pub fn write(&mut self, handle: MemHandle, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let address = self.check_write(handle, at, bytes)?;
        match self.config.content {
            Content::Full if S::PAGES => self.fill(address, bytes),
            Content::Full => Err(DeviceError::HostMemory),
            Content::Digest => self.add_digest(handle, digest::hash(address, bytes)),
            Content::Discard => Ok(()),
        }
    }

    fn fill(&mut self, mut address: u64, mut bytes: &[u8]) -> Result<(), DeviceError> {
        while !bytes.is_empty() {
            let (number, within) = (address / GRANULE, (address % GRANULE) as usize);
            let fill = if self.freed.contains(number) { DEAD } else { FRESH };
            let (now, rest) = bytes.split_at_checked(PAGE_BYTES - within).unwrap_or((bytes, &[]));
            let page = self.storage.page_mut(number, fill).ok_or(DeviceError::HostMemory)?;
            crate::bytes::copy(page.get_mut(within..).unwrap_or(&mut []), now);
            address += now.len() as u64;
            bytes = rest;
        }
        Ok(())
    }

    /// As [`loader_core::device::Device::read`].
    ///
    /// # Errors
    /// Any [`DeviceError`].
    pub fn read(&mut self, handle: MemHandle, at: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        self.count.reads += 1;
        let slot = self.slot_of(handle)?;
        self.fault(Attempt::Read)?;
        let address = self.check_range(&slot, at, out.len())?;
        if !S::PAGES || self.config.content != Content::Full {
            return Err(DeviceError::ReadRefused);
        }
        self.counters.reads += 1;
        self.log(EventKind::Read, address, out.len() as u64);
        self.copy_out(address, out);
        Ok(())
    }

    pub(super) fn copy_out(&self, mut address: u64, mut out: &mut [u8]) {
        while !out.is_empty() {
            let (number, within) = (address / GRANULE, (address % GRANULE) as usize);
            let count = out.len().min(PAGE_BYTES - within);
            let Some((now, rest)) = out.split_at_mut_checked(count) else { return };
            match self.storage.page(number) {
                Some(page) => crate::bytes::copy(now, page.get(within..).unwrap_or(&[])),
                None => now.fill(if self.freed.contains(number) { DEAD } else { FRESH }),
            }
            address += now.len() as u64;
            out = rest;
        }
    }

    /// One number for everything live: blocks with their place, size, usage and content, and the ledger.
    /// Handles, counters, the log and dead memory do not enter.
    pub fn hash(&self) -> u64 {
        let mut hash = 0u64;
        let mut take = |word: u64| hash = digest::mix(hash ^ word);
        for index in &self.indexes {
            let mut at = index.first;
            while let Some(slot) = self.storage.slots().get(at as usize) {
                for &word in &[slot.base, slot.size, slot.align, u64::from(slot.core.0), slot.usage as u64] {
                    take(word);
                }
                take(self.content_of(slot));
                at = slot.next;
            }
        }
        for row in &self.ledger.cores {
            row.words().iter().for_each(|&word| take(word));
        }
        hash
    }

    /// The content of a block as one number: of the written pages, or the digest.
    fn content_of(&self, slot: &Slot) -> u64 {
        if !S::PAGES || self.config.content != Content::Full {
            return slot.digest;
        }
        let first = slot.base / GRANULE;
        let last = (slot.base + slot.reserved) / GRANULE;
        (first..last)
            .filter_map(|number| Some((number, self.storage.page(number)?)))
            .fold(0, |sum, (number, page)| digest::add(sum, digest::hash(number * GRANULE, page)))
    }
}
