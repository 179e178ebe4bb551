//! The payload window: counts and digests every byte on its way to the file.

use super::{DigestForm, Options, Package};
use md5::Md5;
use sha2::{Digest, Sha256};
use std::io::{self, Read, Write};

enum Hasher {
    Md5(Md5),
    Sha256(Sha256),
}

pub(super) struct Window<W> {
    out: W,
    hasher: Hasher,
    len: u64,
}

impl<W: Write> Window<W> {
    pub(super) fn new(out: W, package: Package) -> Self {
        let hasher = match package {
            Package::Md5 => Hasher::Md5(Md5::new()),
            Package::Sha256 => Hasher::Sha256(Sha256::new()),
        };
        Self { out, hasher, len: 0 }
    }

    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// Zero-fills to a multiple of `align`; the fill is part of the digest (container.md §8).
    pub(super) fn fill(&mut self, align: u64) -> io::Result<()> {
        let missing = self.len.next_multiple_of(align.max(1)) - self.len;
        io::copy(&mut io::repeat(0).take(missing), self).map(drop)
    }

    /// The file, the window's length and the digest in plain order.
    pub(super) fn finish(self) -> (W, u64, Vec<u8>) {
        let digest = match self.hasher {
            Hasher::Md5(md5) => md5.finalize().to_vec(),
            Hasher::Sha256(sha) => sha.finalize().to_vec(),
        };
        (self.out, self.len, digest)
    }
}

impl<W: Write> Write for Window<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        let taken = bytes.get(..count).unwrap_or(bytes);
        match &mut self.hasher {
            Hasher::Md5(md5) => md5.update(taken),
            Hasher::Sha256(sha) => sha.update(taken),
        }
        self.len += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The digest as the header stores it.
pub(super) fn stored(digest: &[u8], options: &Options) -> Vec<u8> {
    match (options.package, options.digest_form) {
        (Package::Sha256, _) | (_, DigestForm::Plain) => digest.to_vec(),
        (Package::Md5, DigestForm::Swapped) => {
            digest.chunks(4).flat_map(|word| word.iter().rev().copied()).collect()
        }
    }
}
