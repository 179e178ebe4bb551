//! How many bytes a product takes: lowering.md §11.5 as arithmetic.

use super::record::{
    ActSet, Ap, Blob, BlockTail, Carveout, CarveoutSetHdr, DebugMd, Desc, Dim, DveCfg, EngineHdr, Group,
    Kbin, MemRef, MemRefSetHdr, Pair, QueueHdr, RingInstHdr, SrcTgtSet, SubgraphEntry, Subgroup, UcodeFn,
    UcodeLib,
};
use super::scratchpad::Marks;
use crate::arena::{ArenaRef, NULL_AREA};
use zerocopy::little_endian::U32;

/// Bytes of the arena that a product and its making take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dims {
    product: u64,
    scratch: u64,
}

impl Dims {
    pub(crate) const fn new(product: u64, scratch: u64) -> Self {
        Self { product, scratch }
    }

    /// Bytes of the product, the null area of 16 included: where the arena's head stands afterwards.
    #[must_use]
    pub const fn product_bytes(&self) -> u64 {
        self.product
    }

    /// Bytes of scratch at the arena's tail while lowering runs.
    #[must_use]
    pub const fn scratch_bytes(&self) -> u64 {
        self.scratch
    }

    /// Bytes that must be free between head and tail of an arena whose null area is taken already.
    #[must_use]
    pub const fn needed(&self) -> u64 {
        self.product.saturating_sub(16).saturating_add(self.scratch)
    }
}

const _: () = assert!(NULL_AREA == 16);

/// Counts of one subgraph. Names as in lowering.md §11.5, where `bytes` counts are sums of parts rounded up to 8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// V.
    pub(crate) vars: u64,
    /// N: variable and function names with their NULs.
    pub(crate) names: u64,
    /// Names of queues whose first instance is named differently, with their NULs.
    pub(crate) queue_names: u64,
    /// Q.
    pub(crate) queues: u64,
    /// I.
    pub(crate) instances: u64,
    /// D.
    pub(crate) descs: u64,
    /// P.
    pub(crate) aps: u64,
    /// K.
    pub(crate) dims: u64,
    /// E, in bytes.
    pub(crate) extra: u64,
    /// Block ends with more than one semaphore, in bytes.
    pub(crate) tails: u64,
    /// L, in bytes.
    pub(crate) lists: u64,
    /// M.
    pub(crate) prints: u64,
    /// S.
    pub(crate) act_sets: u64,
    /// v.
    pub(crate) dve: u64,
    /// c.
    pub(crate) carveout_key: u64,
    /// C.
    pub(crate) carveouts: u64,
    /// g.
    pub(crate) groups: u64,
    /// b.
    pub(crate) subgroups: u64,
    /// p, in bytes.
    pub(crate) participants: u64,
    /// t.
    pub(crate) pair_sets: u64,
    /// r.
    pub(crate) pairs: u64,
    /// u.
    pub(crate) libraries: u64,
    /// f, in bytes.
    pub(crate) functions: u64,
    /// W.
    pub(crate) blobs: u64,
    /// Blocks; scratch only.
    pub(crate) blocks: u64,
    /// Bytes the area `alt` is moved up by, where the policy appends it.
    pub(crate) alt_base: u64,
    /// Marks of the areas, `alt` within main.
    pub(crate) marks: Marks,
}

/// `bytes` rounded up to 8.
pub(crate) const fn up8(bytes: u64) -> u64 {
    bytes.saturating_add(7) & !7
}

/// Adds one to a count.
pub(crate) const fn one_more(count: &mut u64) {
    *count = count.saturating_add(1);
}

/// Adds to a count.
pub(crate) const fn add(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
}

fn records<T>(count: u64) -> u64 {
    let size = u64::try_from(size_of::<T>()).unwrap_or(u64::MAX);
    up8(count.saturating_mul(size))
}

impl Counts {
    /// Bytes of this subgraph's records, the kbin itself included.
    pub(crate) fn bytes(&self) -> u64 {
        let parts = [
            records::<Kbin>(1),
            records::<EngineHdr>(5),
            records::<QueueHdr>(self.queues),
            records::<RingInstHdr>(self.instances),
            records::<ArenaRef>(self.instances),
            up8(self.queue_names),
            records::<Desc>(self.descs),
            records::<Ap>(self.aps),
            records::<Dim>(self.dims),
            up8(self.extra),
            up8(self.tails),
            records::<MemRefSetHdr>(1),
            records::<MemRef>(self.vars),
            records::<U32>(self.vars),
            up8(self.names),
            self.lists,
            records::<DebugMd>(self.prints),
            records::<ActSet>(self.act_sets),
            records::<DveCfg>(self.dve),
            records::<CarveoutSetHdr>(self.carveout_key),
            records::<Carveout>(self.carveouts),
            records::<Group>(self.groups),
            records::<Subgroup>(self.subgroups),
            self.participants,
            records::<SrcTgtSet>(self.pair_sets),
            records::<Pair>(self.pairs),
            records::<UcodeLib>(self.libraries),
            self.functions,
            records::<Blob>(self.blobs),
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

/// Bytes of the subgraph table and of one subgraph's names.
pub(crate) fn entry_bytes(name: &[u8], dir: &[u8]) -> u64 {
    let kept = |text: &[u8]| up8(u64::try_from(text.len()).unwrap_or(u64::MAX).saturating_add(1));
    let dir_bytes = if dir == name { 0 } else { kept(dir) };
    records::<SubgraphEntry>(1).saturating_add(kept(name)).saturating_add(dir_bytes)
}

/// Bytes of one list or other array of u32.
pub(crate) fn list_bytes(count: u64) -> u64 {
    records::<U32>(count)
}

/// Bytes of the functions of one library.
pub(crate) fn function_bytes(count: u64) -> u64 {
    records::<UcodeFn>(count)
}

/// Bytes of a [`BlockTail`] with `count` semaphores, rounded up.
pub(crate) fn tail_bytes(count: u64) -> u64 {
    records::<BlockTail>(1).saturating_add(list_bytes(count))
}
