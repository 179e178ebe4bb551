//! S5, what a registered model says of itself: its node in the datastore, its trace id, its count of
//! operations (staging.md §3.5 R4 and R5, §16). Best effort: nothing here ever fails a load.

mod node;
mod statistics;
mod table;

pub use node::MemoryKind;
pub use statistics::{MEMBER, mac_count};

/// The model id of a file folded to 64 bits: its two halves, little-endian, combined bit by bit
/// (staging.md §3.5 R4; the operation Inferred).
#[must_use]
pub const fn fold_uuid(uuid: &[u8; 16]) -> u64 {
    let both = u128::from_le_bytes(*uuid);
    let low = both & 0xFFFF_FFFF_FFFF_FFFF;
    let folded = both.wrapping_shr(64) ^ low;
    let [a, b, c, d, e, f, g, h, ..] = folded.to_le_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}
