//! The block index: what S2 keeps of a `dma` array, and the faults it finds in it.

use super::super::build::{Build, Number, beyond, broken, fault, numbers};
use super::super::class::DmaOp;
use super::super::definition::Definition;
use super::super::fields::Type::{Flag, Own, Text as Kept, U8 as Byte, U32 as Unsigned};
use super::super::fields::{Fields, Read, fields};
use super::super::record::{BlockRecord, TotalsRecord, block_flag};
use super::super::table::Table;
use super::super::verdict::{Rank, Section};
use super::walk::{BlockUse, unescaped};
use super::{BlockSource, SOURCES, SOURCES_DEFAULT, SOURCES_MARIANA, Transfer};
use crate::arch::Arch;
use crate::arena::TailRef;
use crate::error::{Error, ManifestCode};
use crate::json::Element;
use zerocopy::little_endian::{U16, U32};
use zerocopy::{FromZeros, IntoBytes};

fields! {
    /// Keys of a block that the index takes (manifests.md §13.3). From `semaphore` on, the type is the only rule.
    Key for BlockRecord {
        Queue = b"queue": Own,
        InstanceName = b"instance_name": Own,
        Id = b"id": Unsigned => id,
        Semaphore = b"semaphore": Unsigned => semaphore,
        Event = b"event": Unsigned => event,
        PriorityClass = b"priority_class": Byte => priority_class,
        SectionStartDesc = b"section_start_desc": Flag,
        FunctionStart = b"function_start": Kept => function,
        RemoteSemaphores = b"remote_semaphores": Own,
        Desc = b"desc": Own,
    }
}

/// The block that is being read.
#[derive(Debug)]
struct BlockDraft {
    ordinal: u32,
    said: Fields<Key>,
    remotes: TailRef,
    totals: TotalsRecord,
}

/// What survives from block to block of one source.
#[derive(Debug)]
pub(crate) struct Indexer {
    pub(crate) graph: u16,
    source: BlockSource,
    arch: Option<Arch>,
    pub(crate) blocks: Table,
    pub(crate) transfers: u32,
    draft: BlockDraft,
}

impl Indexer {
    pub(crate) fn new(graph: u16, source: BlockSource, arch: Option<Arch>) -> Self {
        let totals = TotalsRecord::new_zeroed();
        let draft = BlockDraft { ordinal: 0, said: Fields::NONE, remotes: TailRef::NULL, totals };
        Self { graph, source, arch, blocks: Table::EMPTY, transfers: 0, draft }
    }

    /// Where this source stands in the reference's order of reading.
    pub(crate) fn rank(&self) -> Rank {
        match self.source {
            BlockSource::Definition => Rank::new(self.graph, Section::Dma).step(1),
            BlockSource::Engine(engine) => {
                let section = Section::Engine(engine);
                Rank::new(self.graph, section).step(1)
            }
        }
    }
}

/// An indexer together with the arena.
pub(crate) struct Indexing<'x, 'a, 'm> {
    pub(crate) indexer: &'x mut Indexer,
    pub(crate) build: &'x mut Build<'a, 'm>,
}

