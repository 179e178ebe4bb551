//! What a loaded core says of itself.

use crate::device::{Place, Usage, category};
use crate::lower::record::Text;
use crate::plan::CoreView;
use crate::plan::record::{MemoryUse, ModelNode};
use zerocopy::IntoBytes;

/// Kinds of memory in a [`ModelNode`] (staging.md §16); the kinds from 5 on are reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Programs and microcode.
    Code,
    /// Tensors of the caller.
    Tensors,
    /// Constants.
    Constants,
    /// Scratchpad blocks of its own.
    Scratchpad,
    /// Everything else.
    Misc,
}

impl MemoryKind {
    /// The kind of a usage, by the driver's category of its memory (staging.md §7.5; pairing Inferred).
    #[must_use]
    pub const fn of(usage: Usage) -> Self {
        match category(usage, Place::Hbm(0)) {
            Some(8) => Self::Code,
            Some(9) => Self::Tensors,
            Some(10) => Self::Constants,
            Some(11 | 15) => Self::Scratchpad,
            _ => Self::Misc,
        }
    }

    /// Its number, which is its place in the record.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Code => 0,
            Self::Tensors => 1,
            Self::Constants => 2,
            Self::Scratchpad => 3,
            Self::Misc => 4,
        }
    }
}

/// Where the hash of a record starts (32-bit FNV-1a, Confirmed).
const BASIS: u32 = 0x811C_9DC5;
/// What it is multiplied by.
const PRIME: u32 = 0x0100_0193;

impl ModelNode {
    /// The node of subgraph `subgraph` of model `h_nn`, with its hash.
    #[must_use]
    pub fn of(core: &CoreView<'_>, h_nn: u32, subgraph: u8, uuid: &[u8; 16]) -> Self {
        let name = core.model.name;
        let mut node = Self {
            model_id: h_nn.into(),
            node_id: u32::from(subgraph).into(),
            name: Text(name.0),
            uuid: *uuid,
            core: u8::try_from(core.core().0).unwrap_or(u8::MAX),
            subgraph,
            ..Self::default()
        };
        for block in core.allocations().iter().filter(|block| !block.is_shared()) {
            let usage = usize::try_from(block.usage.get()).ok().and_then(|index| Usage::ALL.get(index));
            let kind = usage.map_or(MemoryKind::Misc, |&usage| MemoryKind::of(usage));
            if let Some(sum) = node.device.get_mut(kind.index()) {
                add(sum, crate::plan::ledger_bytes(block));
            }
        }
        node.hash = node.hash_now().into();
        node
    }

    /// Hash of all 672 bytes with the hash's own word zero (coverage Open).
    #[must_use]
    pub fn hash_now(&self) -> u32 {
        let clean = Self { hash: 0.into(), ..*self };
        let step = |hash: u32, &byte: &u8| (hash ^ u32::from(byte)).wrapping_mul(PRIME);
        clean.as_bytes().iter().fold(BASIS, step)
    }

    /// True if the record is as it was made.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.hash.get() == self.hash_now()
    }
}

fn add(sum: &mut MemoryUse, bytes: u64) {
    sum.bytes = sum.bytes.get().saturating_add(bytes).into();
    sum.chunks = sum.chunks.get().saturating_add(1).into();
}
