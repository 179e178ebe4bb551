//! `mmap` and what `RESOURCE_MMAP_INFO` offers to it (driver-abi.md §7.5, §7.6).

use super::caller::{Caller, OpenFlags, OpenId};
use super::device::Life;
use super::dispatch::{Call, Fail, Reply, fail};
use super::driver::Driver;
use super::fault::When;
use super::memory::Memory;
use super::trace::Kind;
use super::violation::What;
use crate::abi::errno::{EACCES, EBADF, EINVAL, ENOMEM, EPERM};
use crate::abi::record::{DmabufFd, ResourceMmapInfo, VaPlacement};
use crate::abi::value::{PAGE, mem_type, resource};
use crate::map;
use loader_core::arch::Arch;
use loader_core::device::Place;

/// A mapping that the driver would make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Offset in the device's memory: a physical address, or the cookie of a register window.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// Stores are possible.
    pub writable: bool,
    /// The driver keeps a record of it.
    pub tracked: bool,
    /// Number of the record, 0 if there is none.
    pub record: u32,
}

/// A mapping record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// Its number.
    pub record: u32,
    /// Process.
    pub tgid: u32,
    /// Offset in the device's memory.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// User address, 0 if the front end does not know it.
    pub address: u64,
}

/// An entry of the table of special windows: offset, bytes, read only.
type Window = (u64, u64, bool);

/// The window of a block's resource on an architecture with HBMs of `hbm_bytes`.
fn window(arch: Arch, hbm_bytes: u64, block: u32, id: u32, wanted: u32) -> Option<Window> {
    let index = u16::try_from(id).ok()?;
    match (block, wanted) {
        (resource::TPB, resource::SEMAPHORE) if index < map::cores(arch) => {
            Some((map::core_cookie(arch, index) + map::EVENT_BASE, 0x2000, false))
        }
        (resource::TPB, resource::STATE_BUFFER) if index < map::cores(arch) => {
            Some((map::core_cookie(arch, index), map::STATE_BUFFER, false))
        }
        (resource::TOP_SP, resource::SEMAPHORE | resource::ALL) if index < u16::from(map::top_sps(arch)) => {
            let all = wanted == resource::ALL;
            Some((map::top_sp_base(arch, index as u8), if all { map::TOP_SP_BYTES } else { 0x2000 }, all))
        }
        (resource::HBM, resource::DEVICE_MEMORY)
            if arch != Arch::Sunda && index < u16::from(map::hbms(arch)) =>
        {
            Some((map::hbm_base(arch, index as u8), hbm_bytes, false))
        }
        _ => None,
    }
}

/// Every special window of an architecture.
fn windows(arch: Arch, hbm_bytes: u64) -> impl Iterator<Item = Window> {
    [
        (resource::TPB, resource::SEMAPHORE),
        (resource::TPB, resource::STATE_BUFFER),
        (resource::TOP_SP, resource::SEMAPHORE),
        (resource::TOP_SP, resource::ALL),
        (resource::HBM, resource::DEVICE_MEMORY),
    ]
    .into_iter()
    .flat_map(move |(block, wanted)| (0..20).filter_map(move |id| window(arch, hbm_bytes, block, id, wanted)))
}

impl<M: Memory> Driver<M> {
    /// `mmap` of an open file; `write` asks for a writable mapping.
    ///
    /// # Errors
    /// A negated errno as [`super::Outcome::Done`] would carry it.
    pub fn mmap(
        &mut self,
        caller: Caller,
        open: OpenId,
        length: u64,
        offset: u64,
        write: bool,
    ) -> Result<Plan, i64> {
        let plan = self.plan(caller, open, length, offset, write).map_err(|fault| match fault {
            Fail::Raw(raw) => raw,
            Fail::Blocked | Fail::Stop(_) => -i64::from(EINVAL),
        });
        let result = plan.map_or_else(|raw| raw, |_| 0);
        self.record(caller, open.0, Kind::Mmap { offset, length }, result);
        plan
    }

    fn plan(
        &mut self,
        caller: Caller,
        open: OpenId,
        length: u64,
        offset: u64,
        write: bool,
    ) -> Result<Plan, Fail> {
        let Some(&file) = self.opens.get(&open) else { return fail(EBADF) };
        if file.flags == OpenFlags::WriteOnly || write && file.flags == OpenFlags::ReadOnly {
            return fail(EACCES);
        }
        for when in [When::Event, When::Mmap] {
            if let Some(raw) = self.inject(file.device, when) {
                return Err(Fail::Raw(raw));
            }
        }
        // As the kernel does it before the driver is asked.
        let length = length.checked_next_multiple_of(PAGE).ok_or(Fail::errno(ENOMEM))?;
        if length == 0 || !offset.is_multiple_of(PAGE) {
            return fail(EINVAL);
        }
        if let Some(plan) = self.plan_chunk(caller, file.device, length, offset)? {
            return Ok(self.track(caller, file.device, plan));
        }
        let Some((_, _, read_only)) = self.special(length, offset) else {
            return self.plan_raw(caller, length, offset);
        };
        let plan = Plan { offset, length, writable: !read_only, tracked: true, record: 0 };
        Ok(self.track(caller, file.device, plan))
    }

    fn special(&self, length: u64, offset: u64) -> Option<Window> {
        windows(self.config.arch, self.config.hbm_bytes)
            .find(|window| (window.0, window.1) == (offset, length))
    }

