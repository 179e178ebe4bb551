//! The payload digest: SHA-256 or MD5 of the stored window, in either stored form (container.md §8).

use super::header::Header;
use crate::error::{ContainerCode, Error, Stage};
use core::fmt;
use md5::{Digest, Md5};
use sha2::Sha256;

/// Which digest a package version uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Package 1.
    Sha256,
    /// Package 2.
    Md5,
}

impl Algorithm {
    /// The algorithm of a package version, if it is one.
    #[must_use]
    pub const fn of(pkg_version: u64) -> Option<Self> {
        match pkg_version {
            1 => Some(Self::Sha256),
            2 => Some(Self::Md5),
            _ => None,
        }
    }

    /// Digest length in bytes.
    #[must_use]
    pub const fn digest_len(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Md5 => 16,
        }
    }

    /// Lower-case name, as in `inspect --json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Md5 => "md5",
        }
    }
}

/// How the header holds a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As computed.
    Plain,
    /// MD5 with the bytes of each 4-byte word reversed, as compilers from 2.21 on write it.
    Swapped,
}

impl Order {
    /// Lower-case name, as in `inspect --json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Swapped => "swapped",
        }
    }
}

/// What was found when the payload's digest was compared with the header's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestVerdict {
    /// The package's algorithm.
    pub algorithm: Algorithm,
    /// The payload's digest in the first [`Algorithm::digest_len`] bytes; `None` if it was not computed.
    pub computed: Option<[u8; 32]>,
    /// The header's whole `hash` field.
    pub stored: [u8; 32],
    /// The form in which the header holds the computed digest; `None` if it holds another or none was computed.
    pub order: Option<Order>,
}

impl DigestVerdict {
    /// Compares a computed digest with the header's field.
    #[must_use]
    pub fn new(header: &Header, algorithm: Algorithm, computed: [u8; 32]) -> Self {
        let order = order_of(algorithm, &computed, &header.hash);
        Self { algorithm, computed: Some(computed), stored: header.hash, order }
    }

    /// The verdict where nothing was computed.
    #[must_use]
    pub const fn not_computed(header: &Header, algorithm: Algorithm) -> Self {
        Self { algorithm, computed: None, stored: header.hash, order: None }
    }

    /// The computed digest, shortened to its length.
    #[must_use]
    pub fn computed_bytes(&self) -> Option<&[u8]> {
        self.computed.as_ref()?.get(..self.algorithm.digest_len())
    }

    /// The stored digest, shortened to its length.
    #[must_use]
    pub fn stored_bytes(&self) -> &[u8] {
        self.stored.get(..self.algorithm.digest_len()).unwrap_or(&[])
    }

    /// The bytes of the `hash` field after the digest.
    #[must_use]
    pub fn unused_tail(&self) -> &[u8] {
        self.stored.get(self.algorithm.digest_len()..).unwrap_or(&[])
    }

    /// True if the header holds the payload's digest in either form.
    #[must_use]
    pub const fn matches(&self) -> bool {
        self.order.is_some()
    }

    /// Gate 5 of container.md §7.2, and the one before it: there must be something to digest.
    ///
    /// # Errors
    /// An empty payload; as [`DigestVerdict::check`].
    pub fn judge(&self, header: &Header, strict: bool) -> Result<(), Error> {
        if header.data_size == 0 {
            return Err(Error::new(Stage::Unpack, ContainerCode::EmptyPayload));
        }
        self.check(strict)
    }

    /// Gate 5 of container.md §7.2.
    ///
    /// # Errors
    /// The mismatch of the package's algorithm; with `strict` also for the word-swapped form.
    pub fn check(&self, strict: bool) -> Result<(), Error> {
        match self.order {
            Some(Order::Plain) => Ok(()),
            Some(Order::Swapped) if !strict => Ok(()),
            _ => Err(Error::new(
                Stage::Unpack,
                match self.algorithm {
                    Algorithm::Sha256 => ContainerCode::Sha256Mismatch,
                    Algorithm::Md5 => ContainerCode::Md5Mismatch,
                },
            )),
        }
    }
}

fn order_of(algorithm: Algorithm, computed: &[u8; 32], stored: &[u8; 32]) -> Option<Order> {
    let computed = computed.get(..algorithm.digest_len())?;
    let stored = stored.get(..algorithm.digest_len())?;
    if stored == computed {
        return Some(Order::Plain);
    }
    let swapped = || {
        let (mine, theirs) = (computed.as_chunks::<4>().0, stored.as_chunks::<4>().0);
        mine.iter().zip(theirs).all(|(a, b)| a.iter().eq(b.iter().rev()))
    };
    (algorithm == Algorithm::Md5 && swapped()).then_some(Order::Swapped)
}

/// The same digest with the bytes of each 4-byte word reversed: the other stored form.
#[must_use]
pub fn swap_words(mut digest: [u8; 32]) -> [u8; 32] {
    for word in digest.as_chunks_mut::<4>().0 {
        word.reverse();
    }
    digest
}

/// A running digest of one of the two algorithms.
#[derive(Clone)]
pub enum Hasher {
    /// Package 1.
    Sha256(Sha256),
    /// Package 2.
    Md5(Md5),
}

impl Hasher {
    /// A digest of nothing yet.
    #[must_use]
    pub fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Sha256 => Self::Sha256(Sha256::new()),
            Algorithm::Md5 => Self::Md5(Md5::new()),
        }
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Md5(hasher) => hasher.update(bytes),
        }
    }

    /// The digest, at the start of 32 bytes.
    #[must_use]
    pub fn finish(self) -> [u8; 32] {
        let mut out = [0; 32];
        match self {
            Self::Sha256(hasher) => out = crate::boundary::sha256(hasher),
            Self::Md5(hasher) => {
                if let Some(half) = out.get_mut(..16) {
                    crate::bytes::copy(half, &crate::boundary::md5(hasher));
                }
            }
        }
        out
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha256(_) => "Hasher(sha256)",
            Self::Md5(_) => "Hasher(md5)",
        })
    }
}
