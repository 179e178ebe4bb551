//! Copies between user buffers and chunks, chunk to chunk, and fills (driver-abi.md §7.7).

use super::device::Chunk;
use super::dispatch::{Call, Fail, Reply, fail};
use super::fault::{Action, When};
use super::memory::Memory;
use super::violation::What;
use crate::abi::errno::{E2BIG, EFAULT, EINVAL, ENOENT, EPERM};
use crate::abi::record::{
    MemBufCopy, MemBufCopy64, MemCopy, MemCopy64, MemCopy64Sequence, Memset, Memset64, ZeroCopy48, ZeroCopy64,
};
use crate::abi::request as req;
use crate::abi::value::{DESCRIPTOR_BYTES, MAX_BUF_COPY, mem_type};
use loader_core::arch::Arch;
use loader_core::device::Place;

const BLOCK: usize = DESCRIPTOR_BYTES as usize;

/// What a fault makes of one block of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockFault {
    None,
    Flip,
}

/// A copy between a user buffer and a chunk.
struct Buffer {
    handle: u64,
    buffer: u64,
    size: u64,
    offset: u64,
    to_device: bool,
}

/// A copy between chunks.
pub(super) struct Between {
    pub(super) src: u64,
    pub(super) dst: u64,
    pub(super) size: u64,
    pub(super) src_offset: u64,
    pub(super) dst_offset: u64,
}

