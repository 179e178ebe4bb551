//! The manifests of S2 as working sets.

use super::profiles::{PROFILE_BYTES, Profiles, cutter};
use super::records::{LibraryOf, QueueOf, VarOf};
use super::steps::Steps;
use super::{
    ActSetIn, BlobIn, CarveoutIn, DveIn, FileIn, FunctionIn, Input, LowerSink, RankStep, Subgraph, Transfers,
};
use crate::arch::{Arch, Engine};
use crate::container::MemberTable;
use crate::error::{Error, Notes, Stage};
use crate::layout::SMALL;
use crate::limits::Limits;
use crate::lower::record::CarveoutType;
use crate::manifest::record::engine_flag;
use crate::manifest::{
    self, Block, BlockAt, BlockSink, BlockSource, Carveout, Definition, Function, Manifest, Totals, Transfer,
};
use crate::source::{MemberId, Payload};
use core::cell::RefCell;
use zerocopy::little_endian::U32;

/// The parsed manifests with the member table that knows how long each blob is.
#[derive(Clone, Copy, Debug)]
pub struct ManifestInput<'m> {
    manifest: Manifest<'m>,
    table: MemberTable<'m>,
}

impl<'m> ManifestInput<'m> {
    /// The working sets of `manifest`.
    #[must_use]
    pub const fn new(manifest: Manifest<'m>, table: MemberTable<'m>) -> Self {
        Self { manifest, table }
    }

    fn definition(&self, sg: u32) -> Option<Definition<'m>> {
        self.manifest.definition(sg)
    }

    fn blob(&self, member: MemberId) -> BlobIn {
        BlobIn { member, len: self.table.get(member).map_or(0, |member| member.size) }
    }
}

/// A member that a record may lack.
fn member(number: U32) -> Option<MemberId> {
    Some(number.get()).filter(|&number| number != u32::MAX).map(MemberId)
}

fn carveout_in(carveout: Carveout) -> CarveoutIn {
    CarveoutIn {
        kind: CarveoutType::EVTACCEL,
        offset: carveout.offset,
        size: carveout.size,
        start_partition: carveout.start_partition,
        num_partitions: carveout.num_partitions,
    }
}

