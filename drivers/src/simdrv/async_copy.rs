//! Asynchronous copies: two contexts per core's copy queue (driver-abi.md §7.7).

use super::copy::Between;
use super::device::CopyContext;
use super::dispatch::{Call, Reply, fail};
use super::driver::Driver;
use super::memory::Memory;
use crate::abi::errno::EINVAL;
use crate::abi::record::{MemCopyAsync, MemCopyAsync64, MemCopyAsyncWait};
use crate::abi::request as req;
use crate::abi::value::MAX_ASYNC_COPY;
use loader_core::device::Place;
use zerocopy::IntoBytes as _;

/// "No previous copy": starts with the first context.
const NONE: u32 = u32::MAX;

impl<M: Memory> Call<'_, M> {
    pub(super) fn mem_copy_async(&mut self) -> Reply {
        match self.request {
            req::MEM_COPY_ASYNC => {
                let mut raw: MemCopyAsync = self.arg()?;
                let copy = Between {
                    src: raw.src_mem_handle.get(),
                    dst: raw.dst_mem_handle.get(),
                    size: u64::from(raw.size.get()),
                    src_offset: u64::from(raw.src_offset.get()),
                    dst_offset: u64::from(raw.dst_offset.get()),
                };
                raw.wait_handle.set(self.start_copy(&copy, raw.pwait_handle.get())?);
                self.put_bytes(self.arg, raw.as_bytes())
            }
            req::MEM_COPY_ASYNC64 if !self.driver.config.old_forms_only => {
                let mut raw: MemCopyAsync64 = self.arg()?;
                let copy = Between {
                    src: raw.src_mem_handle.get(),
                    dst: raw.dst_mem_handle.get(),
                    size: raw.size.get(),
                    src_offset: raw.src_offset.get(),
                    dst_offset: raw.dst_offset.get(),
                };
                raw.wait_handle.set(self.start_copy(&copy, raw.pwait_handle.get())?);
                self.put_bytes(self.arg, raw.as_bytes())
            }
            _ => fail(EINVAL),
        }
    }

    /// The core whose queue serves a pair of chunks: the source's if that is device memory.
    fn copy_core(&mut self, src: u64, dst: u64) -> Result<usize, super::dispatch::Fail> {
        let (source, destination) = (self.chunk(src)?, self.chunk(dst)?);
        Ok(if source.place == Place::Host { destination.nc } else { source.nc } as usize)
    }

    fn start_copy(&mut self, copy: &Between, previous: u32) -> Result<u32, super::dispatch::Fail> {
        let (src, dst, size) = self.between(copy)?;
        if !matches!(previous, NONE | 0 | 1 | 2) {
            return fail(EINVAL);
        }
        let fault = self.dma_fault();
        self.block_fault(fault, 1)?;
        if copy.size > MAX_ASYNC_COPY {
            // Refused only after the first part has been started.
            self.move_blocks(src, dst, MAX_ASYNC_COPY, None)?;
            return fail(EINVAL);
        }
        if previous == 0 {
            return self.move_blocks(src, dst, size, fault).map(|_| 0);
        }
        let core = self.copy_core(copy.src, copy.dst)?;
        let next = if previous == 1 { 2 } else { 1 };
        let context = CopyContext { pending: Some((src, dst, size)), busy: true };
        self.device_mut().copies[core][next as usize - 1] = context;
        if previous != NONE {
            self.wait_copy(core, previous)?;
        }
        Ok(next)
    }

    fn wait_copy(&mut self, core: usize, handle: u32) -> Reply {
        let context = core::mem::take(&mut self.device_mut().copies[core][handle as usize - 1]);
        if !context.busy {
            return fail(EINVAL);
        }
        match context.pending {
            Some((src, dst, size)) => self.move_blocks(src, dst, size, None),
            None => Ok(0),
        }
    }

    pub(super) fn mem_copy_async_wait(&mut self) -> Reply {
        let raw: MemCopyAsyncWait = self.arg()?;
        let handle = raw.pwait_handle.get();
        if !matches!(handle, 1 | 2) {
            return fail(EINVAL);
        }
        let core = self.copy_core(raw.src_mem_handle.get(), raw.dst_mem_handle.get())?;
        self.wait_copy(core, handle)
    }
}

impl<M: Memory> Driver<M> {
    /// Moves what asynchronous copies have pending; their contexts stay busy until somebody waits.
    pub(super) fn finish_copies(&mut self, device: usize) {
        let state = &mut self.devices[device];
        for context in state.copies.iter_mut().flatten() {
            let Some((src, dst, size)) = context.pending.take() else { continue };
            let mut bounce = alloc::vec![0u8; size.min(1 << 16) as usize];
            let mut done = 0;
            while done < size {
                let now = (size - done).min(bounce.len() as u64) as usize;
                state.memory.read(src + done, &mut bounce[..now]);
                state.memory.write(dst + done, &bounce[..now]);
                done += now as u64;
            }
        }
    }
}