impl<M: Memory> Call<'_, M> {
    /// The address of `offset` in a chunk after the bounds test of this driver version.
    pub(super) fn within(&mut self, chunk: &Chunk, offset: u64, size: u64) -> Result<u64, Fail> {
        let limit = match chunk.place {
            Place::Hbm(hbm) if chunk.kind == mem_type::CONTIGUOUS_SCRATCHPAD => {
                self.driver.config.main_end(hbm) - chunk.base
            }
            _ => chunk.bytes,
        };
        let version = self.driver.config.version;
        let beyond = if version.modern() { E2BIG } else { EINVAL };
        match offset.checked_add(size) {
            Some(end) if end <= limit => {}
            None if version.wraps() => {
                self.violation(What::Overflow)?;
                if offset.wrapping_add(size) > limit {
                    return fail(beyond);
                }
            }
            _ => return fail(beyond),
        }
        Ok(chunk.base.wrapping_add(offset))
    }

    /// The rule for the next use of a copy engine.
    pub(super) fn dma_fault(&mut self) -> Option<Action> {
        let wanted = |action: Action| {
            matches!(action, Action::Timeout(_) | Action::TimeoutInReset(_) | Action::FlipBit(_))
        };
        let action = self.driver.faults.hit(When::Dma, wanted);
        self.driver.injected |= action.is_some();
        action
    }

    /// What the rule says about a block, counted from 1.
    pub(super) fn block_fault(&self, action: Option<Action>, block: u32) -> Result<BlockFault, Fail> {
        match action {
            Some(Action::Timeout(at)) if at == block => fail(EPERM),
            Some(Action::TimeoutInReset(at)) if at == block && self.driver.config.arch != Arch::Sunda => {
                fail(EPERM)
            }
            Some(Action::FlipBit(at)) if at == block => Ok(BlockFault::Flip),
            _ => Ok(BlockFault::None),
        }
    }

    pub(super) fn mem_buf_copy(&mut self) -> Reply {
        match self.request {
            req::MEM_BUF_COPY => {
                let raw: MemBufCopy = self.arg()?;
                self.buffer_copy(&Buffer {
                    handle: raw.mem_handle.get(),
                    buffer: raw.buffer.get(),
                    size: u64::from(raw.size.get()),
                    offset: u64::from(raw.offset.get()),
                    to_device: raw.copy_to_mem_handle.get() != 0,
                })
            }
            req::MEM_BUF_COPY64 if !self.driver.config.old_forms_only => {
                let raw: MemBufCopy64 = self.arg()?;
                self.buffer_copy(&Buffer {
                    handle: raw.mem_handle.get(),
                    buffer: raw.buffer.get(),
                    size: raw.size.get(),
                    offset: raw.offset.get(),
                    to_device: raw.copy_to_mem_handle.get() != 0,
                })
            }
            _ => fail(EINVAL),
        }
    }

    fn buffer_copy(&mut self, copy: &Buffer) -> Reply {
        self.note("handle", copy.handle);
        self.note("offset", copy.offset);
        self.note("size", copy.size);
        self.note("write", u64::from(copy.to_device));
        let chunk = self.chunk(copy.handle)?;
        let device_side = chunk.place != Place::Host;
        if copy.size == 0 {
            self.violation(What::SizeZero)?;
        }
        if device_side && copy.size > MAX_BUF_COPY {
            self.violation(What::BigBufferCopy)?;
        }
        let base = self.within(&chunk, copy.offset, copy.size)?;
        // The loop counters of the path through the bounce buffer have 32 bits.
        let size = if device_side { copy.size & 0xFFFF_FFFF } else { copy.size };
        let cut =
            self.driver.faults.hit(When::Request(24), |action| matches!(action, Action::UserFaultAfter(_)));
        self.driver.injected |= cut.is_some();
        let dma = if device_side && size > 0 { self.dma_fault() } else { None };
        self.blocks(base, copy, size, cut, dma)
    }

    fn blocks(
        &mut self,
        base: u64,
        copy: &Buffer,
        size: u64,
        cut: Option<Action>,
        dma: Option<Action>,
    ) -> Reply {
        let mut bounce = alloc::vec![0u8; BLOCK.min(size as usize)];
        let mut done = 0u64;
        let mut block = 0u32;
        while done < size {
            let now = (size - done).min(DESCRIPTOR_BYTES) as usize;
            if matches!(cut, Some(Action::UserFaultAfter(after)) if block >= after) {
                return Err(self.unread(now));
            }
            block += 1;
            self.one_block(
                base.wrapping_add(done),
                copy.buffer.wrapping_add(done),
                copy,
                &mut bounce[..now],
                (dma, block),
            )?;
            done += now as u64;
        }
        Ok(0)
    }

    fn one_block(
        &mut self,
        address: u64,
        buffer: u64,
        copy: &Buffer,
        bounce: &mut [u8],
        (dma, block): (Option<Action>, u32),
    ) -> Reply {
        if copy.to_device {
            match self.user.read(buffer, bounce) {
                0 => {}
                missing => return Err(self.unread(missing)),
            }
        } else {
            self.device().memory.read(address, bounce);
        }
        if self.block_fault(dma, block)? == BlockFault::Flip {
            bounce[0] ^= 1;
        }
        if copy.to_device {
            self.device_mut().memory.write(address, bounce);
            return Ok(0);
        }
        match self.user.write(buffer, bounce) {
            0 => Ok(0),
            missing => Err(if self.driver.config.version.modern() {
                Fail::errno(EFAULT)
            } else {
                Fail::Raw(missing as i64)
            }),
        }
    }

    pub(super) fn mem_copy(&mut self) -> Reply {
        let copy = match self.request {
            req::MEM_COPY => {
                let raw: MemCopy = self.arg()?;
                Between {
                    src: raw.src_mem_handle.get(),
                    dst: raw.dst_mem_handle.get(),
                    size: u64::from(raw.size.get()),
                    src_offset: u64::from(raw.src_offset.get()),
                    dst_offset: u64::from(raw.dst_offset.get()),
                }
            }
            req::MEM_COPY64 if !self.driver.config.old_forms_only => {
                let raw: MemCopy64 = self.arg()?;
                Between {
                    src: raw.src_mem_handle.get(),
                    dst: raw.dst_mem_handle.get(),
                    size: raw.size.get(),
                    src_offset: raw.src_offset.get(),
                    dst_offset: raw.dst_offset.get(),
                }
            }
            req::MEM_COPY64_SEQUENCE if self.driver.config.version.modern() => {
                let raw: MemCopy64Sequence = self.arg()?;
                Between {
                    src: raw.src_mem_handle.get(),
                    dst: raw.dst_mem_handle.get(),
                    size: raw.size.get(),
                    src_offset: raw.src_offset.get(),
                    dst_offset: raw.dst_offset.get(),
                }
            }
            _ => return fail(EINVAL),
        };
        let (src, dst, size) = self.between(&copy)?;
        let fault = self.dma_fault();
        self.move_blocks(src, dst, size, fault)
    }

    /// Checks a copy between chunks: source and destination address, and bytes that really move.
    pub(super) fn between(&mut self, copy: &Between) -> Result<(u64, u64, u64), Fail> {
        let (source, destination) = (self.chunk(copy.src)?, self.chunk(copy.dst)?);
        self.other_device(copy)?;
        if copy.size == 0 {
            self.violation(What::SizeZero)?;
        }
        let src = self.within(&source, copy.src_offset, copy.size)?;
        let dst = self.within(&destination, copy.dst_offset, copy.size)?;
        // A descriptor whose length field is 0 moves 64 KiB.
        Ok((src, dst, if copy.size == 0 { DESCRIPTOR_BYTES } else { copy.size }))
    }

    /// The same number may live on another device that the caller has open: it is not the one that is used.
    fn other_device(&mut self, copy: &Between) -> Result<(), Fail> {
        let (here, tgid) = (self.open.device, self.caller.tgid);
        let ambiguous = self.driver.devices.iter().enumerate().any(|(at, device)| {
            let mine = |handle| device.chunk_of(handle).is_some_and(|chunk| chunk.tgid == tgid);
            at != here && (mine(copy.src) || mine(copy.dst))
        });
        if ambiguous { self.violation(What::OtherDevice) } else { Ok(()) }
    }

    pub(super) fn move_blocks(&mut self, src: u64, dst: u64, size: u64, fault: Option<Action>) -> Reply {
        let mut bounce = alloc::vec![0u8; BLOCK.min(size as usize)];
        let (mut done, mut block) = (0u64, 0u32);
        while done < size {
            let now = (size - done).min(DESCRIPTOR_BYTES) as usize;
            block += 1;
            let flip = self.block_fault(fault, block)? == BlockFault::Flip;
            let memory = &mut self.device_mut().memory;
            memory.read(src.wrapping_add(done), &mut bounce[..now]);
            bounce[0] ^= u8::from(flip);
            memory.write(dst.wrapping_add(done), &bounce[..now]);
            done += now as u64;
        }
        Ok(0)
    }

    pub(super) fn memset(&mut self) -> Reply {
        let (handle, offset, value, size) = match self.request {
            req::MEMSET => {
                let raw: Memset = self.arg()?;
                (raw.mem_handle.get(), raw.offset.get(), raw.value.get(), u64::from(raw.size.get()))
            }
            req::MEMSET64 if !self.driver.config.old_forms_only => {
                let raw: Memset64 = self.arg()?;
                (raw.mem_handle.get(), raw.offset.get(), raw.value.get(), raw.size.get())
            }
            _ => return fail(EINVAL),
        };
        self.note("handle", handle);
        self.note("size", size);
        let chunk = self.chunk(handle)?;
        if size == 0 {
            self.violation(What::SizeZero)?;
        }
        let base = self.within(&chunk, offset, size)?;
        let size = if size == 0 { DESCRIPTOR_BYTES } else { size };
        let fault = self.dma_fault();
        if value.to_le_bytes()[0] == 0 && fault.is_none() {
            // Never written reads as zero, and takes no memory of the host.
            self.device_mut().memory.forget(base, size);
            return Ok(0);
        }
        let pattern = alloc::vec![value.to_le_bytes()[0]; BLOCK];
        let (mut done, mut block) = (0u64, 0u32);
        while done < size {
            block += 1;
            self.block_fault(fault, block)?;
            let now = (size - done).min(DESCRIPTOR_BYTES) as usize;
            self.device_mut().memory.write(base.wrapping_add(done), &pattern[..now]);
            done += now as u64;
        }
        Ok(0)
    }

    /// Three incompatible layouts under one number (§3, §7.7, §16).
    pub(super) fn zero_copy(&mut self) -> Reply {
        use super::Version::{V2_24, V2_27, V2_30};
        let version = self.driver.config.version;
        if version != V2_24 && self.driver.config.arch == Arch::Sunda {
            return fail(EINVAL);
        }
        let copy = match (version, self.request) {
            // The baseline ignores the size and reads 40 bytes.
            (V2_24, _) => {
                let raw: MemBufCopy64 = self.arg()?;
                (raw.mem_handle, raw.buffer, raw.size, raw.offset, raw.copy_to_mem_handle)
            }
            (V2_27, req::MEM_BUF_ZEROCOPY64_48) => {
                let raw: ZeroCopy48 = self.arg()?;
                (raw.mem_handle, raw.buffer, raw.size, raw.offset, raw.is_copy_to_device)
            }
            (V2_30, req::MEM_BUF_ZEROCOPY64_64) => {
                let raw: ZeroCopy64 = self.arg()?;
                (raw.mem_handle, raw.buffer, raw.size, raw.offset, raw.is_copy_to_device)
            }
            _ => return fail(EINVAL),
        };
        let (handle, buffer, size, offset, to_device) = copy;
        let copy = Buffer {
            handle: handle.get(),
            buffer: buffer.get(),
            size: size.get(),
            offset: offset.get(),
            to_device: to_device.get() != 0,
        };
        if copy.size == 0 {
            self.violation(What::SizeZero)?;
            return Err(Fail::Stop("zero copy of no bytes"));
        }
        // Zero copy answers EINVAL to a bad handle or range on every version.
        let einval = |fault: Fail| match fault {
            Fail::Raw(raw) if raw == -i64::from(ENOENT) || raw == -i64::from(E2BIG) => Fail::errno(EINVAL),
            other => other,
        };
        let chunk = self.chunk(copy.handle).map_err(einval)?;
        let base = self.within(&chunk, copy.offset, copy.size).map_err(einval)?;
        let fault = self.dma_fault();
        self.blocks(base, &copy, copy.size, None, fault)
    }
}
