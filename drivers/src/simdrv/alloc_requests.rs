//! Allocation, release and look-up of chunks (driver-abi.md §7.4).

use super::device::Life;
use super::dispatch::{Call, Fail, Reply, fail};
use super::fault::{Action, When};
use super::memory::Memory;
use super::place::Ask;
use super::violation::What;
use crate::abi::errno::{EACCES, EAGAIN, EINVAL, ENOENT, ENOMEM};
use crate::abi::record::{
    DumpMemChunks, MemAlloc, MemAllocV2, MemAllocV2MemType, MemAllocV2MemType64, MemAllocV2MemType64Pa,
    MemChunkInfo, MemFree, MemGetExtendedInfo, MemGetInfo, MemGetMcMmapInfo, MemGetMcMmapInfoV2, MemGetPa,
};
use crate::abi::request as req;
use crate::abi::value::{MAX_ALIGN, MAX_ALLOC, MAX_CORES_PER_DEVICE, PAGE, mem_type};
use crate::map;
use loader_core::device::Place;
use zerocopy::IntoBytes as _;

/// What all forms of an allocation have in common.
struct Wish {
    size: u64,
    align: u64,
    host: bool,
    channel: u32,
    nc: u32,
    kind: Option<u32>,
    handle_at: u64,
}

impl<M: Memory> Call<'_, M> {
    pub(super) fn mem_alloc(&mut self) -> Reply {
        let raw: MemAlloc = self.arg().map_err(|_| Fail::errno(EACCES))?;
        self.allocate(&Wish {
            size: raw.size.get(),
            align: 0,
            host: raw.host_memory.get() != 0,
            channel: raw.dram_channel.get(),
            nc: raw.nc_id.get(),
            kind: None,
            handle_at: raw.mem_handle.get(),
        })
        .map(|_| 0)
    }

    pub(super) fn mem_alloc_v2(&mut self) -> Reply {
        let old = self.driver.config.old_forms_only;
        match self.request {
            req::MEM_ALLOC_V2 => {
                let raw: MemAllocV2 = self.arg()?;
                self.alloc_v2(&raw, None)
            }
            req::MEM_ALLOC_V2MT => {
                let raw: MemAllocV2MemType = self.arg()?;
                self.alloc_typed(raw.as_bytes(), raw.mem_type.get(), raw.mem_handle.get()).map(|_| 0)
            }
            req::MEM_ALLOC_V2MT64 if !old => {
                let raw: MemAllocV2MemType64 = self.arg()?;
                self.alloc_typed(raw.as_bytes(), raw.mem_type.get(), raw.mem_handle.get()).map(|_| 0)
            }
            req::MEM_ALLOC_V2MT64_PA if !old && self.driver.config.version.modern() => {
                let mut raw: MemAllocV2MemType64Pa = self.arg()?;
                let pa = self.alloc_typed(raw.as_bytes(), raw.mem_type.get(), raw.mem_handle.get())?;
                raw.pa.set(pa);
                self.put(&raw)
            }
            _ => fail(EINVAL),
        }
    }

    /// The typed forms share their first 32 bytes with the untyped one.
    fn alloc_typed(&mut self, bytes: &[u8], kind: u32, handle_at: u64) -> Result<u64, Fail> {
        use crate::abi::record::Record as _;
        let mut raw = [0u8; 40];
        raw[..32].copy_from_slice(&bytes[..32]);
        let mut plain = MemAllocV2::from_bytes(&raw).unwrap_or_default();
        plain.mem_handle.set(handle_at);
        self.allocate(&Wish { kind: Some(kind), ..wish_of(&plain) })
    }

    fn alloc_v2(&mut self, raw: &MemAllocV2, kind: Option<u32>) -> Reply {
        self.allocate(&Wish { kind, ..wish_of(raw) }).map(|_| 0)
    }

    /// The checks in the driver's order, the chunk, its handle. Gives the chunk's address.
    fn allocate(&mut self, wish: &Wish) -> Result<u64, Fail> {
        self.note("size", wish.size);
        self.note("channel", u64::from(wish.channel));
        if wish.size > MAX_ALLOC || wish.channel >= u32::from(map::hbms(self.driver.config.arch)) {
            return fail(EINVAL);
        }
        let action = self.alloc_fault(wish);
        if action == Some(Action::OutOfMemory) {
            return fail(ENOMEM);
        }
        if wish.nc >= MAX_CORES_PER_DEVICE || wish.host && wish.align != 0 {
            return fail(EINVAL);
        }
        let default = if wish.host { 0 } else { mem_type::UNKNOWN_DEVICE };
        let kind = wish.kind.unwrap_or(default);
        let scratch = kind == mem_type::CONTIGUOUS_SCRATCHPAD && !wish.host;
        if !wish.host && !scratch && wish.align > MAX_ALIGN {
            return fail(EINVAL);
        }
        if self.device().attached(self.caller.tgid).is_none() {
            return Err(Fail::Stop("allocation by a process that is not attached"));
        }
        let align =
            if wish.align > PAGE && !scratch { wish.align.checked_next_power_of_two() } else { Some(PAGE) };
        let ask = Ask {
            bytes: wish.size.next_multiple_of(PAGE),
            align: align.ok_or(Fail::errno(EINVAL))?,
            place: if wish.host { Place::Host } else { Place::Hbm(wish.channel as u8) },
            nc: wish.nc,
            kind,
            tgid: self.caller.tgid,
            life: Life::Process,
        };
        self.grant(&ask, wish.handle_at, action)
    }

    fn alloc_fault(&mut self, wish: &Wish) -> Option<Action> {
        let scratch = wish.kind == Some(mem_type::CONTIGUOUS_SCRATCHPAD);
        let when = if wish.host { When::AllocHost } else { When::AllocDevice };
        let wanted = |action: Action| {
            use Action::{HandlesDown, Late, OutOfMemory, StoreFault};
            matches!(action, OutOfMemory | HandlesDown | StoreFault | Late(_))
        };
        let mut action = self.driver.faults.hit(when, wanted);
        if scratch {
            action = action.or(self.driver.faults.hit(When::AllocScratch, wanted));
        }
        self.driver.injected |= action.is_some();
        action
    }

    fn grant(&mut self, ask: &Ask, handle_at: u64, action: Option<Action>) -> Result<u64, Fail> {
        let device = self.open.device;
        let base = self.driver.make_chunk(device, ask)?;
        if action == Some(Action::HandlesDown) {
            self.device_mut().handles.switch_off();
        }
        let handle = self.driver.make_handle(device, base)?;
        let stored = match action {
            Some(Action::StoreFault) => Err(Fail::Raw(8)),
            _ => self.put_bytes(handle_at, &u64::from(handle).to_le_bytes()),
        };
        if let Err(fault) = stored {
            self.driver.drop_chunk(device, base);
            return Err(fault);
        }
        self.note("handle", u64::from(handle));
        self.note("pa", base);
        match action {
            Some(Action::Late(raw)) => Err(Fail::Raw(raw)),
            _ => Ok(base),
        }
    }

    /// The chunk of a handle, or the errno of this driver version.
    pub(super) fn chunk(&mut self, handle: u64) -> Result<super::Chunk, Fail> {
        let missing = if self.driver.config.version.modern() { ENOENT } else { EINVAL };
        let Some(chunk) = self.device().chunk_of(handle).copied() else {
            self.violation(What::ForeignHandle)?;
            return fail(missing);
        };
        if chunk.tgid != self.caller.tgid && chunk.life == Life::Process {
            self.violation(What::ForeignHandle)?;
        }
        Ok(chunk)
    }

    pub(super) fn mem_free(&mut self) -> Reply {
        let raw: MemFree = self.arg()?;
        self.note("handle", raw.mem_handle.get());
        let chunk = self.chunk(raw.mem_handle.get())?;
        if self.driver.is_out_of_order(self.open.device, &chunk) {
            self.violation(What::ScratchpadOrder)?;
        }
        self.driver.drop_chunk(self.open.device, chunk.base);
        Ok(0)
    }

    pub(super) fn mem_get_pa(&mut self) -> Reply {
        let raw: MemGetPa = self.arg()?;
        self.note("handle", raw.mem_handle.get());
        let base = self.device().handles.get(raw.mem_handle.get()).ok_or(Fail::errno(EINVAL))?;
        let fault = self.driver.faults.hit(When::Request(25), |action| action == Action::StoreFault);
        if fault.is_some() {
            self.driver.injected = true;
            return Err(Fail::Raw(8));
        }
        self.note("pa", base);
        self.put_bytes(raw.pa.get(), &base.to_le_bytes())
    }

    pub(super) fn mem_get_info(&mut self) -> Reply {
        let raw: MemGetInfo = self.arg()?;
        let base = self.device().handles.get(raw.mem_handle.get()).ok_or(Fail::errno(EINVAL))?;
        self.put_bytes(raw.pa.get(), &base.to_le_bytes())?;
        if raw.mmap_offset.get() != 0 {
            self.put_bytes(raw.mmap_offset.get(), &base.to_le_bytes())?;
        }
        Ok(0)
    }

    pub(super) fn mem_get_extended_info(&mut self) -> Reply {
        let mut raw: MemGetExtendedInfo = self.arg()?;
        let Some(chunk) = self.device().chunk_of(raw.mem_handle.get()).copied() else {
            return Err(Fail::Raw(i64::from(EINVAL)));
        };
        // The field comes back as a kernel pointer; nobody may keep it.
        raw.mem_handle.set(0xFFFF_8880_0000_0000 | chunk.base & 0xFFFF_FFFF);
        raw.host_memory.set(u32::from(chunk.place == Place::Host));
        raw.mmap_offset.set(chunk.base);
        raw.pa.set(chunk.base);
        raw.pid.set(u64::from(chunk.tgid));
        raw.size.set(chunk.bytes);
        self.put(&raw)
    }

    pub(super) fn mem_mc_get_info(&mut self) -> Reply {
        match self.request {
            req::MEM_MC_GET_INFO => {
                let mut raw: MemGetMcMmapInfo = self.arg()?;
                let chunk = self.device().chunk_at(raw.pa.get()).copied().ok_or(Fail::errno(ENOMEM))?;
                raw.mmap_offset.set(chunk.base);
                raw.size.set(chunk.bytes);
                self.put(&raw)
            }
            req::MEM_MC_GET_INFO_V2 => {
                let mut raw: MemGetMcMmapInfoV2 = self.arg()?;
                let chunk = self.device().chunk_at(raw.pa.get()).copied().ok_or(Fail::errno(ENOMEM))?;
                let handle = self.driver.make_handle(self.open.device, chunk.base)?;
                raw.mmap_offset.set(chunk.base);
                raw.size.set(chunk.bytes);
                raw.mem_handle.set(u64::from(handle));
                self.put(&raw)
            }
            _ => fail(EINVAL),
        }
    }

    pub(super) fn dump_mem_chunks(&mut self) -> Reply {
        let mut raw: DumpMemChunks = self.arg()?;
        let hbm = raw.hbm_index.get();
        if hbm >= u32::from(map::hbms(self.driver.config.arch)) {
            return fail(EINVAL);
        }
        let listed: alloc::vec::Vec<_> =
            self.device().chunks().filter(|chunk| chunk.place == Place::Hbm(hbm as u8)).copied().collect();
        raw.num_entries_out.set(listed.len() as u32);
        self.put(&raw)?;
        if listed.len() > raw.num_entries_in.get() as usize {
            return fail(EAGAIN);
        }
        for (at, chunk) in (0u64..).zip(listed) {
            let mut info = MemChunkInfo::default();
            info.pa.set(chunk.base);
            info.size.set(chunk.bytes);
            info.mem_type.set(chunk.kind);
            self.put_bytes(raw.data.get() + 24 * at, info.as_bytes())?;
        }
        Ok(0)
    }
}

const fn wish_of(raw: &MemAllocV2) -> Wish {
    Wish {
        size: raw.size.get(),
        align: raw.align.get(),
        host: raw.host_memory.get() != 0,
        channel: raw.dram_channel.get(),
        nc: raw.nc_id.get(),
        kind: None,
        handle_at: raw.mem_handle.get(),
    }
}
