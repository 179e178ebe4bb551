//! Variables: the set header, the 152-byte record and its union (lowering.md §2.6).

use super::BlobId;
use super::enums::{Backing, MrType};
use super::field::{Pad, Text};
use super::layout::records;
use crate::arena::ArenaRef;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, IntoBytes};

records! {
    /// Header of the variables; record `i` behind it is the variable with `var_id` `i` (Confirmed).
    MemRefSetHdr: 24 {
        /// Sum of the marks of the areas local and main, in bytes.
        0 local_scratchpad_size: U64,
        /// Sum of the marks of the areas shared and sharded, in bytes.
        8 shared_scratchpad_size: U64,
        /// Variables.
        16 nmem: U32,
        /// Padding.
        20 pad: Pad<4>,
    }

    /// One variable (Confirmed).
    MemRef: 152 {
        /// Class.
        0 mr_type: MrType,
        /// Padding.
        4 pad0: Pad<4>,
        /// Name; a NUL follows it.
        8 name: ArenaRef,
        /// Bytes. 0 for state buffers; resolved ones for remote variables.
        16 size: U64,
        /// Bytes, a power of two; 0 where the definition gives none (lowering.md O-05).
        24 alignment: U64,
        /// Its index in the set.
        32 var_id: U32,
        /// Element type as the definition spells it, for device print.
        36 dtype: Text<16>,
        /// Padding.
        52 pad1: Pad<4>,
        /// Shape for device print.
        56 shape: [U64; 8],
        /// [`DebugMd`], or null.
        120 dtensor_md: ArenaRef,
        /// Constant bytes of a `file` variable, else null.
        128 buffer: BlobId,
        /// Union by class; read it with [`MemRef::extra`].
        136 arm: Pad<16>,
    }

    /// Union arm of a pointer.
    PtrArm: 16 {
        /// The variable whose address it holds.
        0 referenced_var_id: U32,
        /// 1 if that one is an input or output.
        4 io_ref: u8,
        /// Padding.
        5 pad: Pad<11>,
    }

    /// Union arm of a virtual variable.
    VirtualArm: 16 {
        /// Bytes into its area.
        0 offset: U64,
        /// Which scratchpad.
        8 backing_buf: Backing,
        /// Padding.
        12 pad: Pad<4>,
    }

    /// Union arm of a list or `dge-table`.
    ListArm: 16 {
        /// Elements.
        0 length: U32,
        /// Padding.
        4 pad: Pad<4>,
        /// u32 variable ids.
        8 items: ArenaRef,
    }

    /// Union arm of a remote variable.
    RemoteArm: 16 {
        /// Index of the owner's kbin within the group of cores.
        0 remote_vtpb_rel_sg_id: U32,
        /// The owner's variable.
        4 remote_var_id: U32,
        /// Padding.
        8 pad: Pad<8>,
    }

    /// Device-print metadata (Confirmed).
    DebugMd: 516 {
        /// Text before the values.
        0 prefix_str: Text<512>,
        /// Print pipe.
        512 pipe_id: U32,
    }
}

/// The union of a [`MemRef`], decoded by its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// A class without an arm.
    None,
    /// A pointer.
    Ptr(PtrArm),
    /// A virtual variable.
    Virtual(VirtualArm),
    /// A list.
    List(ListArm),
    /// A `dge-table`.
    PtrTable(ListArm),
    /// A remote variable.
    Remote(RemoteArm),
}

impl MemRef {
    /// The union, by class.
    #[must_use]
    pub fn extra(&self) -> Extra {
        match self.mr_type {
            MrType::PTR => arm(&self.arm, Extra::Ptr),
            MrType::VIRTUAL_TMP_BUF => arm(&self.arm, Extra::Virtual),
            MrType::LIST => arm(&self.arm, Extra::List),
            MrType::PTR_TABLE => arm(&self.arm, Extra::PtrTable),
            MrType::REMOTE => arm(&self.arm, Extra::Remote),
            _ => Extra::None,
        }
    }

    /// Writes the union.
    pub fn set_extra(&mut self, extra: &Extra) {
        let bytes = match extra {
            Extra::None => &[],
            Extra::Ptr(arm) => arm.as_bytes(),
            Extra::Virtual(arm) => arm.as_bytes(),
            Extra::List(arm) | Extra::PtrTable(arm) => arm.as_bytes(),
            Extra::Remote(arm) => arm.as_bytes(),
        };
        let mut kept = [0; 16];
        for (slot, &byte) in kept.iter_mut().zip(bytes) {
            *slot = byte;
        }
        self.arm = Pad(kept);
    }
}

fn arm<T: FromBytes>(bytes: &Pad<16>, make: impl Fn(T) -> Extra) -> Extra {
    T::read_from_bytes(&bytes.0).map_or(Extra::None, make)
}
