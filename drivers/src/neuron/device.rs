//! The loader's device boundary on top of requests (driver-abi.md §10.3).

use super::Neuron;
use super::block::{Blocks, Table};
use super::fault::Fault;
use super::node::ATTEMPTS;
use super::sys::Sys;
use crate::abi::errno::{EINTR, EINVAL, ENOENT, ENOMEM};
use crate::abi::record::{
    MemAlloc, MemAllocV2, MemAllocV2MemType, MemAllocV2MemType64, MemAllocV2MemType64Pa, MemFree,
};
use crate::abi::request as req;
use crate::abi::value::{MAX_ALLOC, MAX_BUF_COPY, PAGE, feature, mem_type};
use crate::map;
use crate::sim::Lock;
use core::mem::offset_of;
use core::ops::Range;
use loader_core::arch::Arch;
use loader_core::device::{
    AllocSpec, CoreId, DevAddr, Device, DeviceError, Granted, MemHandle, Place, category,
};
use zerocopy::IntoBytes;

/// Largest alignment that the driver takes (§15).
const MAX_ALIGN: u64 = 1 << 30;
/// Forms of an allocation, from the newest down.
const FORMS: [u32; 5] =
    [req::MEM_ALLOC_V2MT64_PA, req::MEM_ALLOC_V2MT64, req::MEM_ALLOC_V2MT, req::MEM_ALLOC_V2, req::MEM_ALLOC];
/// Where fields lie in the newest form.
const ALIGN: usize = offset_of!(MemAllocV2MemType64Pa, align);
const HOST: usize = offset_of!(MemAllocV2MemType64Pa, host_memory);
const TYPE: usize = offset_of!(MemAllocV2MemType64Pa, mem_type);
const HANDLE: Range<usize> = offset_of!(MemAllocV2MemType64Pa, mem_handle)..TYPE + 16;

/// The other forms have the fields of the newest in the same order and distances, but for those that they lack.
macro_rules! follows {
    ($form:ident, $first:ident at $place:expr $(, $field:ident)*) => {{
        assert!(offset_of!($form, $first) == $place);
        $(assert!(
            offset_of!($form, $field) - $place
                == offset_of!(MemAllocV2MemType64Pa, $field) - offset_of!(MemAllocV2MemType64Pa, $first)
        );)*
        assert!(size_of::<$form>() <= size_of::<MemAllocV2MemType64Pa>());
    }};
}
const _: () = {
    follows!(MemAllocV2MemType64, size at 0, align, host_memory, dram_channel, nc_id, mem_type, mem_handle);
    follows!(MemAllocV2MemType, size at 0, align, host_memory, dram_channel, nc_id, mem_type, mem_handle);
    follows!(MemAllocV2, size at 0, align, host_memory, dram_channel, nc_id);
    assert!(offset_of!(MemAllocV2, mem_handle) == TYPE);
    follows!(MemAlloc, host_memory at ALIGN, dram_channel, nc_id);
    assert!(offset_of!(MemAlloc, size) == 0 && offset_of!(MemAlloc, mem_handle) == ALIGN + (TYPE - HOST));
    assert!(HANDLE.end - HANDLE.start == 8 && HANDLE.start - TYPE == 8);
};

/// An allocation whose arguments are known to be good.
#[derive(Clone, Copy)]
struct Ask {
    size: u64,
    align: u64,
    host: bool,
    channel: u32,
    nc: u32,
    kind: u32,
}

impl<S: Sys + Copy, B: Blocks, L: Lock<Table<B>>> Neuron<S, B, L> {
    /// Judges a request before the driver sees it: nobody else does (§14).
    fn ask(&self, spec: &AllocSpec<'_>) -> Result<Ask, DeviceError> {
        let kind = category(spec.usage, spec.place).ok_or(DeviceError::BadRequest)?;
        let (host, channel) = match spec.place {
            Place::Host => (true, 0),
            Place::Hbm(channel) if channel < map::hbms(self.arch()) => (false, u32::from(channel)),
            Place::Hbm(_) => return Err(DeviceError::BadRequest),
        };
        let claimed = self.options.first_core..self.options.first_core + self.options.cores;
        let aligned = spec.align == 0 || spec.align.is_power_of_two();
        if spec.size == 0 || spec.size > MAX_ALLOC - PAGE || !aligned || !claimed.contains(&spec.core.0) {
            return Err(DeviceError::BadRequest);
        }
        if spec.align > MAX_ALIGN || host && spec.align > PAGE {
            return Err(DeviceError::AlignmentUnsupported);
        }
        // Everything is page aligned, and pages of a contiguous scratchpad lie where they must.
        let contiguous = spec.contiguous && self.has(feature::CONTIGUOUS_SCRATCHPAD);
        let align = if spec.align > PAGE && !contiguous { spec.align } else { 0 };
        let kind = if contiguous { mem_type::CONTIGUOUS_SCRATCHPAD } else { u32::from(kind) };
        Ok(Ask { size: spec.size, align, host, channel, nc: u32::from(spec.core.0), kind })
    }

