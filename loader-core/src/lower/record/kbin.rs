//! The 424-byte kbin and the table that finds it.

use super::enums::ArchNumber;
use super::field::Pad;
use super::layout::records;
use super::tables::Fp8Cfg;
use crate::arena::ArenaRef;
use zerocopy::little_endian::{U32, U64};

records! {
    /// Reference to an array and its length, inline in the kbin (lowering.md §2.10 to §2.12).
    Counted: 16 {
        /// The array.
        0 items: ArenaRef,
        /// Its length.
        8 count: U64,
    }

    /// Activation function sets, inline in the kbin (lowering.md §2.1).
    ActSets: 24 {
        /// [`ActSet`](super::ActSet) records.
        0 sets: ArenaRef,
        /// Their number.
        8 num_function_sets: U64,
        /// Semaphore of the table loads; 0 without sets.
        16 act_tbl_semaphore: U32,
        /// Padding.
        20 pad: Pad<4>,
    }

    /// Collective streams, inline in the kbin (lowering.md §2.13).
    CcStreams: 8 {
        /// Streams; 1 if the definition says nothing (R13).
        0 num_streams: U64,
    }

    /// The device-binary record of one subgraph (lowering.md §2.1, Confirmed). Built in memory, never a file.
    Kbin: 424 {
        /// Engine blocks in slot order act, dve, pe, pool, sp ([`EngineHdr`](super::EngineHdr)).
        0 engine: [ArenaRef; 5],
        /// Queue records by queue name ([`QueueHdr`](super::QueueHdr)).
        40 dma: [ArenaRef; 32],
        /// The variables ([`MemRefSetHdr`](super::MemRefSetHdr), its records behind it).
        296 mem_ref_set: ArenaRef,
        /// Activation function sets.
        304 act_function_sets: ActSets,
        /// [`DveCfg`](super::DveCfg), or null.
        328 dve_config: ArenaRef,
        /// [`CarveoutSetHdr`](super::CarveoutSetHdr), or null if the definition lacks the key.
        336 sb_carveouts: ArenaRef,
        /// [`Group`](super::Group) records.
        344 replica_groups: Counted,
        /// [`SrcTgtSet`](super::SrcTgtSet) records.
        360 src_target_pairs: Counted,
        /// [`UcodeLib`](super::UcodeLib) records.
        376 ucode_lib_set: Counted,
        /// Collective streams.
        392 cc_streams: CcStreams,
        /// FP8 conversion.
        400 fp8_conv_cfg: Fp8Cfg,
        /// Architecture; 0 never leaves lowering.
        416 target: ArchNumber,
        /// Padding.
        420 pad: Pad<4>,
    }

    /// One subgraph of the product: the table of these starts at arena offset 16 (lowering.md §11.2).
    SubgraphEntry: 24 {
        /// The [`Kbin`].
        0 kbin: ArenaRef,
        /// Subgraph name, a NUL behind it.
        8 name: ArenaRef,
        /// Directory of its members; the same bytes as `name` where both are equal.
        16 dir: ArenaRef,
    }
}
