//! The first bytes of an `.npy` member: where its payload begins (manifests.md §15.2).

use super::build::fault;
use crate::error::{Error, ManifestCode};

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
        let mut text = *b"0000 != 0x4e93";
        let found = match () {
            () if self.len >= 2 && magic != MAGIC => other_magic(magic, &mut text),
            () if self.len < FIXED => b"of too few bytes",
            () if major != 1 => b"not of version 1",
            () if offset > size => b"past the end",
            () => return Ok(offset),
        };
        let error = fault(ManifestCode::NumpyHeader).name(name).numbers(u64::from(magic), size);
        Err(error.name2(found))
    }
}

/// The reference's words for a magic that is not [`MAGIC`]: its digits go before what `text` ends with.
fn other_magic(magic: u16, text: &mut [u8; 14]) -> &[u8] {
    let (mut start, mut left) = (4usize, magic);
    while let Some(slot) = start.checked_sub(1).and_then(|at| text.get_mut(at)) {
        *slot = b"0123456789abcdef".get(usize::from(left & 15)).copied().unwrap_or(b'?');
        (start, left) = (start.wrapping_sub(1), left.wrapping_shr(4));
        if left == 0 {
            break;
        }
    }
    text.get(start..).unwrap_or(&[])
}

/// Whether a constant is unwrapped: by its name's ending.
pub(crate) fn is_npy(name: &[u8]) -> bool {
    name.ends_with(b".npy")
}

#[cfg(test)]
mod tests;
