//! The block index: what S2 keeps of a `dma` array, and the faults it finds in it.

use super::super::build::{Build, Slot, broken, check_of, failed, fault, full};
use super::super::class::DmaOp;
use super::super::definition::Definition;
use super::super::record::{BlockRecord, DefRecord, TotalsRecord, block_flag};
use super::super::table::Table;
use super::super::verdict::{Rank, Section};
use super::walk::{BlockUse, unescaped};
use super::{BlockSource, SOURCES, SOURCES_DEFAULT, SOURCES_MARIANA, Transfer};
use crate::arch::Arch;
use crate::arena::{Arena, TailRef};
use crate::error::{Error, ManifestCode, Name};
use crate::json::Element;
use crate::words::words;
use zerocopy::little_endian::{U16, U32};

/// The block that is being read.
#[derive(Debug, Default)]
struct BlockDraft {
    ordinal: u32,
    id: Slot<u32>,
    /// `id` as it is written.
    id_written: Option<Name<32>>,
    queue: Slot<Option<u32>>,
    instance: Slot<Option<(u32, u32)>>,
    /// What `queue` and `instance_name` say.
    shown: [Option<Name<32>>; 2],
    semaphore: Slot<u32>,
    event: Slot<u32>,
    priority_class: Slot<u8>,
    section_start: Slot<bool>,
    function_wrong: bool,
    function: super::super::record::Text,
    remotes: Slot<(TailRef, u32)>,
    has_desc: bool,
    totals: TotalsRecord,
}

/// What survives from block to block of one source.
#[derive(Debug)]
pub(crate) struct Indexer {
    graph: u16,
    source: BlockSource,
    /// The definition's record in the tail.
    def: TailRef,
    arch: Option<Arch>,
    pub(crate) blocks: Table,
    pub(crate) transfers: u32,
    draft: BlockDraft,
}

impl Indexer {
    pub(crate) fn new(graph: u16, source: BlockSource, def: TailRef, arch: Option<Arch>) -> Self {
        let draft = BlockDraft::default();
        Self { graph, source, def, arch, blocks: Table::EMPTY, transfers: 0, draft }
    }

