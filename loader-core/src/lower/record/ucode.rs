//! Ucode libraries (lowering.md §2.12).

use super::BlobId;
use super::field::{Pad, Text};
use super::layout::records;
use zerocopy::little_endian::{U32, U64};

records! {
    /// Functions of a library: reference and count.
    UcodeFns: 16 {
        /// [`UcodeFn`] records; their number is `num_functions` again.
        0 functions: crate::arena::ArenaRef,
        /// Functions.
        8 num_functions: u8,
        /// Padding.
        9 pad: Pad<7>,
    }

    /// One library (Confirmed).
    UcodeLib: 40 {
        /// Library bytes.
        0 content: BlobId,
        /// Their number.
        8 content_size: U64,
        /// 0 for base opcode 0x85, else 6; 6 for the default library.
        16 flags: U32,
        /// Always 0.
        20 cpu_id: u8,
        /// 0, 1 or 8.
        21 total_cpus: u8,
        /// Padding.
        22 pad: Pad<2>,
        /// Its functions.
        24 function_set: UcodeFns,
    }

    /// One function of a library (Confirmed).
    UcodeFn: 258 {
        /// Function name.
        0 name: Text<256>,
        /// Opcode.
        256 opcode: u8,
        /// Sub-opcode.
        257 sub_opcode: u8,
    }
}
