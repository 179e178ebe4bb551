//! One subgraph's definition with its five engine files: everything lowering reads.

mod finish;
mod queues;
mod ranks;
pub(crate) mod reader;
mod small;
pub(crate) mod ucode;
mod vars;

use super::block::{Block, BlockSource, Totals};
use super::collectives::Ranks;
use super::engine::{ActSet, DveTables, EngineFile, Function, Library, member};
use super::queue::Queue;
use super::record::{
    ActSetRecord, BlockRecord, CarveoutRecord, DefRecord, EngineRecord, InstanceRecord, LibraryRecord,
    QueueRecord, Text, TotalsRecord, VarRecord, def_flag, engine_flag, nth, wide,
};
use super::sort::{index, search};
use super::variable::Variable;
use crate::arch::{Arch, Engine};
use crate::arena::{Tail, TailRef};
use crate::source::MemberId;
use zerocopy::little_endian::U32;

/// A subgraph. `Copy`; all references live as long as the caller's memory.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'m> {
    pub(crate) tail: Tail<'m>,
    pub(crate) record: &'m DefRecord,
}

/// One reservation of the state buffer (manifests.md §10); `type` is always `evtaccel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carveout {
    /// Bytes from a partition's start.
    pub offset: u64,
    /// Bytes in each partition.
    pub size: u64,
    /// `base_partition`.
    pub start_partition: u64,
    /// `partitions`.
    pub num_partitions: u64,
}

impl Carveout {
    /// Lowered number of `evtaccel`, the only type.
    pub const EVTACCEL: u32 = 1;
}

/// `fp8_conversion_config` (manifests.md §12.1); a missing key inside is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the keys")]
pub struct Fp8 {
    pub fp8_range_extension: bool,
    pub emax_fp8_e4m3: u32,
    pub emax_fp8_e5m2: u32,
    pub ocp_sat: bool,
    pub fp8_sis: bool,
    pub fp8_sns: bool,
}

impl<'m> Definition<'m> {
    pub(crate) const fn new(tail: Tail<'m>, record: &'m DefRecord) -> Self {
        Self { tail, record }
    }

    fn has(&self, flag: u32) -> bool {
        self.record.flags.get() & flag != 0
    }

