//! Blocks of device memory and placed variables (staging.md §5.7, §5.8).

use crate::arena::ArenaRef;
use crate::device::{DevAddr, MemHandle};
use crate::lower::record::layout::records;
use crate::lower::record::{MrType, Pad, Text};
use crate::plan::vars::is_placed;
use zerocopy::little_endian::{U16, U32, U64};

records! {
    /// A block of device memory (Confirmed; `align`, `what` and the generation lie in unused bytes).
    DMem: 192 {
        /// Physical core it is for.
        0 core: U32,
        /// Padding.
        4 pad0: Pad<4>,
        /// Slot of the device handle.
        8 slot: U32,
        /// Generation of the device handle (upper half of the reference's handle).
        12 generation: U32,
        /// Bytes asked for.
        16 size: U64,
        /// First address that the device gave.
        24 base: U64,
        /// Mapped host address; always 0.
        32 mapped: U64,
        /// Bytes to skip from `base` to the effective address.
        40 skip: U64,
        /// Bytes that the device reserved.
        48 granted: U64,
        /// 0 host, 1 HBM (the reference's numbers are Open).
        56 location: U32,
        /// Usage number.
        60 usage: U32,
        /// HBM channel.
        64 channel: U32,
        /// Padding.
        68 pad1: Pad<4>,
        /// Alignment asked for (ours).
        72 align: U64,
        /// What it holds: [`DMem::VARIABLE`] and the like (ours).
        80 what: U32,
        /// Index of that thing: variable id, ring row, engine (ours).
        84 index: U32,
        /// Padding.
        88 pad2: Pad<40>,
        /// References.
        128 refs: U64,
        /// A word for logs.
        136 tag: ArenaRef,
        /// Bounce buffer; always null.
        144 bounce: ArenaRef,
        /// Next block of the allocator's list; blocks of a core are an array here, so null.
        152 next: ArenaRef,
        /// Previous block; null.
        160 prev: ArenaRef,
        /// Allocator; null.
        168 allocator: ArenaRef,
        /// Padding.
        176 pad3: Pad<16>,
    }

    /// A variable of a loaded model (Confirmed). Found by its id, which is its index.
    VarPlace: 208 {
        /// Name, in the kbin's records.
        0 name: ArenaRef,
        /// Class.
        8 mr_type: MrType,
        /// Padding.
        12 pad0: Pad<4>,
        /// Bytes that may be addressed.
        16 size: U64,
        /// Its id.
        24 var_id: U32,
        /// 1 if another core owns the memory.
        28 remote: u8,
        /// 1 if it lies in the shared scratchpad region.
        29 shared_scratchpad: u8,
        /// Padding.
        30 pad1: U16,
        /// Where it lies. Of a pointer, a list and a pointer table these are the bytes of
        /// [`PointerArm`](super::reference::PointerArm), [`ListArm`](super::reference::ListArm) and
        /// [`TableArm`](super::reference::TableArm).
        32 arm: PlaceArm,
        /// Element type as the definition spells it, for device print.
        72 dtype: Text<16>,
        /// Shape for device print.
        88 shape: [U64; 8],
        /// Device-print metadata, in the kbin's records.
        152 metadata: ArenaRef,
        /// Hash link of the reference; variables are an array here.
        160 node: Pad<48>,
    }

    /// Placement of a variable.
    PlaceArm: 40 {
        /// Absolute address; all ones if it has none.
        0 phys: U64,
        /// Its [`DMem`], another core's for a remote variable; null for a state buffer and in a scratchpad page.
        8 block: ArenaRef,
        /// Bytes from the block's or page's start.
        16 offset: U64,
        /// Host address; always 0.
        24 host: U64,
        /// Padding.
        32 pad: Pad<8>,
    }
}

impl DMem {
    /// `what`: a variable's own block.
    pub const VARIABLE: u32 = 1;
    /// `what`: a pointer cell.
    pub const POINTER: u32 = 2;
    /// `what`: the source word of semaphore copies (R28).
    pub const SEMAPHORE: u32 = 3;
    /// `what`: a ring half.
    pub const RING: u32 = 4;
    /// `what`: an activation table.
    pub const ACT_TABLE: u32 = 5;
    /// `what`: a DVE table.
    pub const DVE_TABLE: u32 = 6;
    /// `what`: a ucode library.
    pub const UCODE: u32 = 7;
    /// `what`: an engine's image.
    pub const IMAGE: u32 = 8;
    /// `what`: a scratchpad page; owned by the page table, listed by the core that added it.
    pub const PAGE: u32 = 9;
    /// `what`: a ucode library that models of the core share; owned by the library table, listed by each of them.
    pub const SHARED_UCODE: u32 = 10;

    /// What a block holds, in a word or two, by its `what`: the tag that the device is given, and that reports show.
    #[must_use]
    pub const fn tag_of(what: u32) -> &'static str {
        match what {
            Self::VARIABLE => "variable",
            Self::POINTER => "pointer cell",
            Self::SEMAPHORE => "semaphore one",
            Self::RING => "ring",
            Self::ACT_TABLE => "activation table",
            Self::DVE_TABLE => "dve table",
            Self::UCODE => "ucode",
            Self::SHARED_UCODE => "shared ucode",
            Self::IMAGE => "image",
            Self::PAGE => "scratchpad",
            _ => "",
        }
    }

    /// True for memory of the core, which is counted and not owned by a model (staging.md §7.3: class GLOBAL).
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        matches!(self.what.get(), Self::PAGE | Self::SHARED_UCODE)
    }

    /// What every descriptor and instruction must use.
    #[must_use]
    pub const fn address(&self) -> DevAddr {
        DevAddr(self.base.get().wrapping_add(self.skip.get()))
    }

    /// The device handle.
    #[must_use]
    pub const fn handle(&self) -> MemHandle {
        MemHandle { slot: self.slot.get(), generation: self.generation.get() }
    }
}

impl VarPlace {
    /// Its address, if it has one.
    #[must_use]
    pub fn address(&self) -> Option<DevAddr> {
        let at = DevAddr(self.arm.phys.get());
        Some(at).filter(|&at| is_placed(self.mr_type) && at != DevAddr::UNPLACED)
    }
}
