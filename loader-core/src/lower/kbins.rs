//! The product as plain data: typed views over sealed records.
//!
//! Everything here is `Copy` and lives as long as the caller's memory. A view never fails: a reference
//! that does not lead to its record (impossible in a product of [`lower`](super::lower)) reads as absent.

mod collective;
mod engine;
mod file;
mod queue;
mod var;

pub use collective::{GroupView, UcodeLibView};
pub use engine::{ActSetView, DveTables, EngineView};
pub use queue::{BlockEnd, InstanceView, QueueView};
pub use var::VarView;

use super::record::{
    Blob, BlobId, Carveout, CarveoutSetHdr, DebugMd, EngType, EngineHdr, Fp8Cfg, Kbin, MemRefSetHdr,
    SubgraphEntry,
};
use crate::arch::{Arch, Engine};
use crate::arena::{ArenaRef, Head, Record};
use zerocopy::little_endian::U32;

/// All kbins of a file, in graph order. Kbin `i` runs on core `i` of the logical core.
#[derive(Clone, Copy, Debug)]
pub struct Kbins<'m> {
    head: Head<'m>,
    place: ArenaRef,
    entries: &'m [SubgraphEntry],
}

impl<'m> Kbins<'m> {
    /// The product in `head` with its table of [`SubgraphEntry`] records at `entries`.
    #[must_use]
    pub fn new(head: Head<'m>, entries: ArenaRef) -> Option<Self> {
        Some(Self { head, place: entries, entries: head.slice(entries)? })
    }

    /// Where the table of subgraphs is, for [`Kbins::new`] over a copy of [`Kbins::head`].
    #[must_use]
    pub const fn place(&self) -> ArenaRef {
        self.place
    }

    /// Number of kbins.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The sealed bytes with all records: what `product.bin` of a dump holds.
    #[must_use]
    pub const fn head(&self) -> Head<'m> {
        self.head
    }

    /// Kbin `index`.
    #[must_use]
    pub fn kbin(&self, index: usize) -> Option<KbinView<'m>> {
        let (head, entry) = (self.head, self.entries.get(index)?);
        let place = self.place.nth::<SubgraphEntry>(u32::try_from(index).ok()?)?;
        Some(KbinView { head, entry, place, kbin: head.get(entry.kbin)?, index })
    }

    /// All kbins in order.
    pub fn iter(&self) -> impl Iterator<Item = KbinView<'m>> + use<'m> {
        let all = *self;
        (0..self.len()).filter_map(move |index| all.kbin(index))
    }
}

/// One kbin with everything it refers to.
#[derive(Clone, Copy, Debug)]
pub struct KbinView<'m> {
    head: Head<'m>,
    entry: &'m SubgraphEntry,
    place: ArenaRef,
    kbin: &'m Kbin,
    index: usize,
}

impl<'m> KbinView<'m> {
    /// The record itself.
    #[must_use]
    pub const fn record(&self) -> &'m Kbin {
        self.kbin
    }

    /// Position in the file: subgraph and core number.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    pub(super) const fn head(&self) -> Head<'m> {
        self.head
    }

    /// Where the entry of this kbin is among the records.
    pub(super) const fn entry_ref(&self) -> ArenaRef {
        self.place
    }

    /// Name of the subgraph.
    #[must_use]
    pub fn subgraph_name(&self) -> &'m [u8] {
        self.text(self.entry.name)
    }

    /// Where the name of the subgraph is among the records.
    #[must_use]
    pub const fn subgraph_ref(&self) -> ArenaRef {
        self.entry.name
    }

    /// Directory of its members, without the last `/`.
    #[must_use]
    pub fn dir(&self) -> &'m [u8] {
        self.text(self.entry.dir)
    }

    /// Architecture; lowering refuses any other than the three known ones.
    #[must_use]
    pub fn arch(&self) -> Option<Arch> {
        self.kbin.target.arch()
    }

    /// Sizes of the two scratchpads in bytes: local and shared (lowering.md §7.3).
    #[must_use]
    pub fn scratchpad(&self) -> (u64, u64) {
        self.mem_ref_set()
            .map_or((0, 0), |set| (set.local_scratchpad_size.get(), set.shared_scratchpad_size.get()))
    }

    fn mem_ref_set(&self) -> Option<&'m MemRefSetHdr> {
        self.head.get(self.kbin.mem_ref_set)
    }

    /// Inputs and outputs (lowering.md §1.2).
    #[must_use]
    pub fn io_counts(&self) -> (usize, usize) {
        use super::record::MrType;
        let count = |class| self.mem_refs().iter().filter(|var| var.mr_type == class).count();
        (count(MrType::INPUT), count(MrType::OUTPUT))
    }

    /// The header of an engine, found by type as every consumer must.
    #[must_use]
    pub fn engine_hdr(&self, engine: Engine) -> Option<&'m EngineHdr> {
        self.engine_hdrs().find(|hdr| hdr.eng_type == EngType::from(engine))
    }

    /// Engine headers in slot order: act, dve, pe, pool, sp.
    pub fn engine_hdrs(&self) -> impl Iterator<Item = &'m EngineHdr> + use<'m> {
        let head = self.head;
        self.kbin.engine.iter().filter_map(move |&place| head.get(place))
    }

    /// The bytes a blob reference stands for; `None` for null.
    #[must_use]
    pub fn blob(&self, id: BlobId) -> Option<&'m Blob> {
        let row = usize::try_from(id.index_plus_one.get().checked_sub(1)?).ok()?;
        self.blobs().get(row)
    }

    /// All blobs that have bytes.
    #[must_use]
    pub fn blobs(&self) -> &'m [Blob] {
        self.first_hdr().map_or(&[], |hdr| self.array(hdr.blobs))
    }

    /// The header of the first slot, which says what all say.
    fn first_hdr(&self) -> Option<&'m EngineHdr> {
        let [first, ..] = self.kbin.engine;
        self.head.get(first)
    }

    /// Print metadata of a variable.
    #[must_use]
    pub fn print(&self, var: &super::record::MemRef) -> Option<&'m DebugMd> {
        self.head.get(var.dtensor_md)
    }

    /// Carve-outs; `None` if the definition lacks the key.
    #[must_use]
    pub fn carveouts(&self) -> Option<&'m [Carveout]> {
        let hdr: &CarveoutSetHdr = self.head.get(self.kbin.sb_carveouts)?;
        let count = u32::try_from(hdr.count.get()).ok()?;
        Some(self.array(behind::<CarveoutSetHdr>(self.kbin.sb_carveouts, count)))
    }

    /// FP8 conversion.
    #[must_use]
    pub const fn fp8(&self) -> &'m Fp8Cfg {
        &self.kbin.fp8_conv_cfg
    }

    /// Collective streams.
    #[must_use]
    pub const fn num_streams(&self) -> u64 {
        self.kbin.cc_streams.num_streams.get()
    }

    /// An array of the product; empty for null.
    fn array<T: Record>(&self, place: ArenaRef) -> &'m [T] {
        self.head.slice(place).unwrap_or(&[])
    }
}

/// The array of `count` records right behind a header of type `H`.
pub(crate) fn behind<H>(header: ArenaRef, count: u32) -> ArenaRef {
    let size = u32::try_from(size_of::<H>()).unwrap_or(0);
    match header.off.get().checked_add(size) {
        Some(off) if count > 0 && !header.is_null() => ArenaRef { off: U32::new(off), len: U32::new(count) },
        _ => ArenaRef::NULL,
    }
}