    /// The newest form that the driver may know by its feature bits.
    fn newest_form(&self) -> usize {
        if self.has(feature::ALLOC_PA) {
            0
        } else if self.has(feature::MEM_ALLOC64) {
            1
        } else if self.has(feature::MEM_TYPE) {
            2
        } else {
            3
        }
    }

    /// One form of the request; the handle, and the address if this form gives it.
    fn allocate_as(&self, form: usize, ask: &Ask) -> Result<(u64, Option<u64>), Fault> {
        let request = FORMS.get(form).copied().unwrap_or(req::MEM_ALLOC);
        let mut handle = 0u64;
        let at = &raw mut handle as u64;
        let mut newest = MemAllocV2MemType64Pa::default();
        newest.size.set(ask.size);
        newest.align.set(ask.align);
        newest.host_memory.set(u32::from(ask.host));
        newest.dram_channel.set(ask.channel);
        newest.nc_id.set(ask.nc);
        newest.mem_type.set(ask.kind);
        newest.mem_handle.set(at);
        // The two forms after the newest are its beginning. The others lack the type, the oldest the alignment, too: there
        // what follows moves up.
        let record = newest.as_mut_bytes();
        if form >= 3 {
            record.copy_within(HANDLE, TYPE);
        }
        if form >= 4 {
            record.copy_within(HOST..HANDLE.start, ALIGN);
        }
        let record = record.as_mut_ptr();
        let mut attempt = 1;
        loop {
            // SAFETY: the record is the form's or begins with it, and lives as long as this function; the only address
            // in it is that of `handle`, eight bytes that live through the call.
            match unsafe { self.dev.issue(request, record) } {
                // Interrupted before it did anything: a grant stores its handle, which is never 0.
                Err(fault) if fault.errno() == Some(EINTR) && handle == 0 && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                done => break done?,
            }
        }
        Ok((handle, (form == 0).then(|| newest.pa.get())))
    }

    /// Tries forms from the newest down. Arguments are known to be good, so EINVAL means "not known".
    fn allocate(&self, ask: &Ask) -> Result<(u64, Option<u64>), DeviceError> {
        let known = self.table.with(|table| usize::from(table.forms.alloc));
        let mut form = known.max(self.newest_form());
        loop {
            // The oldest form cannot align.
            if FORMS.get(form).is_none() || form == FORMS.len() - 1 && ask.align > 0 {
                return Err(DeviceError::AlignmentUnsupported);
            }
            match self.allocate_as(form, ask) {
                Ok(granted) => {
                    self.table.with(|table| table.forms.alloc = u8::try_from(form).unwrap_or(0));
                    return Ok(granted);
                }
                Err(fault) if fault.is_unknown() && form + 1 < FORMS.len() => form += 1,
                Err(fault) if fault.errno() == Some(ENOMEM) => return Err(DeviceError::OutOfMemory),
                // No handle was given, so none can be wrong.
                Err(fault) if fault.errno() == Some(ENOENT) => return Err(DeviceError::HandleTable),
                Err(fault) => return Err(fault.into()),
            }
        }
    }

    pub(super) fn free_driver(&self, handle: u64) -> Result<(), Fault> {
        let mut raw = MemFree::default();
        raw.mem_handle.set(handle);
        self.dev.call(req::MEM_FREE, &mut raw)
    }

