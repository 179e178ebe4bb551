//! Engine blocks, and blobs: bytes that stay in the member they came in (R26).

use super::enums::EngType;
use super::field::{Pad, Text};
use super::layout::{open_enums, records};
use crate::arena::ArenaRef;
use crate::source::MemberId;
use zerocopy::little_endian::{U32, U64};

open_enums! {
    /// What a blob is.
    BlobKind(U32, u32) {
        NONE = 0 "none",
        INSTR = 1 "instructions",
        ACT_BKT = 2 "activation buckets",
        ACT_CTL = 3 "activation control",
        DVE = 4 "dve table",
        CONSTANT = 5 "constant",
        UCODE = 6 "ucode library",
    }
}

records! {
    /// Reference to a row of the subgraph's blob table, in place of the reference's pointer to bytes.
    BlobId: 8 {
        /// Row plus one; 0 is null (a blob without bytes).
        0 index_plus_one: U32,
        /// What the bytes are.
        4 kind: BlobKind,
    }

    /// Where the bytes of a blob are (lowering.md §11.1).
    Blob: 24 {
        /// Member; [`Blob::NOT_A_MEMBER`] for bytes the policy supplies (the default library).
        0 member: U32,
        /// 1 if `off` is an arena offset. Always 0: blobs are borrowed (R26).
        4 copied: U32,
        /// First byte within the member.
        8 off: U64,
        /// Bytes.
        16 len: U64,
    }

    /// Header of an engine block (lowering.md §2.2, Confirmed). Its instruction bytes stay in their member;
    /// bytes 264 to 280, padding in the reference, say where, and bytes 280 to 288 which manifests they come from.
    EngineHdr: 320 {
        /// Which engine this is. The slot number does not say it.
        0 eng_type: EngType,
        /// Key of the engine.
        4 name: Text<256>,
        /// Whole 64-byte slots.
        260 ninstr: U32,
        /// The instruction bytes, a remainder of less than 64 included.
        264 blob: BlobId,
        /// The subgraph's table of [`Blob`] rows; the same in all five headers.
        272 blobs: ArenaRef,
        /// Member of the subgraph's definition, plus one; 0 if it is none. The same in all five headers.
        280 definition_plus_one: U32,
        /// Member of the engine's file, plus one; 0 if there is none.
        284 file_plus_one: U32,
        /// Padding.
        288 pad: Pad<32>,
    }
}

impl Blob {
    /// `member` of bytes that are in no member.
    pub const NOT_A_MEMBER: u32 = u32::MAX;

    /// The member, if the bytes are in one.
    #[must_use]
    pub fn member_id(&self) -> Option<MemberId> {
        Some(self.member.get()).filter(|&id| id != Self::NOT_A_MEMBER).map(MemberId)
    }
}
