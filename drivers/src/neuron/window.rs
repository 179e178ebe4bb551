//! A block of device memory mapped into this process (driver-abi.md §7.5).

use super::Neuron;
use super::block::{Blocks, Table};
use super::fault::Fault;
use super::node::Node;
use super::sys::Sys;
use crate::abi::errno::{EACCES, EPERM};
use crate::abi::record::MemGetInfo;
use crate::abi::request as req;
use crate::sim::Lock;
use core::sync::atomic::{Ordering, fence};
use loader_core::device::{DeviceError, MemHandle};

/// A mapped block. It borrows the device, so it is unmapped before the device is closed; whoever frees the block
/// earlier keeps a window on memory that may be somebody else's.
#[derive(Debug)]
pub struct Window<'d, S: Sys> {
    node: &'d Node<S>,
    base: *mut u8,
    bytes: usize,
}

impl<S: Sys + Copy, B: Blocks, L: Lock<Table<B>>> Neuron<S, B, L> {
    /// Maps a whole block, readable and writable. Bytes that go through a window need no request each; in bulk,
    /// [`loader_core::device::Device::write`] is faster.
    ///
    /// # Errors
    /// [`DeviceError::BadHandle`]; `BadRequest` where the driver finds no such block, which it reports as a lack
    /// of privileges; `Io` for other refusals.
    pub fn map(&self, handle: MemHandle) -> Result<Window<'_, S>, DeviceError> {
        let block = self.table.with(|table| table.get(handle))?;
        let bytes = usize::try_from(block.bytes()).map_err(|_| DeviceError::OutOfRange)?;
        let offset = self.dev.mmap_offset(block.driver())?;
        let mapped = self.dev.sys.mmap(self.dev.fd, bytes, offset, true);
        let base = mapped.map_err(|errno| match errno {
            EPERM | EACCES => DeviceError::BadRequest,
            errno => DeviceError::Io(errno),
        })?;
        Ok(Window { node: &self.dev, base, bytes })
    }
}

impl<S: Sys> Node<S> {
    /// Where a chunk is mapped from.
    fn mmap_offset(&self, handle: u64) -> Result<u64, Fault> {
        let (mut offset, mut address) = (0u64, 0u64);
        let mut raw = MemGetInfo::default();
        raw.mem_handle.set(handle);
        raw.mmap_offset.set(&raw mut offset as u64);
        raw.pa.set(&raw mut address as u64);
        // SAFETY: the two addresses are those of `offset` and `address`, eight bytes each that live through the call.
        unsafe { self.call_with(req::MEM_GET_INFO, &mut raw) }?;
        Ok(offset)
    }
}

impl<S: Sys> Window<'_, S> {
    /// Bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there are none, which no block has.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The place of `len` bytes at `at`, if they lie inside.
    fn place(&self, at: usize, len: usize) -> Result<*mut u8, DeviceError> {
        let inside = at.checked_add(len).is_some_and(|end| end <= self.bytes);
        // SAFETY: `at` is at most the mapping's length.
        if inside { Ok(unsafe { self.base.add(at) }) } else { Err(DeviceError::OutOfRange) }
    }

    /// Stores bytes. They have left the processor's write-combining buffers when this returns.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    pub fn write(&self, at: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        let to = self.place(at, bytes.len())?;
        for (at, byte) in bytes.iter().enumerate() {
            // SAFETY: inside the mapping, which lives as long as `self` and is never borrowed.
            unsafe { to.add(at).write_volatile(*byte) };
        }
        fence(Ordering::SeqCst);
        Ok(())
    }

    /// Loads bytes.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`].
    pub fn read(&self, at: usize, out: &mut [u8]) -> Result<(), DeviceError> {
        let from = self.place(at, out.len())?;
        for (at, byte) in out.iter_mut().enumerate() {
            // SAFETY: as in `write`.
            *byte = unsafe { from.add(at).read_volatile() };
        }
        Ok(())
    }
}

impl<S: Sys> Drop for Window<'_, S> {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that was made, and nothing borrows from it.
        unsafe { self.node.sys.munmap(self.base, self.bytes) };
    }
}
