//! From a variable and an offset to an address: the only operation of an execution (lowering.md §8.4).

use super::record::MrType;
use crate::device::DevAddr;
use crate::error::{Error, LowerCode, Stage};

/// What resolving needs to know of a variable.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// Its name, for messages.
    pub name: &'a [u8],
    /// Its class.
    pub mr_type: MrType,
    /// Its bytes.
    pub size: u64,
    /// Where it is; [`DevAddr::UNPLACED`] if it is not.
    pub address: DevAddr,
}

/// The address of `len` bytes at `offset` of a variable. Sums are checked; the reference's may wrap.
///
/// # Errors
/// L902 outside the variable, L904 for a pointer at another offset than 0, L903 for a variable without a place.
pub fn resolve(var: &Placed<'_>, offset: u64, len: u64) -> Result<DevAddr, Error> {
    let fail = |code| Error::new(Stage::Lower, code).name(var.name).numbers(var.size, offset).third(len);
    if offset.checked_add(len).is_none_or(|end| end > var.size) {
        return Err(fail(LowerCode::ResolveOutOfBounds));
    }
    if var.mr_type == MrType::PTR && offset != 0 {
        return Err(fail(LowerCode::ResolvePointerOffset));
    }
    if var.address == DevAddr::UNPLACED {
        return Err(fail(LowerCode::ResolveUnplaced));
    }
    let address = var.address.0.checked_add(offset).map(DevAddr);
    address.ok_or_else(|| fail(LowerCode::ResolveOutOfBounds))
}

#[cfg(test)]
mod tests;