    /// Allocates without entering the table.
    pub(super) fn grant(&self, spec: &AllocSpec<'_>) -> Result<(u64, u64), DeviceError> {
        let ask = self.ask(spec)?;
        let (handle, address) = self.allocate(&ask)?;
        let address = match address {
            Some(address) => Ok(address),
            None => self.dev.address(handle),
        };
        address.map(|base| (handle, base)).map_err(|fault| {
            // The chunk exists although nobody knows where: give it back, and report the first failure.
            let _ = self.free_driver(handle);
            fault.into()
        })
    }

    /// Copies `len` bytes in pieces, from `buffer` into a block or the other way; falls back to the 32-bit form once.
    ///
    /// # Safety
    /// `buffer` must be valid for `len` bytes, to read or to write as `to_device` says.
    unsafe fn copy(
        &self,
        handle: MemHandle,
        at: u64,
        buffer: *const u8,
        len: usize,
        to_device: bool,
    ) -> Result<(), DeviceError> {
        let (block, mut narrow) = self.table.with(|table| (table.get(handle), table.forms.narrow_copy));
        let block = block?;
        block.within(at, len)?;
        let step = usize::try_from(MAX_BUF_COPY).unwrap_or(usize::MAX);
        let mut done = 0;
        while done < len {
            let size = step.min(len - done);
            let (chunk, piece) = ((block.driver(), at + done as u64), buffer.wrapping_add(done) as u64);
            loop {
                // SAFETY: the piece lies in the buffer, for which the caller answers.
                match unsafe { self.dev.copy(!narrow, chunk, piece, size as u64, to_device) } {
                    Err(fault) if !narrow && fault.is_unknown() => narrow = true,
                    outcome => break outcome?,
                }
            }
            done += size;
            if narrow {
                self.table.with(|table| table.forms.narrow_copy = true);
            }
        }
        Ok(())
    }
}

impl<S: Sys + Copy, B: Blocks, L: Lock<Table<B>>> Device for Neuron<S, B, L> {
    fn arch(&self) -> Arch {
        self.identity.arch
    }

    fn cores(&self) -> u16 {
        map::cores(self.arch())
    }

    fn owned(&self) -> (u16, u16) {
        (self.options.first_core, self.options.first_core + self.options.cores)
    }

    fn home_channel(&self, core: CoreId) -> u8 {
        map::home_hbm(self.arch(), core.0)
    }

    fn state_buffer(&self, core: CoreId) -> (DevAddr, u64) {
        (DevAddr(map::core_base(self.arch(), core.0)), map::STATE_BUFFER)
    }

    fn semaphore_increment(&self, core: CoreId, index: u32) -> DevAddr {
        DevAddr(map::semaphore_increment(self.arch(), core.0, index))
    }

    fn alloc(&self, spec: &AllocSpec<'_>) -> Result<Granted, DeviceError> {
        self.table.with(Table::reserve)?;
        let granted = self.grant(spec);
        let (driver, base) = granted.inspect_err(|_| self.table.with(Table::forgo))?;
        let bytes = spec.size.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
        let entered = self.table.with(|table| table.enter(driver, bytes));
        if entered.is_err() {
            let _ = self.free_driver(driver);
        }
        entered.map(|handle| Granted { handle, base: DevAddr(base), bytes })
    }

    fn free(&self, handle: MemHandle) -> Result<(), DeviceError> {
        let block = self.table.with(|table| table.get(handle))?;
        // The handle is the only argument, so EINVAL, which older drivers answer with, is about it too.
        let freed = self.free_driver(block.driver()).map_err(|fault| match fault.errno() {
            Some(EINVAL | ENOENT) => DeviceError::BadHandle,
            _ => fault.into(),
        });
        // A block that the driver kept stays in the table: the caller may try again, and closing does.
        if matches!(freed, Ok(()) | Err(DeviceError::BadHandle)) {
            self.table.with(|table| table.leave(handle))?;
        }
        freed
    }

    fn write(&self, handle: MemHandle, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        // SAFETY: with the direction "to the device" the driver reads the buffer, which is borrowed.
        unsafe { self.copy(handle, at, bytes.as_ptr(), bytes.len(), true) }
    }

    fn read(&self, handle: MemHandle, at: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        // SAFETY: the driver writes the buffer, which is borrowed mutably.
        unsafe { self.copy(handle, at, out.as_mut_ptr(), out.len(), false) }
    }
}
