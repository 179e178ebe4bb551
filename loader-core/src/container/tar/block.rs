//! A 512-byte header block: view, checksum, and the screening of the first one (container.md §10.1–10.3).

use super::number;
use crate::container::text::cut_at_nul;
use core::mem::{offset_of, size_of};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The block as it lies in the archive.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Block {
    pub(super) name: [u8; 100],
    pub(super) mode: [u8; 8],
    pub(super) uid: [u8; 8],
    pub(super) gid: [u8; 8],
    pub(super) size: [u8; 12],
    pub(super) mtime: [u8; 12],
    pub(super) checksum: [u8; 8],
    pub(super) kind: u8,
    pub(super) link: [u8; 100],
    pub(super) magic: [u8; 8],
    pub(super) owners: [u8; 64],
    pub(super) device_major: [u8; 8],
    pub(super) device_minor: [u8; 8],
    /// ustar only: what stands before the name.
    pub(super) prefix: [u8; 155],
    pub(super) rest: [u8; 12],
}

const _: () = {
    assert!(size_of::<Block>() == super::BLOCK);
    assert!(offset_of!(Block, size) == 124);
    assert!(offset_of!(Block, checksum) == 148);
    assert!(offset_of!(Block, kind) == 156);
    assert!(offset_of!(Block, magic) == 257);
    assert!(offset_of!(Block, device_major) == 329);
    assert!(offset_of!(Block, prefix) == 345);
};

/// Which rules a header follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    V7,
    Ustar,
    Gnu,
}

impl Block {
    pub(super) fn dialect(&self) -> Dialect {
        match &self.magic {
            b"ustar  \0" => Dialect::Gnu,
            [b'u', b's', b't', b'a', b'r', ..] => Dialect::Ustar,
            _ => Dialect::V7,
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.as_bytes().iter().all(|&byte| byte == 0)
    }

    pub(super) fn size(&self) -> i64 {
        number::field(&self.size)
    }

    /// The stored sum equals the sum of all bytes, taken as unsigned or as signed.
    pub(super) fn checksum_holds(&self) -> bool {
        if !self.checksum.iter().all(|byte| matches!(byte, b' ' | 0 | b'0'..=b'7')) {
            return false;
        }
        let sum = |bytes: &[u8]| bytes.iter().map(|&byte| i64::from(byte)).sum::<i64>();
        let high =
            |bytes: &[u8]| i64::try_from(bytes.iter().filter(|&&byte| byte >= 0x80).count()).unwrap_or(0);
        let blanks = i64::from(b' ').wrapping_mul(8);
        let unsigned = sum(self.as_bytes()).wrapping_sub(sum(&self.checksum)).wrapping_add(blanks);
        let signed = unsigned.wrapping_sub(high(self.as_bytes()).wrapping_mul(256));
        let stored = number::text(&self.checksum, 8);
        stored == unsigned || stored == signed
    }

    /// What the first block of an archive must look like.
    pub(super) fn plausible_first(&self) -> bool {
        if self.is_zero() {
            return true;
        }
        let fields: [&[u8]; 7] = [
            &self.mode,
            &self.uid,
            &self.gid,
            &self.size,
            &self.mtime,
            &self.device_major,
            &self.device_minor,
        ];
        self.checksum_holds()
            && (self.kind == 0 || self.kind.is_ascii_alphanumeric())
            && fields.into_iter().all(plausible_number)
    }

    /// The name of the header itself: up to 100 bytes, for ustar with a prefix of up to 155 before it.
    pub(super) fn header_name(&self, out: &mut HeaderName) {
        out.len = 0;
        let prefix = cut_at_nul(&self.prefix);
        if self.dialect() == Dialect::Ustar && !prefix.is_empty() {
            out.push(prefix);
            if !prefix.ends_with(b"/") {
                out.push(b"/");
            }
        }
        out.push(cut_at_nul(&self.name));
    }
}

/// Binary, or blanks, octal digits and fill.
fn plausible_number(field: &[u8]) -> bool {
    if matches!(field.first(), Some(0x00 | 0x80 | 0xFF)) {
        return true;
    }
    let mut rest =
        field.iter().skip_while(|&&byte| byte == b' ').skip_while(|byte| matches!(byte, b'0'..=b'7'));
    rest.all(|&byte| matches!(byte, b' ' | 0))
}

/// Room for the longest name a header can hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeaderName {
    bytes: [u8; 256],
    len: usize,
}

impl HeaderName {
    pub(super) const EMPTY: Self = Self { bytes: [0; 256], len: 0 };

    fn push(&mut self, part: &[u8]) {
        for (slot, &byte) in self.bytes.iter_mut().skip(self.len).zip(part) {
            *slot = byte;
        }
        self.len = self.len.saturating_add(part.len()).min(self.bytes.len());
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }
}