    fn plan_chunk(
        &mut self,
        caller: Caller,
        device: usize,
        length: u64,
        offset: u64,
    ) -> Result<Option<Plan>, Fail> {
        let Some(&chunk) = self.devices[device].chunk_at(offset) else { return Ok(None) };
        let fits = match chunk.place {
            Place::Hbm(hbm) if chunk.kind == mem_type::CONTIGUOUS_SCRATCHPAD => {
                chunk.base.checked_add(length).is_some_and(|end| end <= self.config.main_end(hbm))
            }
            _ => length == chunk.bytes,
        };
        if !fits {
            return Ok(None);
        }
        if let Place::Hbm(hbm) = chunk.place {
            let (base, bytes) = self.config.hbm(hbm);
            // Before 2.28 the BAR4 translation of the last page fails, and an undefined offset is mapped.
            if chunk.base + chunk.bytes == base + bytes
                && !self.config.version.modern()
                && self.violate(caller.tgid, 0, What::MappedHbmEnd)
            {
                return fail(crate::abi::errno::EIO);
            }
        }
        let writable = chunk.tgid == caller.tgid || chunk.life == Life::Device;
        Ok(Some(Plan { offset: chunk.base, length, writable, tracked: true, record: 0 }))
    }

    /// Whatever lies in an HBM, for those who may do anything.
    fn plan_raw(&self, caller: Caller, length: u64, offset: u64) -> Result<Plan, Fail> {
        let inside = (0..map::hbms(self.config.arch)).any(|hbm| {
            let (base, bytes) = self.config.hbm(hbm);
            offset >= base && offset.checked_add(length).is_some_and(|end| end <= base + bytes)
        });
        match (caller.rawio, inside) {
            (true, true) => Ok(Plan { offset, length, writable: true, tracked: false, record: 0 }),
            (true, false) => fail(EINVAL),
            _ => fail(EPERM),
        }
    }

    fn track(&mut self, caller: Caller, device: usize, plan: Plan) -> Plan {
        let record = self.next_mapping;
        self.next_mapping += 1;
        let Plan { offset, length, .. } = plan;
        let mapped = Mapped { record, tgid: caller.tgid, offset, length, address: 0 };
        self.devices[device].mappings.push(mapped);
        Plan { record, ..plan }
    }

    /// Tells the user address at which a planned mapping was made.
    pub fn mapped(&mut self, record: u32, address: u64) {
        for mapped in self.devices.iter_mut().flat_map(|device| &mut device.mappings) {
            if mapped.record == record {
                mapped.address = address;
            }
        }
    }

    /// The mapping failed after it was planned.
    pub fn not_mapped(&mut self, record: u32) {
        for device in &mut self.devices {
            device.mappings.retain(|mapped| mapped.record != record);
        }
    }

    /// `munmap` of exactly a mapped range drops its record; of another range changes nothing.
    pub fn munmap(&mut self, caller: Caller, address: u64, length: u64) {
        let Some(length) = length.checked_next_multiple_of(PAGE) else { return };
        let is = |mapped: &Mapped| {
            let place = mapped.address != 0 && mapped.address == address;
            mapped.tgid == caller.tgid && place && mapped.length == length
        };
        let found = self.devices.iter().flat_map(|device| &device.mappings).find(|mapped| is(mapped));
        let Some(record) = found.map(|mapped| mapped.record) else { return };
        self.not_mapped(record);
        self.record(caller, 0, Kind::Munmap { length }, 0);
    }
}

impl<M: Memory> Call<'_, M> {
    pub(super) fn resource_mmap_info(&mut self) -> Reply {
        let mut raw: ResourceMmapInfo = self.arg()?;
        let config = &self.driver.config;
        let (block, id, wanted) = (raw.block.get(), raw.block_id.get(), raw.resource.get());
        let found = window(config.arch, config.hbm_bytes, block, id, wanted);
        let (offset, size, _) = found.ok_or(Fail::errno(EINVAL))?;
        self.note("offset", offset);
        raw.offset.set(offset);
        raw.size.set(size);
        self.put(&raw)
    }

    /// The export itself needs a kernel object; a mapping that exists is answered with "not possible here".
    pub(super) fn dmabuf_fd(&mut self) -> Reply {
        let raw: DmabufFd = self.arg()?;
        let mine = |mapped: &&Mapped| mapped.tgid == self.caller.tgid && mapped.address == raw.va.get();
        match self.driver.devices.iter().flat_map(|device| &device.mappings).find(mine) {
            Some(_) => fail(crate::abi::errno::ENODEV),
            None => fail(EINVAL),
        }
    }

    pub(super) fn va_placement(&mut self) -> Reply {
        if self.driver.config.version == super::Version::V2_24 {
            return fail(EINVAL);
        }
        let mut raw: VaPlacement = self.arg()?;
        let (va, tgid) = (raw.va.get(), self.caller.tgid);
        let holds = |mapped: &&Mapped| {
            mapped.tgid == tgid && mapped.address != 0 && va.wrapping_sub(mapped.address) < mapped.length
        };
        let found = self.driver.devices.iter().enumerate().find_map(|(at, device)| {
            device
                .mappings
                .iter()
                .find(holds)
                .map(|mapped| (at, device.chunk_at(mapped.offset).map(|chunk| chunk.place)))
        });
        raw.device.set(found.map_or(-1, |(at, _)| at as i32));
        raw.hbm.set(match found {
            Some((_, Some(Place::Hbm(hbm)))) => i32::from(hbm),
            _ => -1,
        });
        self.put(&raw)
    }
}