pub(super) fn function_in(function: Function<'_>) -> FunctionIn<'_> {
    FunctionIn { name: function.name, opcode: function.opcode, sub_opcode: function.sub_opcode }
}

impl<'m> Input for ManifestInput<'m> {
    /// A host looks twice: S2 reads for tools what it would refuse a load. Small code has no such policy, and no room.
    const CHECKED: bool = SMALL;

    type Var<'a>
        = VarOf<'a>
    where
        Self: 'a;
    type Queue<'a>
        = QueueOf<'a>
    where
        Self: 'a;
    type Library<'a>
        = LibraryOf<'a>
    where
        Self: 'a;

    fn subgraphs(&self) -> u32 {
        self.manifest.graph_count()
    }

    fn subgraph(&self, sg: u32) -> Option<Subgraph<'_>> {
        let definition = self.definition(sg)?;
        // Numbers of its record are 0 where the file has none.
        let act = definition.record.engines.get(Engine::Act.index());
        Some(Subgraph {
            name: definition.name(),
            dir: definition.dir(),
            target: definition.arch().map_or(0, Arch::number),
            num_streams: definition.num_streams(),
            act_semaphore: act.map_or(0, |act| act.act_semaphore.get()),
            fp8: definition.fp8(),
            has_carveouts: definition.carveout_count().is_some(),
            has_ext_isa: definition.ext_isa_add_lib().is_some(),
        })
    }

    fn dve(&self, sg: u32) -> Option<DveIn> {
        let definition = self.definition(sg)?;
        let [opcode, control, control_fast, control_slow, datapath] = definition.dve_members()?;
        // R19: sunda has one control table and it goes to the fast slot.
        let placed = definition.arch() == Some(Arch::Sunda) && member(control_fast).is_none();
        let fast = if placed { control } else { control_fast };
        // No member has the number that stands for none.
        let tables = [opcode, fast, control_slow, datapath].map(|table| self.blob(MemberId(table.get())));
        Some(DveIn { tables, unplaced_control: member(control).is_some() && !placed })
    }

    fn file(&self, sg: u32, file: FileIn) -> Option<MemberId> {
        let definition = self.definition(sg)?;
        match file {
            FileIn::Graph => self.manifest.kelf().member(),
            FileIn::Part(BlockSource::Definition) => Some(definition.member()),
            FileIn::Part(BlockSource::Engine(which)) => {
                member(definition.record.engines.get(which.index())?.member)
            }
        }
    }

    fn var_count(&self, sg: u32) -> u32 {
        self.definition(sg).map_or(0, |definition| definition.var_count())
    }

    fn var(&self, sg: u32, order: u32) -> Option<VarOf<'_>> {
        let definition = self.definition(sg)?;
        let record = definition.var_record(definition.var_order(order)?)?;
        Some(VarOf { definition, record })
    }

    fn queue(&self, sg: u32, index: u32) -> Option<QueueOf<'_>> {
        let definition = self.definition(sg)?;
        Some(QueueOf { definition, record: definition.queue_record(index)? })
    }

    #[cfg_attr(small, inline(never))]
    fn totals(&self, sg: u32, source: BlockSource, instance: u32) -> Totals {
        self.definition(sg).map_or_else(Totals::default, |definition| definition.totals(source, instance))
    }

    fn block_count(&self, sg: u32, source: BlockSource) -> u32 {
        self.definition(sg).map_or(0, |definition| definition.block_count(source))
    }

    fn block(&self, sg: u32, source: BlockSource, ordinal: u32) -> Option<Block<'_>> {
        self.definition(sg)?.block(source, ordinal)
    }

    fn engine(&self, sg: u32, engine: Engine) -> Option<BlobIn> {
        let definition = self.definition(sg)?;
        let file = definition.record.engines.get(engine.index())?;
        Some(BlobIn { member: member(file.blob)?, len: file.blob_bytes.get() })
    }

    fn two_programs(&self, sg: u32, engine: Engine) -> Option<(&[u8], &[u8])> {
        let Definition { tail, record } = self.definition(sg)?;
        let file = record.engines.get(engine.index())?;
        let (one, other) = (file.instr.get(tail), file.fallback.get(tail));
        let both = file.flags & engine_flag::NAMED != 0 && !one.is_empty() && !other.is_empty();
        (both && one != other).then_some((one, other))
    }

    fn act_sets(&self, sg: u32) -> impl Iterator<Item = ActSetIn<'_>> {
        let definition = self.definition(sg);
        let count = definition.map_or(0, |definition| definition.act_set_count());
        (0..count).filter_map(move |index| {
            let definition = definition?;
            let set = definition.act_set_record(index)?;
            let [bkt, ctl] = [set.bkt, set.ctrl].map(|number| self.blob(MemberId(number.get())));
            Some(ActSetIn { name: set.name.get(definition.tail), bkt, ctl })
        })
    }

    fn carveouts(&self, sg: u32) -> impl Iterator<Item = CarveoutIn> {
        let definition = self.definition(sg);
        let count = definition.and_then(|definition| definition.carveout_count()).unwrap_or(0);
        (0..count).filter_map(move |index| definition?.carveout(index).map(carveout_in))
    }

    fn replica_groups(&self, sg: u32) -> impl Iterator<Item = RankStep> {
        Steps::new(self.definition(sg).and_then(|definition| definition.replica_groups()))
    }

    fn src_target_pairs(&self, sg: u32) -> impl Iterator<Item = RankStep> {
        Steps::new(self.definition(sg).and_then(|definition| definition.src_target_pairs()))
    }

    fn libraries(&self, sg: u32) -> impl Iterator<Item = LibraryOf<'_>> {
        let definition = self.definition(sg);
        // Few libraries: each step looks for the next name, and equal names stay in file order.
        let mut last = None;
        core::iter::from_fn(move || {
            let definition = definition?;
            last = next_library(&definition, last);
            let index = last?;
            let record = definition.library_record(index)?;
            let len = self.blob(MemberId(record.member.get())).len;
            Some(LibraryOf { definition, record, index, len })
        })
    }

    fn ext_isa_count(&self, sg: u32) -> u32 {
        self.definition(sg).map_or(0, |definition| definition.ext_isa_count())
    }

    fn ext_isa(&self, sg: u32) -> impl Iterator<Item = FunctionIn<'_>> {
        let definition = self.definition(sg);
        let count = definition.map_or(0, |definition| definition.ext_isa_count());
        (0..count).filter_map(move |index| definition?.ext_isa_function(index).map(function_in))
    }
}

