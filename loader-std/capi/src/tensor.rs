//! Tensors: blocks of device memory, and slices of them that share the block.

use crate::device::Shared;
use crate::failure::{Answer, Failure};
use loader_core::device::{AllocSpec, CoreId, DevAddr, Device, DeviceError, Granted, Place, Usage};
use loader_core::error::{DeviceCode, Error, Stage, Status};
use loader_std::room::{self, Full};
use std::sync::Arc;

/// Bytes that go to or from a device at a time.
pub(crate) const PIECE: usize = if cfg!(miri) { 1 << 7 } else { 1 << 20 };

/// Alignment of a tensor's block in device memory.
const ALIGN: u64 = 64;

/// Where a tensor lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// Memory of the device, near this physical core.
    Device(CoreId),
    /// Host memory that the device can reach.
    Host,
}

/// A block, given back when its last tensor is freed.
#[derive(Debug)]
struct Block {
    device: Shared,
    granted: Granted,
    home: Home,
}

impl Block {
    fn read(&self, at: u64, out: &mut [u8]) -> Answer {
        Ok(self.device.read(self.granted.handle, at, out)?)
    }

    fn write(&self, at: u64, bytes: &[u8]) -> Answer {
        Ok(self.device.write(self.granted.handle, at, bytes)?)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // Every block was granted by this device and is freed once, here.
        let _ = self.device.free(self.granted.handle);
    }
}

/// A range of a block.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    block: Arc<Block>,
    start: u64,
    size: u64,
}

impl Tensor {
    /// Reserves a block of `size` bytes, at least 1.
    pub(crate) fn allocate(device: &Shared, home: Home, size: u64) -> Answer<Self> {
        if size == 0 {
            return Err(Failure::invalid("a tensor has at least one byte"));
        }
        if i64::try_from(size).is_err() {
            let status = match home {
                Home::Device(_) => Status::Resource,
                Home::Host => Status::FailHostMemAlloc,
            };
            return Err(Failure::new(status, format_args!("no memory has {size} bytes")));
        }
        // Host memory comes in pages and takes no request for more.
        let (core, place, align) = match home {
            Home::Device(core) => (core, Place::Hbm(device.home_channel(core)), ALIGN),
            Home::Host => (CoreId(0), Place::Host, 0),
        };
        let spec =
            AllocSpec { core, place, size, align, usage: Usage::Tensor, tag: "tensor", contiguous: false };
        let granted = device.alloc(&spec).map_err(|refused| refusal(refused, &spec))?;
        Ok(Self { block: Arc::new(Block { device: device.clone(), granted, home }), start: 0, size })
    }

    /// `size` bytes of it from `offset` on, the same memory.
    pub(crate) fn slice(&self, offset: u64, size: u64) -> Answer<Self> {
        if size == 0 {
            return Err(Failure::invalid("a slice has at least one byte"));
        }
        let start = self.inside(offset, size)?;
        Ok(Self { block: Arc::clone(&self.block), start, size })
    }

    /// Bytes.
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// Its first byte, as the device sees it.
    pub(crate) fn address(&self) -> DevAddr {
        DevAddr(self.block.granted.base.0.wrapping_add(self.start))
    }

    /// Place in the block of a range of the tensor.
    fn inside(&self, offset: u64, size: u64) -> Answer<u64> {
        let outside = || {
            let own = self.size;
            Failure::invalid(format_args!("{size} bytes at {offset} leave the tensor, which has {own} bytes"))
        };
        let end = offset.checked_add(size).ok_or_else(outside)?;
        if end > self.size { Err(outside()) } else { Ok(self.start + offset) }
    }

    /// Hands `size` bytes from `offset` on to `take`, in pieces with their place in the range.
    pub(crate) fn read(&self, offset: u64, size: u64, mut take: impl FnMut(u64, &[u8])) -> Answer {
        let start = self.inside(offset, size)?;
        let mut piece = buffer(size)?;
        each_piece(size, |at, count| {
            let part = &mut piece[..count];
            self.block.read(start + at, part)?;
            take(at, part);
            Ok(())
        })
    }

    /// Fills `size` bytes from `offset` on with what `give` puts into each piece.
    pub(crate) fn write(&self, offset: u64, size: u64, mut give: impl FnMut(u64, &mut [u8])) -> Answer {
        let start = self.inside(offset, size)?;
        let mut piece = buffer(size)?;
        each_piece(size, |at, count| {
            let part = &mut piece[..count];
            give(at, part);
            self.block.write(start + at, part)
        })
    }

    /// Copies `size` bytes to another tensor, or within this one as if through a buffer.
    pub(crate) fn copy(&self, from: u64, to: &Self, at: u64, size: u64) -> Answer {
        if let (Home::Device(own), Home::Device(other)) = (self.block.home, to.block.home)
            && own != other
        {
            let (own, other) = (own.0, other.0);
            let text = format_args!("the tensors lie at different cores, {own} and {other}");
            return Err(Failure::invalid(text));
        }
        let target = to.inside(at, size)?;
        let source = self.inside(from, size)?;
        let mut piece = buffer(size)?;
        let mut move_piece = |at: u64, count: usize| {
            let part = &mut piece[..count];
            self.block.read(source + at, part)?;
            to.block.write(target + at, part)
        };
        // Within one block, pieces go in the order in which none is overwritten before it is read.
        if Arc::ptr_eq(&self.block, &to.block) && target > source {
            each_piece(size, |at, count| move_piece(size - at - count as u64, count))
        } else {
            each_piece(size, move_piece)
        }
    }
}

/// The device's refusal of a block, with what was asked for.
fn refusal(refused: DeviceError, spec: &AllocSpec<'_>) -> Failure {
    let usage = spec.usage.name().as_bytes();
    let error = match (refused, spec.place) {
        (DeviceError::OutOfMemory, Place::Host) => Error::new(Stage::Stage, DeviceCode::HostExhausted),
        (DeviceError::Io(_) | DeviceError::Positive(_), _) => return refused.into(),
        _ => refused.at(Stage::Stage),
    };
    Failure::call(&error.numbers(spec.size, spec.align).name(usage))
}

/// The buffer through which so many bytes go.
fn buffer(size: u64) -> Answer<Vec<u8>> {
    let full = |full: Full| full.error(Stage::Stage, "a copy's buffer");
    room::zeroed(piece_of(size)).map_err(|refused| Failure::call(&full(refused)))
}

fn piece_of(size: u64) -> usize {
    usize::try_from(size).map_or(PIECE, |size| size.min(PIECE))
}

fn each_piece(size: u64, mut each: impl FnMut(u64, usize) -> Answer) -> Answer {
    let mut at = 0;
    while at < size {
        let count = piece_of(size - at);
        each(at, count)?;
        at += count as u64;
    }
    Ok(())
}
