//! Taking and giving back one block of device memory (staging.md §7.3).

use super::record::DMem;
use crate::device::{AllocSpec, CoreId, Device, DeviceError, Granted, MemHandle, Place, Usage, category};
use crate::error::{Error, Stage, StageCode};

/// How often a free that fails is tried again: whoever gives back has nobody to tell.
const FREE_ATTEMPTS: u32 = 3;

/// What to ask a device for. All memory of a load is HBM of the core's home channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want<'a> {
    /// Bytes.
    pub size: u64,
    /// 0 or a power of two.
    pub align: u64,
    /// What for.
    pub usage: Usage,
    /// A word for logs.
    pub tag: &'a str,
    /// A page of a contiguous scratchpad.
    pub contiguous: bool,
}

/// A block that was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its handle.
    pub handle: MemHandle,
    /// First address that the device gave.
    pub base: u64,
    /// Bytes to the effective address.
    pub skip: u64,
    /// Bytes wanted.
    pub size: u64,
    /// Bytes that the device reserved.
    pub granted: u64,
    /// HBM channel.
    pub channel: u8,
}

impl Taken {
    /// The effective address.
    #[must_use]
    pub const fn address(&self) -> u64 {
        self.base.wrapping_add(self.skip)
    }

    /// Enters it into a record, but for what the block holds.
    pub(super) fn enter(&self, core: CoreId, want: &Want<'_>, record: &mut DMem) {
        record.core = u32::from(core.0).into();
        record.slot = self.handle.slot.into();
        record.generation = self.handle.generation.into();
        record.size = self.size.into();
        record.base = self.base.into();
        record.skip = self.skip.into();
        record.granted = self.granted.into();
        record.location = 1.into();
        record.usage = usage_number(want.usage).into();
        record.channel = u32::from(self.channel).into();
        record.align = want.align.into();
        record.refs = 1.into();
    }
}

/// A usage as stored in a record.
#[must_use]
pub fn usage_number(usage: Usage) -> u32 {
    let place = Usage::ALL.iter().position(|&other| other == usage);
    place.and_then(|index| u32::try_from(index).ok()).unwrap_or(0)
}

/// Checks that a usage is legal in a place, before a driver is asked (staging.md §7.5).
///
/// # Errors
/// `UsageNotLegal`.
pub fn check_usage(usage: Usage, place: Place) -> Result<(), Error> {
    if category(usage, place).is_some() {
        return Ok(());
    }
    Err(Error::new(Stage::Plan, StageCode::UsageNotLegal).name(usage.name().as_bytes()))
}

/// Takes a block. A device that cannot align is asked for more, and a whole alignment may be skipped.
///
/// # Errors
/// The device's refusal with what was asked for.
pub fn take<D: Device>(device: &D, core: CoreId, want: &Want<'_>) -> Result<Taken, Error> {
    let channel = device.home_channel(core);
    let place = Place::Hbm(channel);
    check_usage(want.usage, place)?;
    let &Want { size, align, usage, tag, contiguous } = want;
    let mut spec = AllocSpec { core, place, size, align, usage, tag, contiguous };
    let refused = |error: DeviceError| refusal(error, want);
    if size == 0 {
        return Err(refused(DeviceError::BadRequest));
    }
    let (granted, skip) = match device.alloc(&spec) {
        Err(DeviceError::AlignmentUnsupported) if align > 1 => {
            take_unaligned(device, &mut spec).map_err(refused)?
        }
        other => (other.map_err(refused)?, 0),
    };
    Ok(Taken { handle: granted.handle, base: granted.base.0, skip, size, granted: granted.bytes, channel })
}

/// A block of a device that cannot align, with the bytes of it to skip. Pages of one range follow each other on every
/// device (R41): one that comes aligned by itself has nothing to skip.
fn take_unaligned<D: Device>(device: &D, spec: &mut AllocSpec<'_>) -> Result<(Granted, u64), DeviceError> {
    let align = core::mem::take(&mut spec.align);
    if spec.contiguous {
        let granted = device.alloc(spec)?;
        if granted.base.0.is_multiple_of(align) {
            return Ok((granted, 0));
        }
        give_back(device, granted.handle);
    }
    spec.size = spec.size.checked_add(align).ok_or(DeviceError::OutOfRange)?;
    let granted = device.alloc(spec)?;
    let over = granted.base.0.checked_rem(align).unwrap_or(0);
    Ok((granted, align.saturating_sub(over)))
}

fn refusal(error: DeviceError, want: &Want<'_>) -> Error {
    let failed = error.at(Stage::Plan);
    match error {
        DeviceError::Io(_) | DeviceError::Positive(_) => failed.name(want.tag.as_bytes()),
        _ => failed.numbers(want.size, want.align).name(want.usage.name().as_bytes()),
    }
}

/// Gives a block back.
pub fn give_back<D: Device>(device: &D, handle: MemHandle) {
    for _ in 0..FREE_ATTEMPTS {
        match device.free(handle) {
            Err(DeviceError::Io(_)) => {}
            _ => return,
        }
    }
}