    /// Name of the subgraph in the KELF.
    #[must_use]
    pub fn name(&self) -> &'m [u8] {
        self.record.name.get(self.tail)
    }

    /// The `definition` string of the KELF: the member's name.
    #[must_use]
    pub fn path(&self) -> &'m [u8] {
        self.record.definition.get(self.tail)
    }

    /// `sg_dir`: the path up to its last `/`; empty without one.
    #[must_use]
    pub fn dir(&self) -> &'m [u8] {
        self.path().get(..wide(self.record.dir_len)).unwrap_or(&[])
    }

    /// The path after its last `/`.
    #[must_use]
    pub fn base(&self) -> &'m [u8] {
        match self.path().iter().rposition(|&byte| byte == b'/') {
            Some(slash) => self.path().get(slash.saturating_add(1)..).unwrap_or(&[]),
            None => self.path(),
        }
    }

    /// The `def.json` member.
    #[must_use]
    pub fn member(&self) -> MemberId {
        MemberId(self.record.member.get())
    }

    /// `version` of `def.json`; empty if absent.
    #[must_use]
    pub fn version(&self) -> &'m [u8] {
        self.record.version.get(self.tail)
    }

    /// Architecture it was compiled for; `None` for a NeuronCore-v1 file (R22), which cannot be loaded.
    #[must_use]
    pub fn arch(&self) -> Option<Arch> {
        Arch::from_number(self.record.arch.get())
    }

    /// Number of variables; their ids are 0 to this minus 1.
    #[must_use]
    pub fn var_count(&self) -> u32 {
        self.record.vars.len()
    }

    fn var_indices(&self, place: TailRef) -> &'m [U32] {
        let count = usize::try_from(self.var_count()).unwrap_or(usize::MAX);
        self.tail.slice::<U32>(place, count).unwrap_or(&[])
    }

    pub(crate) fn var_record(&self, index: u32) -> Option<&'m VarRecord> {
        self.record.vars.get::<VarRecord>(self.tail, index)
    }

    /// File order of the variable with that id: in constant time where ids are dense.
    pub(crate) fn var_index(&self, id: u32) -> Option<u32> {
        let count = self.var_count();
        let stored = |at| index(self.tail, self.record.by_id, count, at);
        let id_of = |at| self.var_record(stored(at)?).map(|record| record.var_id.get());
        if id_of(id) == Some(id) {
            return stored(id);
        }
        stored(search(count, &mut |at| id_of(at).cmp(&Some(id)))?)
    }

    /// The variable with that id.
    #[must_use]
    pub fn var(&self, id: u32) -> Option<Variable<'m>> {
        self.var_at(self.var_index(id)?)
    }

    /// The variable at a position of the file.
    pub(crate) fn var_at(&self, index: u32) -> Option<Variable<'m>> {
        Variable::new(self.tail, &self.record.lists, self.var_record(index)?)
    }

    /// Id of the variable with that name, in logarithmic time.
    #[must_use]
    pub fn var_id(&self, name: &[u8]) -> Option<u32> {
        let count = self.var_count();
        let stored = |at| index(self.tail, self.record.by_name, count, at);
        let name_of = |at| stored(at).map(|at| self.record.vars.name::<VarRecord>(self.tail, at));
        let found = stored(search(count, &mut |at| name_of(at).unwrap_or(&[]).cmp(name))?)?;
        Some(self.var_record(found)?.var_id.get())
    }

    /// The variable with that name, in logarithmic time.
    #[must_use]
    pub fn var_by_name(&self, name: &[u8]) -> Option<Variable<'m>> {
        self.var(self.var_id(name)?)
    }

    /// All variables by id.
    pub fn vars(&self) -> impl Iterator<Item = Variable<'m>> + use<'m> {
        let definition = *self;
        let indices = self.var_indices(self.record.by_id).iter();
        indices.filter_map(move |index| definition.var_at(index.get()))
    }

    /// All variables by name, in byte order.
    pub fn vars_by_name(&self) -> impl Iterator<Item = Variable<'m>> + use<'m> {
        let definition = *self;
        (0..self.var_count()).filter_map(move |order| definition.var_by_order(order))
    }

    /// The variable at a position of the byte order of names.
    fn var_by_order(&self, order: u32) -> Option<Variable<'m>> {
        self.var_at(self.var_order(order)?)
    }

    /// File order of the variable at a position of the byte order of names.
    pub(crate) fn var_order(&self, order: u32) -> Option<u32> {
        index(self.tail, self.record.by_name, self.var_count(), order)
    }

    /// Number of `input` variables.
    #[must_use]
    pub fn num_inputs(&self) -> u32 {
        self.record.num_inputs.get()
    }

    /// Number of `output` variables.
    #[must_use]
    pub fn num_outputs(&self) -> u32 {
        self.record.num_outputs.get()
    }

    /// Number of queue sets, at most 32.
    #[must_use]
    pub fn queue_count(&self) -> u32 {
        self.record.queues.len()
    }

    /// Queue set `index` in byte order of names.
    #[must_use]
    pub fn queue(&self, index: u32) -> Option<Queue<'m>> {
        Queue::new(self.tail, &self.record.instance_names, self.queue_record(index)?)
    }

    /// The record of queue set `index` in byte order of names.
    pub(crate) fn queue_record(&self, index: u32) -> Option<&'m QueueRecord> {
        let stored = self::index(self.tail, self.record.queues_by_name, self.queue_count(), index)?;
        self.record.queues.get::<QueueRecord>(self.tail, stored)
    }

    /// All queue sets in byte order of names.
    pub fn queues(&self) -> impl Iterator<Item = Queue<'m>> + use<'m> {
        let definition = *self;
        (0..self.queue_count()).filter_map(move |index| definition.queue(index))
    }

    /// Position and queue set with that name.
    #[must_use]
    pub fn queue_by_name(&self, name: &[u8]) -> Option<(u32, Queue<'m>)> {
        let at = self.queue_index(name)?;
        Some((at, self.queue(at)?))
    }

    pub(crate) fn queue_index(&self, name: &[u8]) -> Option<u32> {
        let count = self.queue_count();
        (0..count).find(|&at| {
            let stored = index(self.tail, self.record.queues_by_name, count, at);
            stored.is_some_and(|stored| self.record.queues.name::<QueueRecord>(self.tail, stored) == name)
        })
    }

    /// Number of queue instances, all sets together.
    #[must_use]
    pub fn instance_count(&self) -> u32 {
        self.record.instances.get()
    }

    /// Queue position and instance with that instance name, in logarithmic time.
    #[must_use]
    pub fn instance_by_name(&self, name: &[u8]) -> Option<(u32, u32)> {
        let record = |at| self.tail.get(nth::<InstanceRecord>(self.record.instance_index, at));
        let name_of = |at| record(at).map_or(&[][..], |record: &InstanceRecord| record.name.get(self.tail));
        let at = search(self.instance_count(), &mut |at| name_of(at).cmp(name))?;
        record(at).map(|record| (record.queue.get(), record.instance.get()))
    }

    fn engine_record(&self, source: BlockSource) -> &'m EngineRecord {
        let [first, ..] = &self.record.engines;
        self.record.engines.get(source.slot()).unwrap_or(first)
    }

    /// One of the five engines.
    #[must_use]
    pub fn engine(&self, engine: Engine) -> EngineFile<'m> {
        EngineFile::new(self.tail, self.engine_record(BlockSource::Engine(engine)))
    }

    /// The file that a source stands in, if there is one.
    pub(crate) fn source_member(&self, source: BlockSource) -> Option<MemberId> {
        match source {
            BlockSource::Definition => Some(self.member()),
            BlockSource::Engine(_) => member(self.engine_record(source).member.get()),
        }
    }

    /// Number of DMA blocks of a source.
    #[must_use]
    pub fn block_count(&self, source: BlockSource) -> u32 {
        self.engine_record(source).blocks.len()
    }

    /// Number of transfers of a source.
    #[must_use]
    pub fn transfer_count(&self, source: BlockSource) -> u32 {
        self.engine_record(source).transfers.get()
    }

    /// Block `ordinal` of a source, in constant time.
    #[must_use]
    pub fn block(&self, source: BlockSource, ordinal: u32) -> Option<Block<'m>> {
        let record = self.engine_record(source).blocks.get::<BlockRecord>(self.tail, ordinal)?;
        Block::new(self.tail, record)
    }

    /// What the blocks of `source` hold for one queue instance, in the flat numbering of
    /// [`Queue::first_instance`].
    #[must_use]
    pub fn totals(&self, source: BlockSource, instance: u32) -> Totals {
        let place = self.totals_place(source, instance).filter(|_| instance < self.instance_count());
        match place.and_then(|place| self.tail.get::<TotalsRecord>(place)) {
            Some(record) => Totals {
                blocks: record.blocks.get(),
                transfers: record.transfers.get(),
                accesses: record.accesses.get(),
                dims: record.dims.get(),
                arithmetic: record.arithmetic.get(),
                transposes: record.transposes.get(),
                extra: record.extra.get(),
            },
            None => Totals::default(),
        }
    }

    /// Where the totals of an instance lie, in the flat numbering.
    #[cfg_attr(small, inline(never))]
    pub(crate) fn totals_place(&self, source: BlockSource, instance: u32) -> Option<TailRef> {
        let row = self.instance_count().checked_mul(u32::try_from(source.slot()).ok()?)?;
        Some(nth::<TotalsRecord>(self.record.totals, row.checked_add(instance)?))
    }

    /// Activation function sets of the `act` engine, in list order.
    pub fn act_sets(&self) -> impl Iterator<Item = ActSet<'m>> + use<'m> {
        let definition = *self;
        (0..self.act_set_count()).filter_map(move |index| definition.act_set(index))
    }

    pub(crate) fn act_set_count(&self) -> u32 {
        self.engine_record(BlockSource::Engine(Engine::Act)).act_sets.len()
    }

    fn act_set(&self, index: u32) -> Option<ActSet<'m>> {
        Some(ActSet::new(self.tail, self.act_set_record(index)?))
    }

    pub(crate) fn act_set_record(&self, index: u32) -> Option<&'m ActSetRecord> {
        self.engine_record(BlockSource::Engine(Engine::Act)).act_sets.get(self.tail, index)
    }

    /// `dve_tables` of the `dve` engine.
    #[must_use]
    pub fn dve_tables(&self) -> Option<DveTables> {
        DveTables::new(self.engine_record(BlockSource::Engine(Engine::Dve)))
    }

    /// Members of the DVE tables, in the order of [`DveTables`]; 4294967295 for none.
    pub(crate) fn dve_members(&self) -> Option<[U32; 5]> {
        let record = self.engine_record(BlockSource::Engine(Engine::Dve));
        (record.flags & engine_flag::DVE != 0).then_some(record.dve)
    }

    /// `replica_groups`; `None` if the key is absent.
    #[must_use]
    pub fn replica_groups(&self) -> Option<Ranks<'m>> {
        self.has(def_flag::REPLICA_GROUPS).then(|| Ranks::new(self.tail, &self.record.groups))
    }

    /// `src_target_pairs`; `None` if the key is absent.
    #[must_use]
    pub fn src_target_pairs(&self) -> Option<Ranks<'m>> {
        self.has(def_flag::PAIRS).then(|| Ranks::new(self.tail, &self.record.pairs))
    }

    /// `#rank_world_size`; `None` if the key is absent.
    #[must_use]
    pub fn rank_world_size(&self) -> Option<u64> {
        self.has(def_flag::WORLD_SIZE).then(|| self.record.world_size.get())
    }

    /// `num_streams` or `cc_streams.num_streams` (R13): the value given, 1 if absent.
    #[must_use]
    pub fn num_streams(&self) -> u64 {
        self.record.num_streams.get()
    }

    /// Number of carve-outs; `None` if the key is absent.
    #[must_use]
    pub fn carveout_count(&self) -> Option<u32> {
        self.has(def_flag::CARVEOUTS).then(|| self.record.carveouts.len())
    }

    /// The carve-outs in file order; empty also if the key is absent.
    pub fn carveouts(&self) -> impl Iterator<Item = Carveout> + use<'m> {
        let definition = *self;
        (0..self.record.carveouts.len()).filter_map(move |index| definition.carveout(index))
    }

    pub(crate) fn carveout(&self, index: u32) -> Option<Carveout> {
        let record = self.record.carveouts.get::<CarveoutRecord>(self.tail, index)?;
        Some(Carveout {
            offset: record.offset.get(),
            size: record.size.get(),
            start_partition: record.start_partition.get(),
            num_partitions: record.num_partitions.get(),
        })
    }

    /// Ucode libraries, in file order.
    pub fn ucode_libs(&self) -> impl Iterator<Item = Library<'m>> + use<'m> {
        let definition = *self;
        (0..self.library_count()).filter_map(move |index| definition.library(index))
    }

    pub(crate) fn library_count(&self) -> u32 {
        self.record.libraries.len()
    }

    pub(crate) fn library(&self, index: u32) -> Option<Library<'m>> {
        Some(Library::new(self.tail, &self.record.functions, self.library_record(index)?))
    }

    pub(crate) fn library_record(&self, index: u32) -> Option<&'m LibraryRecord> {
        self.record.libraries.get::<LibraryRecord>(self.tail, index)
    }

    /// Functions of `ext_isa_ucode_lib_def`, which narrow the runtime's own default library.
    pub fn ext_isa_functions(&self) -> impl Iterator<Item = Function<'m>> + use<'m> {
        let definition = *self;
        (0..self.ext_isa_count()).filter_map(move |index| definition.ext_isa_function(index))
    }

    pub(crate) fn ext_isa_count(&self) -> u32 {
        self.record.ext_isa.len()
    }

    pub(crate) fn ext_isa_function(&self, index: u32) -> Option<Function<'m>> {
        Function::of(self.tail, &self.record.ext_isa, index)
    }

    /// `add_lib` of `ext_isa_ucode_lib_def`; `None` if that key is absent.
    #[must_use]
    pub fn ext_isa_add_lib(&self) -> Option<bool> {
        self.has(def_flag::EXT_ISA).then(|| self.has(def_flag::EXT_ISA_ADD))
    }

    /// `fp8_conversion_config`; `None` ("not initialised") if the key is absent.
    #[must_use]
    pub fn fp8(&self) -> Option<Fp8> {
        let record = &self.record.fp8;
        self.has(def_flag::FP8).then(|| Fp8 {
            fp8_range_extension: record.range_extension != 0,
            emax_fp8_e4m3: record.emax_e4m3.get(),
            emax_fp8_e5m2: record.emax_e5m2.get(),
            ocp_sat: record.ocp_sat != 0,
            fp8_sis: record.sis != 0,
            fp8_sns: record.sns != 0,
        })
    }

    /// Names in `neff_features`, in file order.
    pub fn features(&self) -> impl Iterator<Item = &'m [u8]> + use<'m> {
        let (tail, table) = (self.tail, &self.record.features);
        (0..table.len()).filter_map(move |index| Some(table.get::<Text>(tail, index)?.get(tail)))
    }
}
