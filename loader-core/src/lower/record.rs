//! Every record of the product, layout-true (lowering.md §2, §11.2, §11.4).
//!
//! All records are little-endian zerocopy types of alignment 1 with explicit padding. Each one is
//! declared with the offset of every field; declaration, compile-time assertion and printer come from
//! that one table. Where the reference keeps a pointer, the record keeps an 8-byte
//! [`ArenaRef`](crate::arena::ArenaRef), so all offsets and sizes stay the reference's own.

mod act;
mod collective;
mod desc;
mod engine;
mod enums;
mod export;
pub(crate) mod field;
mod kbin;
pub(crate) mod layout;
mod memref;
mod queue;
mod tables;
mod ucode;

pub use act::{ActProfile, ActSet};
pub use collective::{Group, Pair, SrcTgtSet, Subgroup};
pub use desc::{Ap, BlockTail, Desc, DescFlags, Dim, FmaExtra, MinMaxExtra, TransposeExtra};
pub use engine::{Blob, BlobId, BlobKind, EngineHdr};
pub use enums::{
    ArchNumber, Backing, CarveoutType, DescType, Dtype, EngType, MrType, Op, PatchSection, PatchType,
    RingType,
};
pub use export::{CceFma, CceInfo, CceMinMax, ExportAp, ExportDesc, SourceSlots, TransposeInfo};
pub use field::{Lines, Pad, Path, Text, TooLong, Walk};
pub use kbin::{ActSets, CcStreams, Counted, Kbin, SubgraphEntry};
pub use memref::{DebugMd, Extra, ListArm, MemRef, MemRefSetHdr, PtrArm, RemoteArm, VirtualArm};
pub use queue::{QUEUE_SEMAPHORES, QueueHdr, RingInstHdr};
pub use tables::{Carveout, CarveoutSetHdr, DveCfg, Fp8Cfg, PatchEntry};
pub use ucode::{UcodeFn, UcodeFns, UcodeLib};
