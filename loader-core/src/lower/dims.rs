//! How many bytes a product takes: lowering.md §11.5 as arithmetic.

use super::record::{
    ActSet, Ap, Blob, BlockTail, Carveout, CarveoutSetHdr, DebugMd, Desc, Dim, DveCfg, EngineHdr, Group,
    Kbin, MemRef, MemRefSetHdr, Pair, QueueHdr, RingInstHdr, SrcTgtSet, SubgraphEntry, Subgroup, UcodeFn,
    UcodeLib,
};
use crate::arena::{ArenaRef, NULL_AREA};
use zerocopy::little_endian::U32;
use zerocopy::{Immutable, IntoBytes, transmute_ref};

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

/// Declares [`Counts`] and the table of what each takes.
macro_rules! counts {
    ($($(#[$doc:meta])* $count:ident: $($record:ty)|+,)*) => {
        /// Counts of one subgraph, and the records that each stands for. Names as in lowering.md §11.5, where counts in
        /// bytes are sums of parts rounded up to 8.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoBytes, Immutable)]
        #[repr(C)]
        pub(crate) struct Counts {
            $($(#[$doc])* pub(crate) $count: u64,)*
        }

        /// Bytes of the records that each of them stands for.
        const SIZES: [u64; size_of::<Counts>() / 8] = [$(sum(&[$(size_of::<$record>()),+]),)*];
    };
}

/// Takes no room in the product.
type Nothing = [u8; 0];

counts! {
    /// The kbin: 1.
    kbins: Kbin | [EngineHdr; 5] | MemRefSetHdr,
    /// V.
    vars: MemRef | U32,
    /// N: variable and function names with their NULs.
    names: u8,
    /// Names of queues whose first instance is named differently, with their NULs.
    queue_names: u8,
    /// Q.
    queues: QueueHdr,
    /// I.
    instances: RingInstHdr | ArenaRef,
    /// D.
    descs: Desc,
    /// P.
    aps: Ap,
    /// K.
    dims: Dim,
    /// E, in bytes.
    extra: u8,
    /// Block ends with more than one semaphore, in bytes.
    tails: u8,
    /// L, in bytes.
    lists: u8,
    /// M.
    prints: DebugMd,
    /// S.
    act_sets: ActSet,
    /// v.
    dve: DveCfg,
    /// c.
    carveout_key: CarveoutSetHdr,
    /// C.
    carveouts: Carveout,
    /// g.
    groups: Group,
    /// b.
    subgroups: Subgroup,
    /// p, in bytes.
    participants: u8,
    /// t.
    pair_sets: SrcTgtSet,
    /// r.
    pairs: Pair,
    /// u.
    libraries: UcodeLib,
    /// f, in bytes.
    functions: u8,
    /// W.
    blobs: Blob,
    /// Blocks.
    blocks: Nothing,
    /// Bytes the area `alt` is moved up by, where the policy appends it.
    alt_base: Nothing,
    /// Bytes of the scratchpad of the core.
    local_scratchpad: Nothing,
    /// Bytes of the scratchpad that both cores share.
    shared_scratchpad: Nothing,
}

#[allow(clippy::as_conversions, reason = "runs while compiling; a size fits 64 bits")]
const fn sum(sizes: &[usize]) -> u64 {
    let (mut rest, mut sum) = (sizes, 0u64);
    while let Some((size, more)) = rest.split_first() {
        sum = sum.saturating_add(*size as u64);
        rest = more;
    }
    sum
}

/// `bytes` rounded up to 8.
pub(crate) const fn up8(bytes: u64) -> u64 {
    bytes.saturating_add(7) & !7
}

/// Adds one to a count.
pub(crate) fn one_more(count: &mut u64) {
    add(count, 1);
}

/// Adds to a count.
#[cfg_attr(small, inline(never))]
pub(crate) fn add(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
}

fn records<T>(count: u64) -> u64 {
    let size = u64::try_from(size_of::<T>()).unwrap_or(u64::MAX);
    up8(count.saturating_mul(size))
}

impl Counts {
    /// Bytes of this subgraph's records, the kbin itself included.
    pub(crate) fn bytes(&self) -> u64 {
        let counts: &[u64; SIZES.len()] = transmute_ref!(self);
        let rows = counts.iter().zip(SIZES);
        rows.fold(0, |sum, (count, size)| sum.saturating_add(up8(count.saturating_mul(size))))
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