/// The library whose name comes next behind another's, or first.
#[inline(never)]
fn next_library(definition: &Definition<'_>, last: Option<u32>) -> Option<u32> {
    let name = |index| definition.library_record(index).map(|record| record.name.get(definition.tail));
    let before = |one: u32, other: u32| name(one).cmp(&name(other)).then(one.cmp(&other)).is_lt();
    let mut next = None;
    for index in 0..definition.library_count() {
        if last.is_none_or(|last| before(last, index)) && next.is_none_or(|next| before(index, next)) {
            next = Some(index);
        }
    }
    next
}

/// The engine files of a payload.
#[derive(Debug)]
pub struct PayloadTransfers<'a, 'm, P> {
    /// The members.
    pub payload: &'a mut P,
    /// The manifests that index the blocks.
    pub manifest: &'a Manifest<'m>,
    /// What the files may cost.
    pub limits: &'a Limits,
    /// [`PayloadTransfers::BYTES`] to read with.
    pub memory: &'a mut [u8],
}

impl<P> PayloadTransfers<'_, '_, P> {
    /// Bytes to read manifests and profiles with.
    pub const BYTES: usize = manifest::BUFFER_BYTES + PROFILE_BYTES;
}

impl<'m, P: Payload<'m>> Transfers for PayloadTransfers<'_, 'm, P> {
    fn visit<S: LowerSink>(&mut self, sink: &mut S, notes: &mut dyn Notes) -> Result<(), Error> {
        let shared = RefCell::new(sink);
        let (memory, own) = self.memory.split_at_mut_checked(manifest::BUFFER_BYTES).unwrap_or_default();
        let mut profiles = Profiles::new(*self.manifest, cutter(own, self.limits), Shared(&shared), notes);
        manifest::visit_blocks_within(
            memory,
            self.payload,
            self.manifest,
            self.limits,
            &mut Shared(&shared),
            &mut profiles,
        )
    }
}

/// One sink for the two visitors of a pass, which never run at the same time.
pub(super) struct Shared<'a, 'b, S>(&'a RefCell<&'b mut S>);

impl<S: LowerSink> Shared<'_, '_, S> {
    pub(super) fn with(&self, run: impl FnOnce(&mut S) -> Result<(), Error>) -> Result<(), Error> {
        let busy = |_| Error::internal(Stage::Lower, "the sink is in use");
        run(*self.0.try_borrow_mut().map_err(busy)?)
    }
}

impl<S: LowerSink> BlockSink for Shared<'_, '_, S> {
    fn transfer(&mut self, at: BlockAt, transfer: &Transfer<'_>) -> Result<(), Error> {
        self.with(|sink| sink.transfer(at, transfer))
    }

    fn block_end(&mut self, at: BlockAt, block: &Block<'_>) -> Result<(), Error> {
        self.with(|sink| sink.block_end(at, block))
    }
}
