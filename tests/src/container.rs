//! Containers made by hand, byte by byte, and one judge that reads them in every way the loader can.

mod judge;
pub mod tar;

pub use judge::{Judged, judge, judge_with};

use loader_core::container::{HEADER_BYTES, Header};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_std::container::{Ask, survey};
use loader_std::file::Buffers;
use md5::{Digest as _, Md5};
use sha2::Sha256;

/// A gzip header without optional parts.
pub const GZIP_HEADER: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3];

/// CRC-32, bit by bit: slow, and obviously right.
#[must_use]
pub fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 },
        )
    })
}

/// Deflate data.
#[must_use]
pub fn deflate(data: &[u8], level: u8) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec(data, level)
}

/// One gzip member.
#[must_use]
pub fn gzip(data: &[u8]) -> Vec<u8> {
    gzip_level(data, 6)
}

/// One gzip member at a level from 0 (stored).
#[must_use]
pub fn gzip_level(data: &[u8], level: u8) -> Vec<u8> {
    let mut out = GZIP_HEADER.to_vec();
    out.extend(deflate(data, level));
    out.extend(crc32(data).to_le_bytes());
    out.extend((data.len() as u32).to_le_bytes());
    out
}

/// The same digest with each 4-byte word reversed.
#[must_use]
pub fn swap_words(digest: &[u8]) -> Vec<u8> {
    digest.chunks(4).flat_map(|word| word.iter().rev()).copied().collect()
}

/// MD5 of some bytes.
#[must_use]
pub fn md5(data: &[u8]) -> Vec<u8> {
    Md5::digest(data).to_vec()
}

/// SHA-256 of some bytes.
#[must_use]
pub fn sha256(data: &[u8]) -> Vec<u8> {
    Sha256::digest(data).to_vec()
}

/// A file before it is written: header fields, payload, bytes after it.
#[derive(Clone, Debug)]
pub struct File {
    /// Header fields; `data_size` and `hash` follow the payload until they are set.
    pub header: Header,
    /// The window's bytes.
    pub payload: Vec<u8>,
    /// What follows the window.
    pub trailing: Vec<u8>,
}

impl File {
    /// A file of that package version with the right size and digest.
    #[must_use]
    pub fn new(pkg_version: u64, payload: Vec<u8>) -> Self {
        let mut header = Header::new(b"test");
        header.pkg_version = pkg_version;
        header.data_size = payload.len() as u64;
        let digest = if pkg_version == 1 { sha256(&payload) } else { md5(&payload) };
        let mut file = Self { header, payload, trailing: Vec::new() };
        file.set_hash(&digest);
        file
    }

    /// The base file of the conformance cases: package 2, version 1, a small valid tree, gzip and fill.
    #[must_use]
    pub fn base() -> Self {
        let mut payload = gzip(&tar::base().finish());
        payload.resize(payload.len().next_multiple_of(10240), 0);
        Self::new(2, payload)
    }

    /// A payload that is not compressed, in package 2.
    #[must_use]
    pub fn raw(tar: Vec<u8>) -> Self {
        Self::new(2, tar)
    }

    /// Stores a digest at the start of the hash field.
    pub fn set_hash(&mut self, digest: &[u8]) {
        self.header.hash = [0; 32];
        for (slot, byte) in self.header.hash.iter_mut().zip(digest) {
            *slot = *byte;
        }
    }

    /// The file's bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let view = self.header.emit();
        let mut out = zerocopy::IntoBytes::as_bytes(&view).to_vec();
        out.extend(&self.payload);
        out.extend(&self.trailing);
        out
    }
}

/// The file with one byte changed, so that its archive is read up to some member and no further.
///
/// # Panics
/// If no byte of it is such a one.
#[must_use]
pub fn damaged(file: &[u8]) -> Vec<u8> {
    let policy = Policy { verify_digest: false, ..Policy::DEFAULT };
    let ask = Ask { members: true, ..Ask::default() };
    let mut damaged = file.to_vec();
    for at in (HEADER_BYTES..file.len()).rev() {
        damaged[at] ^= 0x10;
        let seen = survey(&mut &damaged[..], &mut Buffers::new(), &policy, &Limits::DEFAULT, ask, |_| {});
        let seen = seen.unwrap_or_else(|error| panic!("{error}"));
        if seen.error.is_some() && !seen.table.is_empty() {
            return damaged;
        }
        damaged[at] ^= 0x10;
    }
    panic!("no byte of the archive counts");
}
