//! Descriptors on their way into a ring (driver-abi.md §7.11, §8.1).

use super::dispatch::{Call, Fail, Reply, fail};
use super::fault::{Action, When};
use super::memory::Memory;
use super::violation::What;
use crate::abi::errno::{EINVAL, EPERM};
use crate::abi::record::{DmaCopyDescriptors, DmaCopyDescriptors64};
use crate::abi::request as req;
use crate::abi::value::queue_type;
use crate::map;

/// Descriptors that are checked and written together: 64 KiB.
const BLOCK: u32 = 4096;

/// A descriptor's four words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descriptor {
    pub(super) control: u32,
    pub(super) address: u64,
}

impl Descriptor {
    pub(super) fn new(bytes: &[u8; 16]) -> Self {
        let [a, b, c, d, _, _, _, _, rest @ ..] = *bytes;
        Self { control: u32::from_le_bytes([a, b, c, d]), address: u64::from_le_bytes(rest) }
    }

    /// Bytes; a field of 0 means 65536.
    pub(super) const fn bytes(self) -> u64 {
        match self.control & 0xFFFF {
            0 => 65_536,
            bytes => bytes as u64,
        }
    }

    pub(super) const fn ring_id(self) -> u32 {
        self.control >> 24 & 3
    }

    pub(super) const fn first(self) -> bool {
        self.control >> 26 & 1 == 1
    }
}

impl<M: Memory> Call<'_, M> {
    pub(super) fn copy_descriptors(&mut self) -> Reply {
        match self.request {
            req::DMA_COPY_DESCRIPTORS => {
                let raw: DmaCopyDescriptors = self.arg()?;
                let (count, offset) = (raw.num_descs.get(), u64::from(raw.offset.get()));
                self.write_descriptors(
                    raw.mem_handle.get(),
                    raw.buffer.get(),
                    count,
                    offset,
                    raw.queue_type.get(),
                )
            }
            req::DMA_COPY_DESCRIPTORS64 if !self.driver.config.old_forms_only => {
                let raw: DmaCopyDescriptors64 = self.arg()?;
                let (count, offset) = (raw.num_descs.get(), raw.offset.get());
                self.write_descriptors(
                    raw.mem_handle.get(),
                    raw.buffer.get(),
                    count,
                    offset,
                    raw.queue_type.get(),
                )
            }
            _ => fail(EINVAL),
        }
    }

    fn write_descriptors(&mut self, handle: u64, buffer: u64, count: u32, offset: u64, side: u32) -> Reply {
        self.note("handle", handle);
        self.note("count", u64::from(count));
        self.note("offset", offset);
        let chunk = self.chunk(handle).map_err(|fault| match fault {
            Fail::Raw(raw) if raw < 0 => Fail::errno(EINVAL),
            other => other,
        })?;
        let base = self.within(&chunk, offset, 16 * u64::from(count)).map_err(|_| Fail::errno(EINVAL))?;
        if count > 0 && side != queue_type::TX && side != queue_type::RX {
            return fail(EPERM);
        }
        let fault =
            self.driver.faults.hit(When::Request(38), |action| matches!(action, Action::RefuseBlock(_)));
        self.driver.injected |= fault.is_some();
        let mut block = 0u32;
        while block * BLOCK < count {
            let now = (count - block * BLOCK).min(BLOCK);
            let at = 16 * u64::from(block * BLOCK);
            let mut bytes = alloc::vec![0u8; 16 * now as usize];
            match self.user.read(buffer.wrapping_add(at), &mut bytes) {
                0 => {}
                missing => return Err(self.unread(missing)),
            }
            block += 1;
            if matches!(fault, Some(Action::RefuseBlock(from)) if block >= from) {
                return fail(EINVAL);
            }
            self.check_addresses(&bytes)?;
            self.device_mut().memory.write(base.wrapping_add(at), &bytes);
        }
        Ok(0)
    }

    /// Host addresses must lie in chunks of devices that the process is attached to; device addresses are not
    /// looked at by the driver, only by the simulator.
    fn check_addresses(&mut self, bytes: &[u8]) -> Reply {
        let arch = self.driver.config.arch;
        let (entries, _) = bytes.as_chunks::<16>();
        for entry in entries {
            let descriptor = Descriptor::new(entry);
            let address = descriptor.address;
            if map::is_host(arch, address) {
                let tgid = self.caller.tgid;
                let devices = self.driver.devices.iter().filter(|device| device.attached(tgid).is_some());
                if !devices.into_iter().any(|device| device.chunk_at(address).is_some()) {
                    return fail(EINVAL);
                }
            } else if !self.known(address, descriptor.bytes()) {
                self.violation(What::StrayDescriptor)?;
            }
        }
        Ok(0)
    }

    /// Whether a device address lies in a chunk of the caller or in a window of a core or TOP_SP.
    fn known(&self, address: u64, bytes: u64) -> bool {
        let end = address.saturating_add(bytes);
        let tgid = self.caller.tgid;
        let chunk = self.device().chunk_at(address);
        chunk.is_some_and(|chunk| chunk.tgid == tgid && end <= chunk.base + chunk.bytes)
            || is_on_chip(self.driver.config.arch, address)
    }
}

/// Whether an address lies in the window of a core or TOP_SP.
pub(super) fn is_on_chip(arch: loader_core::arch::Arch, address: u64) -> bool {
    let core =
        (0..map::cores(arch)).any(|core| address.wrapping_sub(map::core_base(arch, core)) < 0x400_0000);
    core || (0..map::top_sps(arch))
        .any(|at| address.wrapping_sub(map::top_sp_base(arch, at)) < map::TOP_SP_BYTES)
}