impl Indexing<'_, '_, '_> {
    fn offer(&mut self, check: u8, error: Error) {
        let ordinal = self.indexer.draft.ordinal;
        let rank = self.indexer.rank().item(ordinal, check);
        self.build.offer(rank, error.element(ordinal));
    }

    fn definition(&self) -> Option<Definition<'_>> {
        let record = self.build.def(self.indexer.graph.into())?;
        Some(Definition::new(self.build.arena.tail(), record))
    }

    /// Takes a name of a queue or of an instance; the value is the queue, and above it the instance.
    fn named(&mut self, key: Key, value: Element<'_>) {
        let read = value.as_text().map_or(Read::Wrong, |text| {
            let mut find = |name: &[u8]| {
                let definition = self.definition()?;
                match key {
                    Key::Queue => definition.queue_index(name).map(u64::from),
                    _ => definition
                        .instance_by_name(name)
                        .map(|(queue, instance)| u64::from(instance).wrapping_shl(32) | u64::from(queue)),
                }
            };
            unescaped(text, &mut find).map_or(Read::Unknown, Read::Got)
        });
        let said = &mut self.indexer.draft.said;
        if !matches!(read, Read::Got(_)) {
            said.show(key, value);
        }
        said.put(key, read);
    }

    /// Keeps `remote_semaphores`.
    fn remotes(&mut self, value: Element<'_>) -> Result<(), Error> {
        let count = numbers(value, Number::U32, &mut []);
        let draft = &mut self.indexer.draft;
        draft.said.put(Key::RemoteSemaphores, Read::or_wrong(count.map(u64::from)));
        let count = usize::try_from(count.unwrap_or(0)).map_err(|_| broken("remote semaphores"))?;
        self.build.room::<U32>(count, &mut draft.remotes)?;
        if let Some(slots) = self.build.arena.tail_slice_mut::<U32>(draft.remotes, count) {
            numbers(value, Number::U32, slots.as_mut_bytes());
        }
        Ok(())
    }

    /// Queue and instance: `instance_name` wins over `queue`.
    fn place(&self, record: &mut BlockRecord) -> Result<(), Error> {
        let said = &self.indexer.draft.said;
        let instance = !said.is_absent(Key::InstanceName);
        let key = if instance { Key::InstanceName } else { Key::Queue };
        let found = said.get(key).filter(|_| !said.is_wrong(Key::Queue));
        let Some(found) = found else {
            let only_queue = said.is_wrong(Key::Queue) && !said.is_wrong(Key::InstanceName);
            let blamed = if only_queue || !instance { Key::Queue } else { Key::InstanceName };
            let shown = if said.is_absent(blamed) { b"(none named)" } else { said.shown(blamed) };
            return Err(fault(ManifestCode::BlockQueue).name(shown));
        };
        let [q0, q1, _, _, instance @ ..] = found.to_le_bytes();
        record.queue = U16::from_bytes([q0, q1]);
        record.instance = U32::from_bytes(instance);
        Ok(())
    }

    /// Fills the block's record; `check` is what is being checked.
    fn record(&self, transfers: u32, record: &mut BlockRecord, check: &mut u8) -> Result<(), Error> {
        let BlockDraft { said, remotes, .. } = &self.indexer.draft;
        if !said.has(Key::Id) {
            let mut text = *b"id ..............................";
            let [_, _, _, written @ ..] = &mut text;
            let shown = said.shown(Key::Id);
            crate::bytes::copy(written, shown);
            let id = text.get(..shown.len().saturating_add(3)).unwrap_or(&text);
            let found: &[u8] = if said.is_absent(Key::Id) { b"no id" } else { id };
            return Err(fault(ManifestCode::BlockId).name(found));
        }
        *check = 1;
        self.place(record)?;
        *check = 2;
        let absent = || said.is_absent(Key::Desc).then(|| Key::Desc.word());
        if let Some(key) = said.first_bad(Key::Semaphore, Key::RemoteSemaphores).or_else(absent) {
            return Err(fault(ManifestCode::BlockMalformed).name(key));
        }
        said.place(record);
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        record.flags = flag(said.has(Key::Semaphore), block_flag::SEMAPHORE)
            | flag(said.has(Key::Event), block_flag::EVENT)
            | flag(said.is_set(Key::SectionStartDesc), block_flag::SECTION_START);
        record.transfers = U32::new(transfers);
        if said.has(Key::RemoteSemaphores) {
            record.remotes = *remotes;
            record.remote_count = U32::new(said.u32(Key::RemoteSemaphores));
        }
        Ok(())
    }

    /// Adds the block's counts to those of its queue instance.
    fn add_totals(&mut self, record: &BlockRecord) -> Option<()> {
        let definition = self.definition()?;
        let first = definition.queue_record(u32::from(record.queue.get()))?.first_instance.get();
        let at = first.checked_add(record.instance.get())?;
        let place = definition.totals_place(self.indexer.source, at)?;
        let slot = self.build.arena.tail_mut::<TotalsRecord>(place)?;
        let block = &self.indexer.draft.totals;
        let sums: &mut [U32; 7] = zerocopy::transmute_mut!(slot);
        let block: &[U32; 7] = zerocopy::transmute_ref!(block);
        for (sum, more) in sums.iter_mut().zip(block) {
            bump(sum, more.get());
        }
        Some(())
    }
}

