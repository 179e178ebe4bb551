//! A hash of bytes by address that does not depend on the order or the cuts of the writes.
//!
//! Memory is read as little-endian 64-bit words of which every byte counts one more than it is, so that zeros that were
//! written differ from nothing that was; the hash is the sum of `word · weight(address)` modulo the prime 2^61 − 1. A write
//! that covers a part of a word contributes exactly its bytes' share of that product, so any chunking of the same bytes
//! gives the same sum. Not a cryptographic hash.

const PRIME: u64 = (1 << 61) - 1;

const fn fold(n: u128) -> u64 {
    let low = (n & PRIME as u128) as u64;
    let high = (n >> 61) as u64;
    let sum = (low + (high & PRIME)) + (high >> 61);
    if sum >= PRIME { sum - PRIME } else { sum }
}

/// Adds two hashes of disjoint bytes.
pub(super) const fn add(a: u64, b: u64) -> u64 {
    fold(a as u128 + b as u128)
}

/// A well mixed number (splitmix64's finaliser).
pub(super) const fn mix(n: u64) -> u64 {
    let n = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    n ^ (n >> 31)
}

/// One in every byte.
const ONES: u64 = u64::from_ne_bytes([1; 8]);

/// The share of one word at word index `index`; of a word that is covered in part, the other bytes are zero in `value`, and in
/// `covered`, which has a one in every covered byte. The weight has 60 bits, so that the product has no more than 125.
fn word(index: u64, value: u64, covered: u64) -> u64 {
    fold((u128::from(value) + u128::from(covered)) * u128::from(mix(index) >> 4))
}

/// The share of `bytes`, fewer than eight, at byte `at` of a word.
fn part(index: u64, at: usize, bytes: &[u8]) -> u64 {
    let (mut value, mut covered) = ([0; 8], [0; 8]);
    crate::bytes::copy(value.get_mut(at..).unwrap_or(&mut []), bytes);
    covered.iter_mut().skip(at).take(bytes.len()).for_each(|covered| *covered = 1);
    word(index, u64::from_le_bytes(value), u64::from_le_bytes(covered))
}

/// The hash of `bytes` lying at byte `at`.
pub(super) fn hash(at: u64, bytes: &[u8]) -> u64 {
    let skew = (at % 8) as usize;
    let mut index = at / 8;
    let mut sum = 0;
    let head = if skew == 0 { 0 } else { bytes.len().min(8 - skew) };
    let (first, rest) = bytes.split_at_checked(head).unwrap_or((bytes, &[]));
    if head != 0 {
        sum = add(sum, part(index, skew, first));
        index += 1;
    }
    let (words, last) = rest.as_chunks::<8>();
    for value in words {
        sum = add(sum, word(index, u64::from_le_bytes(*value), ONES));
        index += 1;
    }
    if !last.is_empty() {
        sum = add(sum, part(index, 0, last));
    }
    sum
}
