//! Views of what the engine files add: tables, blobs, libraries (manifests.md §11, §13).

pub(crate) mod act_info;
pub(crate) mod reader;
pub(crate) mod settle;

use super::record::{ActSetRecord, EngineRecord, FunctionRecord, LibraryRecord, NONE, engine_flag};
use super::table::Table;
use crate::arena::Tail;
use crate::source::MemberId;

pub(crate) fn member(number: u32) -> Option<MemberId> {
    (number != NONE).then_some(MemberId(number))
}

/// One engine of a subgraph; always there, possibly as a placeholder.
#[derive(Clone, Copy, Debug)]
pub struct EngineFile<'m> {
    /// Whether the definition names a file for it.
    pub present: bool,
    /// No blob: an empty stream stands in (manifests.md §13.2).
    pub placeholder: bool,
    /// The engine file.
    pub member: Option<MemberId>,
    /// The instruction blob.
    pub blob: Option<MemberId>,
    /// Name of the blob, without the directory.
    pub blob_name: &'m [u8],
    /// `<engine>_instr` of `def.json`, which counts where the engine file names none; empty if absent.
    pub fallback_name: &'m [u8],
    /// Length of the blob in bytes.
    pub blob_bytes: u64,
    /// DMA blocks.
    pub blocks: u32,
    /// Transfers of all blocks.
    pub transfers: u32,
    /// `act_semaphore`.
    pub act_semaphore: Option<u32>,
    /// Whether `activation_function_sets` is present, possibly empty.
    pub has_act_sets: bool,
    /// Elements of `profile_meta_data` (shape Open, Q7: carried as raw JSON).
    pub profile_functions: u8,
}

impl<'m> EngineFile<'m> {
    pub(crate) fn new(tail: Tail<'m>, record: &'m EngineRecord) -> Self {
        let has = |flag| record.flags & flag != 0;
        Self {
            present: has(engine_flag::NAMED),
            placeholder: has(engine_flag::PLACEHOLDER),
            member: member(record.member.get()),
            blob: member(record.blob.get()),
            blob_name: record.instr.get(tail),
            fallback_name: record.fallback.get(tail),
            blob_bytes: record.blob_bytes.get(),
            blocks: record.blocks.len(),
            transfers: record.transfers.get(),
            act_semaphore: has(engine_flag::ACT_SEMAPHORE).then(|| record.act_semaphore.get()),
            has_act_sets: has(engine_flag::ACT_SETS),
            profile_functions: record.profile_functions,
        }
    }

    /// Instructions: whole 64-byte slots of the blob (manifests.md §15.1).
    #[must_use]
    pub const fn instructions(&self) -> u64 {
        self.blob_bytes >> 6
    }
}

/// One activation function set (manifests.md §13.4).
#[derive(Clone, Copy, Debug)]
pub struct ActSet<'m> {
    /// Name in `activation_function_sets`.
    pub name: &'m [u8],
    /// Bucket table.
    pub bkt: MemberId,
    /// Control table.
    pub ctrl: MemberId,
    /// `profile_json`, else `<set>.json`; optional at run time.
    pub profile: Option<MemberId>,
}

impl<'m> ActSet<'m> {
    pub(crate) fn new(tail: Tail<'m>, record: &ActSetRecord) -> Self {
        Self {
            name: record.name.get(tail),
            bkt: MemberId(record.bkt.get()),
            ctrl: MemberId(record.ctrl.get()),
            profile: member(record.profile.get()),
        }
    }
}

/// `dve_tables` (manifests.md §13.5): members, each optional.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DveTables {
    /// `opcode_table`.
    pub opcode: Option<MemberId>,
    /// `control_table`: on sunda it fills the fast slot (R19).
    pub control: Option<MemberId>,
    /// `control_fast_table`.
    pub control_fast: Option<MemberId>,
    /// `control_slow_table`.
    pub control_slow: Option<MemberId>,
    /// `datapath_table`.
    pub datapath: Option<MemberId>,
}

impl DveTables {
    pub(crate) fn new(record: &EngineRecord) -> Option<Self> {
        let [opcode, control, fast, slow, datapath] = record.dve.map(|number| member(number.get()));
        (record.flags & engine_flag::DVE != 0).then_some(Self {
            opcode,
            control,
            control_fast: fast,
            control_slow: slow,
            datapath,
        })
    }
}

/// One ucode library (manifests.md §11.2).
#[derive(Clone, Copy, Debug)]
pub struct Library<'m> {
    /// `library`: name of the blob, without the directory.
    pub name: &'m [u8],
    /// `ulib_to_ucode_version`, as written.
    pub version: &'m [u8],
    /// The blob.
    pub member: MemberId,
    /// `opcode`, as written.
    pub opcode: i32,
    /// `total_cpus`: 0, 1 or 8.
    pub total_cpus: u32,
    /// `add_lib`.
    pub add_lib: bool,
    tail: Tail<'m>,
    table: &'m Table,
    first: u32,
    count: u32,
}

impl<'m> Library<'m> {
    /// Base opcode whose library has flags 0 (manifests.md §11.2, Confirmed).
    pub const EXTENDED: u8 = 0x85;

    pub(crate) fn new(tail: Tail<'m>, table: &'m Table, record: &'m LibraryRecord) -> Self {
        Self {
            name: record.name.get(tail),
            version: record.version.get(tail),
            member: MemberId(record.member.get()),
            opcode: record.opcode.get(),
            total_cpus: record.total_cpus.get(),
            add_lib: record.add_lib != 0,
            tail,
            table,
            first: record.first_function.get(),
            count: record.functions.get(),
        }
    }

    /// Lowered flags: 0 for opcode 0x85 (or −123), else 6.
    #[must_use]
    pub const fn flags(&self) -> u32 {
        if self.opcode == 0x85 || self.opcode == -123 { 0 } else { 6 }
    }

    /// Its functions.
    pub fn functions(&self) -> impl Iterator<Item = Function<'m>> + use<'m> {
        let library = *self;
        (0..self.count).map_while(move |index| library.function(index))
    }

    pub(crate) fn function(&self, index: u32) -> Option<Function<'m>> {
        Function::of(self.tail, self.table, self.first.checked_add(index)?)
    }
}

/// One function of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function<'m> {
    /// `name`.
    pub name: &'m [u8],
    /// `opcode`.
    pub opcode: i32,
    /// `sub_opcode`, 0 if absent.
    pub sub_opcode: i32,
}

impl<'m> Function<'m> {
    pub(crate) fn of(tail: Tail<'m>, table: &'m Table, index: u32) -> Option<Self> {
        let record = table.get::<FunctionRecord>(tail, index)?;
        Some(Self {
            name: record.name.get(tail),
            opcode: record.opcode.get(),
            sub_opcode: record.sub_opcode.get(),
        })
    }
}
