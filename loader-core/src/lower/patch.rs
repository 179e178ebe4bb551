//! What relocation did to an engine's program: a list per engine, and the way back from a device position to a
//! position in the file (lowering.md §10.1).

use super::record::{PatchEntry, PatchSection, PatchType};
use crate::error::{Error, LowerCode, Stage};
use zerocopy::little_endian::U32;

/// Bytes of an instruction slot.
pub const SLOT: u64 = 64;

impl PatchEntry {
    /// The entry for `bytes` bytes at `offset`; `None` for 0 bytes, which change nothing.
    #[must_use]
    pub fn of(offset: u32, bytes: u32, kind: PatchType, section: PatchSection) -> Option<Self> {
        if bytes == 0 {
            return None;
        }
        Some(Self { offset: U32::new(offset), count: U32::new(bytes >> 6), kind, section })
    }

    /// What replacing one pseudo-instruction by `slots` slots leaves: an insertion of the surplus, a deletion of
    /// one, or nothing.
    #[must_use]
    pub fn expansion(offset: u32, slots: u32, section: PatchSection) -> Option<Self> {
        let entry = |count, kind| Self { offset: U32::new(offset), count: U32::new(count), kind, section };
        match slots {
            0 => Some(entry(1, PatchType::DELETE)),
            1 => None,
            more => Some(entry(more.saturating_sub(1), PatchType::INSERT)),
        }
    }
}

/// A section of an engine's program on the device.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Which one.
    pub section: PatchSection,
    /// Its first byte.
    pub base: u64,
    /// Its bytes.
    pub size: u64,
}

/// The 1-based slot of the file that a device position shows. For diagnostics only.
///
/// # Errors
/// L909 if the position is in neither section, L908 for other sections than main and function.
pub fn file_position(entries: &[PatchEntry], sections: &[Section], device_ip: u64) -> Result<u64, Error> {
    let fail = |code, a| Error::new(Stage::Lower, code).numbers(a, 0);
    let inside = |s: &&Section| device_ip.checked_sub(s.base).is_some_and(|within| within < s.size);
    let found = sections.iter().find(inside).ok_or_else(|| fail(LowerCode::PatchBounds, device_ip))?;
    if !matches!(found.section, PatchSection::MAIN | PatchSection::FUNCTION) {
        return Err(fail(LowerCode::PatchSection, u64::from(found.section.get())));
    }
    let (mut address, mut index) = (found.base, 1u64);
    for entry in entries.iter().filter(|entry| entry.section == found.section) {
        if address >= device_ip {
            break;
        }
        let count = u64::from(entry.count.get());
        match entry.kind {
            PatchType::INSERT => address = address.saturating_add(count.saturating_mul(SLOT)),
            PatchType::MODIFY => {
                address = address.saturating_add(SLOT);
                index = index.saturating_add(1);
            }
            _ => index = index.saturating_add(count),
        }
    }
    Ok(index.saturating_add(device_ip.saturating_sub(address) >> 6))
}
