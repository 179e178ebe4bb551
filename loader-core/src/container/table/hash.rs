//! A keyed hash over the parts of a name, and the slots it may stand in.

/// A slot is looked for at most this far from where the hash points.
pub(super) const MAX_PROBES: usize = 24;

/// Odd multiplier of the 64-bit FNV hash.
const PRIME: u64 = 0x0000_0100_0000_01B3;

/// FNV-1a from a keyed basis, finished with the 64-bit murmur mixer. Not secret: an adversary who knows the
/// key gets long probes, which the bound turns into a binary search.
pub(super) fn of(key: u64, parts: &[&[u8]]) -> u64 {
    let basis = mix(key);
    mix(parts
        .iter()
        .copied()
        .flatten()
        .fold(basis, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME)))
}

const fn mix(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    hash ^ (hash >> 33)
}

/// The slots to look at for a hash, in order. `slots` is a power of two.
pub(super) fn probes(hash: u64, slots: usize) -> impl Iterator<Item = usize> {
    let mask = slots.wrapping_sub(1);
    let start = usize::try_from(hash & 0xFFFF_FFFF).unwrap_or(0);
    (0..MAX_PROBES.min(slots)).map(move |step| start.wrapping_add(step) & mask)
}