    /// Where this source stands in the reference's order of reading.
    pub(crate) fn rank(&self) -> Rank {
        match self.source {
            BlockSource::Definition => Rank::new(self.graph, Section::Dma).step(1),
            BlockSource::Engine(engine) => {
                let section = Section::Engine(u8::try_from(engine.index()).unwrap_or(0));
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

fn definition<'a>(arena: &'a Arena<'_>, place: TailRef) -> Option<Definition<'a>> {
    let tail = arena.tail();
    tail.get::<DefRecord>(place).map(|record| Definition::new(tail, record))
}

impl Indexing<'_, '_, '_> {
    fn offer(&mut self, check: u8, error: Error) {
        let ordinal = self.indexer.draft.ordinal;
        let rank = self.indexer.rank().item(ordinal, check);
        self.build.offer(rank, error.element(ordinal));
    }

    fn definition(&self) -> Option<Definition<'_>> {
        definition(self.build.arena, self.indexer.def)
    }

    fn queue(&self, value: Element<'_>) -> Option<Option<u32>> {
        let text = value.as_text()?;
        let find = |name: &[u8]| self.definition()?.queue_by_name(name).map(|(at, _)| at);
        Some(unescaped(text, find))
    }

    fn instance(&self, value: Element<'_>) -> Option<Option<(u32, u32)>> {
        let text = value.as_text()?;
        Some(unescaped(text, |name| self.definition()?.instance_by_name(name)))
    }

    /// Keeps `remote_semaphores`.
    fn remotes(&mut self, value: Element<'_>) -> Result<Option<(TailRef, u32)>, Error> {
        let Some(items) = value.as_items() else { return Ok(None) };
        let (mut all, count) = (items, items.count());
        if all.any(|item| item.as_u32().is_none()) {
            return Ok(None);
        }
        let place = self.build.arena.alloc_tail::<U32>(count).map_err(full)?;
        if let Some(slots) = self.build.arena.tail_slice_mut::<U32>(place, count) {
            for (slot, item) in slots.iter_mut().zip(items) {
                slot.set(item.as_u32().unwrap_or(0));
            }
        }
        Ok(Some((place, u32::try_from(count).map_err(|_| broken("remote semaphores"))?)))
    }

    /// Queue and instance: `instance_name` wins over `queue`.
    fn place(&self) -> Result<(u32, u32), Error> {
        let draft = &self.indexer.draft;
        let [queue, instance] = draft.shown;
        let unknown = || {
            let first = if draft.queue.is_wrong() && !draft.instance.is_wrong() { queue } else { instance };
            let shown = first.or(queue).unwrap_or(Name::new(b"(none named)"));
            fault(ManifestCode::BlockQueue).name(shown.as_bytes()).numbers(u64::from(draft.ordinal), 0)
        };
        if draft.queue.is_wrong() || draft.instance.is_wrong() {
            return Err(unknown());
        }
        match (draft.instance.get(), draft.queue.get()) {
            (Some(found), _) => found.ok_or_else(unknown),
            (None, Some(found)) => found.map(|queue| (queue, 0)).ok_or_else(unknown),
            (None, None) => Err(unknown()),
        }
    }

    /// The first of the block's own keys that has the wrong type.
    fn malformed(&self) -> Option<&'static str> {
        let draft = &self.indexer.draft;
        let wrong = [
            (draft.semaphore.is_wrong(), "semaphore"),
            (draft.event.is_wrong(), "event"),
            (draft.priority_class.is_wrong(), "priority_class"),
            (draft.section_start.is_wrong(), "section_start_desc"),
            (draft.function_wrong, "function_start"),
            (draft.remotes.is_wrong(), "remote_semaphores"),
            (!draft.has_desc, "desc"),
        ];
        wrong.into_iter().find(|(wrong, _)| *wrong).map(|(_, key)| key)
    }

    fn record(&self, transfers: u32) -> Result<BlockRecord, Error> {
        let draft = &self.indexer.draft;
        let ordinal = u64::from(draft.ordinal);
        let id = draft.id.get().ok_or_else(|| {
            let found = draft.id_written.unwrap_or(Name::new(b"no id"));
            failed(0, fault(ManifestCode::BlockId).name(found.as_bytes()).numbers(ordinal, 0))
        })?;
        let (queue, instance) = self.place().map_err(|error| failed(1, error))?;
        if let Some(key) = self.malformed() {
            let error = fault(ManifestCode::BlockMalformed).name(key.as_bytes());
            return Err(failed(2, error.numbers(ordinal, 0)));
        }
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags = flag(draft.semaphore.get().is_some(), block_flag::SEMAPHORE)
            | flag(draft.event.get().is_some(), block_flag::EVENT)
            | flag(draft.section_start.get() == Some(true), block_flag::SECTION_START);
        let (remotes, remote_count) = draft.remotes.get().unwrap_or((TailRef::NULL, 0));
        Ok(BlockRecord {
            id: U32::new(id),
            queue: U16::new(u16::try_from(queue).unwrap_or(u16::MAX)),
            flags,
            priority_class: draft.priority_class.get().unwrap_or(0),
            instance: U32::new(instance),
            transfers: U32::new(transfers),
            semaphore: U32::new(draft.semaphore.get().unwrap_or(0)),
            event: U32::new(draft.event.get().unwrap_or(0)),
            function: draft.function,
            remotes,
            remote_count: U32::new(remote_count),
        })
    }

    /// Adds the block's counts to those of its queue instance.
    fn add_totals(&mut self, record: &BlockRecord) -> Option<()> {
        let definition = self.definition()?;
        let count = definition.instance_count();
        let first = definition.queue(u32::from(record.queue.get()))?.first_instance;
        let row = count.checked_mul(u32::try_from(self.indexer.source.slot()).ok()?)?;
        let at = row.checked_add(first)?.checked_add(record.instance.get())?;
        let (place, all) = (definition.record.totals, usize::try_from(count.checked_mul(6)?).ok()?);
        let slots = self.build.arena.tail_slice_mut::<TotalsRecord>(place, all)?;
        let slot = slots.get_mut(usize::try_from(at).ok()?)?;
        let block = &self.indexer.draft.totals;
        let add = |sum: &mut U32, more: U32| sum.set(sum.get().saturating_add(more.get()));
        add(&mut slot.blocks, U32::new(1));
        add(&mut slot.transfers, block.transfers);
        add(&mut slot.accesses, block.accesses);
        add(&mut slot.dims, block.dims);
        add(&mut slot.arithmetic, block.arithmetic);
        add(&mut slot.transposes, block.transposes);
        add(&mut slot.extra, block.extra);
        Some(())
    }
}

/// Keeps the first value of a name for a message; what is no string, as it is written.
fn shown(slot: &mut Option<Name<32>>, value: Element<'_>) {
    let name = || value.as_text().map_or_else(|| Name::new(value.bytes()), super::super::build::shown);
    slot.get_or_insert_with(name);
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
        self.indexer.draft = BlockDraft { ordinal, ..BlockDraft::default() };
    }

