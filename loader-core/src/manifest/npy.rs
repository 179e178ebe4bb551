//! The first bytes of an `.npy` member: where its payload begins (manifests.md §15.2).

use super::build::fault;
use crate::error::{Error, ManifestCode, Name};

/// Bytes before the header text: magic, version, length.
const FIXED: usize = 10;
/// `93 4E`, read as a little-endian word.
const MAGIC: u16 = 0x4E93;

/// Collects the fixed part of a header from pieces of any length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NpyHead {
    bytes: [u8; FIXED],
    len: usize,
}

impl NpyHead {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; FIXED], len: 0 }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let room = self.bytes.get_mut(self.len..).unwrap_or(&mut []);
        let mut count = 0usize;
        for (slot, byte) in room.iter_mut().zip(bytes) {
            *slot = *byte;
            count = count.saturating_add(1);
        }
        self.len = self.len.saturating_add(count);
    }

    /// Offset of the payload in a member of `size` bytes; E320 with what was found.
    pub(crate) fn payload(&self, size: u64, name: &[u8]) -> Result<u64, Error> {
        let [m0, m1, _, _, _, _, major, _, h0, h1] = self.bytes;
        let magic = u16::from_le_bytes([m0, m1]);
        let header = u64::from(u16::from_le_bytes([h0, h1]));
        let offset = header.saturating_add(10);
        let found = match () {
            () if self.len >= 2 && magic != MAGIC => other_magic(magic),
            () if self.len < FIXED => Name::new(b"of too few bytes"),
            () if major != 1 => Name::new(b"not of version 1"),
            () if offset > size => Name::new(b"past the end"),
            () => return Ok(offset),
        };
        let error = fault(ManifestCode::NumpyHeader).name(name).numbers(u64::from(magic), size);
        Err(error.named2(&found))
    }
}

/// The reference's words for a magic that is not [`MAGIC`].
fn other_magic(magic: u16) -> Name<16> {
    let (mut text, mut len) = ([0u8; 14], 0usize);
    for shift in [12, 8, 4, 0] {
        let digit = magic.wrapping_shr(shift) & 15;
        if len == 0 && digit == 0 && shift != 0 {
            continue;
        }
        if let (Some(slot), Some(&digit)) = (text.get_mut(len), b"0123456789abcdef".get(usize::from(digit))) {
            *slot = digit;
        }
        len = len.wrapping_add(1);
    }
    if let Some(rest) = text.get_mut(len..) {
        crate::bytes::copy(rest, b" != 0x4e93");
    }
    Name::new(text.get(..len.wrapping_add(10)).unwrap_or(&text))
}

/// Whether a constant is unwrapped: by its name's ending.
pub(crate) fn is_npy(name: &[u8]) -> bool {
    name.ends_with(b".npy")
}

#[cfg(test)]
mod tests;
