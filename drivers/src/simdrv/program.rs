//! Copies from a user buffer to a device address, and register reads (driver-abi.md §7.8).

use super::copy::BlockFault;
use super::dispatch::{Call, Reply, fail};
use super::memory::Memory;
use crate::abi::errno::{EINVAL, ENOMEM};
use crate::abi::record::{BarRw, ProgramEngine, ProgramEngineNc, ProgramEngineNc64};
use crate::abi::request as req;
use crate::abi::value::{MAX_BAR_READ, MAX_CORES_PER_DEVICE, PAGE};
use crate::map;

/// Largest bounce buffer of the driver (§7.4, inferred).
const BOUNCE: u64 = 4 << 20;

impl<M: Memory> Call<'_, M> {
    pub(super) fn program_engine(&mut self) -> Reply {
        let raw: ProgramEngine = self.arg()?;
        let (size, offset) = (u64::from(raw.size.get()), u64::from(raw.offset.get()));
        self.program(0, raw.dst.get(), raw.buffer.get(), size, offset)
    }

    pub(super) fn program_engine_nc(&mut self) -> Reply {
        match self.request {
            req::PROGRAM_ENGINE_NC => {
                let raw: ProgramEngineNc = self.arg()?;
                let (size, offset) = (u64::from(raw.size.get()), u64::from(raw.offset.get()));
                self.program(raw.nc_id.get(), raw.dst.get(), raw.buffer.get(), size, offset)
            }
            req::PROGRAM_ENGINE_NC64 if !self.driver.config.old_forms_only => {
                let raw: ProgramEngineNc64 = self.arg()?;
                self.program(
                    raw.nc_id.get(),
                    raw.dst.get(),
                    raw.buffer.get(),
                    raw.size.get(),
                    raw.offset.get(),
                )
            }
            _ => fail(EINVAL),
        }
    }

    /// The offset applies to both sides.
    fn program(&mut self, nc: u32, dst: u64, buffer: u64, size: u64, offset: u64) -> Reply {
        let to = dst.wrapping_add(offset);
        self.note("to", to);
        self.note("size", size);
        let inside = map::program_windows(self.driver.config.arch)
            .any(|(base, bytes)| to >= base && to.checked_add(size).is_some_and(|end| end <= base + bytes));
        if !inside || size == 0 || nc >= MAX_CORES_PER_DEVICE || size.next_multiple_of(PAGE) > BOUNCE {
            return fail(ENOMEM);
        }
        self.claimed(nc)?;
        let mut bounce = alloc::vec![0u8; size as usize];
        match self.user.read(buffer.wrapping_add(offset), &mut bounce) {
            0 => {}
            missing => return Err(self.unread(missing)),
        }
        let fault = self.dma_fault();
        if self.block_fault(fault, 1)? == BlockFault::Flip {
            bounce[0] ^= 1;
        }
        self.device_mut().memory.write(to, &bounce);
        Ok(0)
    }

    pub(super) fn bar_read(&mut self) -> Reply {
        let raw: BarRw = self.arg()?;
        let count = raw.count.get();
        if count > MAX_BAR_READ || !matches!(raw.bar.get(), 0 | 2) {
            return fail(EINVAL);
        }
        // No register has a content here; the addresses are looked at, as the driver does.
        let mut address = [0u8; 8];
        let addresses = if raw.bar.get() == 0 { count } else { 1 };
        for at in 0..addresses {
            match self.user.read(raw.address.get() + 8 * u64::from(at), &mut address) {
                0 => {}
                missing => return Err(self.unread(missing)),
            }
        }
        self.put_bytes(raw.data.get(), &alloc::vec![0u8; 4 * count as usize])
    }

    pub(super) fn bar_write(&mut self) -> Reply {
        let raw: BarRw = self.arg()?;
        if raw.bar.get() != 0 || raw.count.get() > MAX_BAR_READ { fail(EINVAL) } else { Ok(0) }
    }
}