    fn wants(&self, key: &[u8]) -> bool {
        matches!(
            Key::of(key),
            Key::Id
                | Key::Queue
                | Key::InstanceName
                | Key::FunctionStart
                | Key::SectionStartDesc
                | Key::Event
                | Key::Semaphore
                | Key::RemoteSemaphores
                | Key::PriorityClass
        )
    }

    fn field(&mut self, key: &[u8], value: Element<'_>) -> Result<(), Error> {
        match Key::of(key) {
            Key::Queue => {
                let queue = self.queue(value);
                let draft = &mut self.indexer.draft;
                draft.queue.set(queue);
                shown(&mut draft.shown[0], value);
            }
            Key::InstanceName => {
                let instance = self.instance(value);
                let draft = &mut self.indexer.draft;
                draft.instance.set(instance);
                shown(&mut draft.shown[1], value);
            }
            Key::FunctionStart if self.indexer.draft.function.len.get() == 0 => {
                match self.build.keep_string(value)? {
                    Some(text) => self.indexer.draft.function = text,
                    None => self.indexer.draft.function_wrong = true,
                }
            }
            Key::RemoteSemaphores if self.indexer.draft.remotes.is_absent() => {
                let remotes = self.remotes(value)?;
                self.indexer.draft.remotes.set(remotes);
            }
            key => self.indexer.draft.plain(key, value),
        }
        Ok(())
    }

    fn has_transfers(&mut self) {
        self.indexer.draft.has_desc = true;
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
        match self.record(transfers) {
            Ok(record) => {
                self.add_totals(&record).ok_or_else(|| broken("totals"))?;
                let Self { indexer, build } = self;
                indexer.blocks.push(build.arena, record).map(drop).map_err(full)
            }
            Err(error) => {
                let check = check_of(&error);
                self.offer(check, error);
                Ok(())
            }
        }
    }
}

impl Indexing<'_, '_, '_> {
    fn limits(&self) -> Result<(), Error> {
        let limits = &self.build.limits;
        let beyond = |what: &[u8], most: u32| {
            Err(fault(ManifestCode::LimitExceeded).name(what).numbers(0, u64::from(most)))
        };
        if self.indexer.blocks.len() >= limits.blocks {
            return beyond(b"dma blocks", limits.blocks);
        }
        if self.indexer.transfers > limits.descriptors {
            return beyond(b"dma descriptors", limits.descriptors);
        }
        Ok(())
    }
}

words! {
    /// Keys of a block that the index takes.
    Key {
        Id = b"id",
        Queue = b"queue",
        InstanceName = b"instance_name",
        FunctionStart = b"function_start",
        SectionStartDesc = b"section_start_desc",
        Event = b"event",
        Semaphore = b"semaphore",
        RemoteSemaphores = b"remote_semaphores",
        PriorityClass = b"priority_class",
    }
}

impl BlockDraft {
    fn plain(&mut self, key: Key, value: Element<'_>) {
        match key {
            Key::Id => {
                self.id.set(value.as_u32());
                if self.id.is_wrong() {
                    self.id_written = self
                        .id_written
                        .or_else(|| Some(b"id ".iter().chain(value.bytes()).copied().collect()));
                }
            }
            Key::Semaphore => self.semaphore.set(value.as_u32()),
            Key::Event => self.event.set(value.as_u32()),
            Key::PriorityClass => self.priority_class.set(value.as_u8()),
            Key::SectionStartDesc => self.section_start.set(value.as_flag()),
            _ => {}
        }
    }
}
