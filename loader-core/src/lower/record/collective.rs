//! Replica groups and source-target pairs (lowering.md §2.10, §2.11).

use super::field::Pad;
use super::kbin::Counted;
use super::layout::records;
use crate::arena::ArenaRef;
use zerocopy::little_endian::U64;

records! {
    /// One replica group (Confirmed).
    Group: 16 {
        /// [`Subgroup`] records.
        0 subgroups: Counted,
    }

    /// One subgroup (Confirmed).
    Subgroup: 16 {
        /// u32 ranks.
        0 participants: Counted,
    }

    /// One set of pairs (32 bytes of medium evidence; the first and last 8 Open, kept 0).
    SrcTgtSet: 32 {
        /// Reserved.
        0 reserved: Pad<8>,
        /// [`Pair`] records.
        8 pairs: ArenaRef,
        /// Their number.
        16 num_pairs: U64,
        /// Auxiliary.
        24 auxiliary: Pad<8>,
    }

    /// One pair of ranks (width of medium evidence, X-17).
    Pair: 16 {
        /// Sender.
        0 source: U64,
        /// Receiver.
        8 target: U64,
    }
}