fn bump(sum: &mut U32, more: u32) {
    sum.set(sum.get().saturating_add(more));
}

impl BlockUse for Indexing<'_, '_, '_> {
    fn var(&self, name: &[u8]) -> Option<u32> {
        self.definition()?.var_id(name)
    }

    fn sources_max(&self) -> usize {
        let most = if self.indexer.arch == Some(Arch::Mariana) { SOURCES_MARIANA } else { SOURCES_DEFAULT };
        most.min(SOURCES)
    }

    fn begin(&mut self, ordinal: u32) {
        let draft = &mut self.indexer.draft;
        draft.ordinal = ordinal;
        draft.said.begin();
        draft.totals = TotalsRecord { blocks: U32::new(1), ..TotalsRecord::new_zeroed() };
    }

    fn wants(&self, key: &[u8]) -> bool {
        !matches!(Key::of(key), Key::Other | Key::Desc)
    }

    fn field(&mut self, key: &[u8], value: Element<'_>) -> Result<(), Error> {
        let key = Key::of(key);
        let said = &mut self.indexer.draft.said;
        if !said.is_absent(key) {
            return Ok(());
        }
        match key {
            Key::Queue | Key::InstanceName => self.named(key, value),
            Key::RemoteSemaphores => return self.remotes(value),
            Key::Id => said.show_raw(key, value),
            _ => {}
        }
        self.indexer.draft.said.take(self.build, key, value)
    }

    fn has_transfers(&mut self) {
        self.indexer.draft.said.put(Key::Desc, Read::Got(0));
    }

    fn transfer(&mut self, _: u32, transfer: &Transfer<'_>) -> Result<(), Error> {
        let totals = &mut self.indexer.draft.totals;
        let ends = transfer.from.iter().chain([&transfer.to]);
        for end in ends {
            bump(&mut totals.accesses, 1);
            bump(&mut totals.dims, u32::from(end.dims));
        }
        bump(&mut totals.transfers, 1);
        bump(&mut totals.arithmetic, u32::from(transfer.op.is_arithmetic()));
        let transposes = transfer.op == DmaOp::Transpose || transfer.transpose.is_some();
        bump(&mut totals.transposes, u32::from(transposes));
        bump(&mut totals.extra, transfer.extra_bytes());
        Ok(())
    }

    fn fault(&mut self, _: u32, error: Error) -> Result<(), Error> {
        self.offer(3, error);
        Ok(())
    }

    fn end(&mut self, transfers: u32) -> Result<(), Error> {
        self.indexer.transfers = self.indexer.transfers.saturating_add(transfers);
        self.limits()?;
        let mut record = BlockRecord::new_zeroed();
        let mut check = 0;
        if let Err(error) = self.record(transfers, &mut record, &mut check) {
            let ordinal = self.indexer.draft.ordinal;
            self.offer(check, error.numbers(u64::from(ordinal), 0));
            return Ok(());
        }
        self.add_totals(&record).ok_or_else(|| broken("totals"))?;
        let Self { indexer, build } = self;
        build.push(&mut indexer.blocks, &record)
    }
}

impl Indexing<'_, '_, '_> {
    fn limits(&self) -> Result<(), Error> {
        let limits = &self.build.limits;
        if self.indexer.blocks.len() >= limits.blocks {
            return Err(beyond(b"dma blocks", limits.blocks));
        }
        if self.indexer.transfers > limits.descriptors {
            return Err(beyond(b"dma descriptors", limits.descriptors));
        }
        Ok(())
    }
}
