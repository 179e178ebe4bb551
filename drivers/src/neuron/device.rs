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
use loader_core::arch::Arch;
use loader_core::device::{
    AllocSpec, CoreId, DevAddr, Device, DeviceError, Granted, MemHandle, Place, category,
};
use zerocopy::{FromBytes, IntoBytes};

/// Largest alignment that the driver takes (§15).
const MAX_ALIGN: u64 = 1 << 30;
/// Forms of an allocation, from the newest down.
const FORMS: [u32; 5] =
    [req::MEM_ALLOC_V2MT64_PA, req::MEM_ALLOC_V2MT64, req::MEM_ALLOC_V2MT, req::MEM_ALLOC_V2, req::MEM_ALLOC];

/// Bytes of the longest form, the newest.
const LONGEST: usize = size_of::<MemAllocV2MemType64Pa>();

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
        let mut record = [0; LONGEST];
        macro_rules! fill {
            ($record:ident $(, $field:ident = $value:expr)*) => {{
                let mut raw = $record::default();
                raw.size.set(ask.size);
                raw.host_memory.set(u32::from(ask.host));
                raw.dram_channel.set(ask.channel);
                raw.nc_id.set(ask.nc);
                $(raw.$field.set($value);)*
                raw.mem_handle.set(at);
                crate::bytes::copy(&mut record, raw.as_bytes());
            }};
        }
        match form {
            0 => fill!(MemAllocV2MemType64Pa, align = ask.align, mem_type = ask.kind),
            1 => fill!(MemAllocV2MemType64, align = ask.align, mem_type = ask.kind),
            2 => fill!(MemAllocV2MemType, align = ask.align, mem_type = ask.kind),
            3 => fill!(MemAllocV2, align = ask.align),
            _ => fill!(MemAlloc),
        }
        let mut attempt = 1;
        loop {
            // SAFETY: no form is longer than the record; the only address in it is that of `handle`, eight bytes that
            // live through the call.
            match unsafe { self.dev.issue(request, record.as_mut_ptr()) } {
                // Interrupted before it did anything: a grant stores its handle, which is never 0.
                Err(fault) if fault.errno() == Some(EINTR) && handle == 0 && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                done => break done?,
            }
        }
        let newest = MemAllocV2MemType64Pa::ref_from_bytes(&record).ok().filter(|_| form == 0);
        Ok((handle, newest.map(|raw| raw.pa.get())))
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

    /// Copies in pieces; falls back to the 32-bit form once.
    fn pieces(
        &self,
        (len, narrow): (usize, bool),
        mut piece: impl FnMut(bool, core::ops::Range<usize>) -> Result<(), Fault>,
    ) -> Result<(), DeviceError> {
        let step = usize::try_from(MAX_BUF_COPY).unwrap_or(usize::MAX);
        let (mut done, mut narrow) = (0, narrow);
        while done < len {
            let range = done..len.min(done.saturating_add(step));
            let mut outcome = piece(!narrow, range.clone());
            if !narrow && outcome.is_err_and(Fault::is_unknown) {
                outcome = piece(false, range.clone());
                if outcome.is_ok() {
                    narrow = true;
                    self.table.with(|table| table.forms.narrow_copy = true);
                }
            }
            outcome?;
            done = range.end;
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
        let (block, narrow) = self.table.with(|table| (table.get(handle), table.forms.narrow_copy));
        let block = block?;
        block.within(at, bytes.len())?;
        self.pieces((bytes.len(), narrow), |wide, range| {
            let offset = at + range.start as u64;
            self.dev.write(wide, block.driver(), offset, bytes.get(range).unwrap_or(&[]))
        })
    }

    fn read(&self, handle: MemHandle, at: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        let (block, narrow) = self.table.with(|table| (table.get(handle), table.forms.narrow_copy));
        let block = block?;
        block.within(at, out.len())?;
        self.pieces((out.len(), narrow), |wide, range| {
            let offset = at + range.start as u64;
            self.dev.read(wide, block.driver(), offset, out.get_mut(range).unwrap_or(&mut []))
        })
    }
}
