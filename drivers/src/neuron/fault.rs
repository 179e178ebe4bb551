//! What a raw result means (driver-abi.md §6).

use crate::abi::errno::{E2BIG, EINVAL, ENOENT, EPERM, text};
use crate::abi::request::Request;
use core::fmt;
use core::num::NonZeroI32;
use loader_core::device::DeviceError;

/// A request that failed. It has the size of a register, so that a result without a value has, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its value.
    pub request: u32,
    /// The raw result, an `int`: a negated errno, or a positive number.
    raw: NonZeroI32,
}

impl Fault {
    /// The result of a request: only 0 is success.
    ///
    /// # Errors
    /// Every other number; beyond 32 bits, the nearest one of these.
    pub fn check(request: u32, raw: i64) -> Result<(), Self> {
        let nearest = if raw < 0 { i32::MIN } else { i32::MAX };
        match NonZeroI32::new(i32::try_from(raw).unwrap_or(nearest)) {
            None => Ok(()),
            Some(raw) => Err(Self { request, raw }),
        }
    }

    /// The errno, if it is one.
    #[must_use]
    pub fn errno(self) -> Option<i32> {
        self.raw.get().checked_neg().filter(|errno| *errno > 0)
    }

    /// The positive number, if it is one.
    #[must_use]
    pub fn positive(self) -> Option<u32> {
        u32::try_from(self.raw.get()).ok()
    }

    /// Whether the driver may simply not know the request.
    #[must_use]
    pub fn is_unknown(self) -> bool {
        self.errno() == Some(EINVAL)
    }
}

/// ENOMEM is the kernel's own want here; only an allocation knows it as the device's.
impl From<Fault> for DeviceError {
    fn from(fault: Fault) -> Self {
        match (fault.errno(), fault.positive()) {
            (Some(EPERM), _) => Self::TimeoutOrRing,
            (Some(E2BIG), _) => Self::OutOfRange,
            (Some(EINVAL), _) => Self::BadRequest,
            (Some(ENOENT), _) => Self::BadHandle,
            (Some(errno), _) => Self::Io(errno),
            (None, Some(number)) => Self::Positive(number),
            (None, None) => Self::Io(0),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Request::name_of(self.request).unwrap_or("unknown request");
        match self.errno() {
            Some(errno) => write!(f, "{name}: {} (errno {errno})", text(errno)),
            None => write!(f, "{name}: partial user copy or busy (positive result {})", self.raw),
        }
    }
}

impl core::error::Error for Fault {}

#[cfg(test)]
mod tests;
