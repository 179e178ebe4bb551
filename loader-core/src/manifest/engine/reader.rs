//! Reading an engine file, or the `dma` array of a definition (manifests.md §13.2).

use super::super::block::BlockSource;
use super::super::block::index::{Indexer, Indexing};
use super::super::block::walk::{BlockUse, BlockWalk};
use super::super::build::{Build, Document, beyond, broken, fault};
use super::super::fields::{Fields, Read, Type, fields};
use super::super::record::{ActSetRecord, DefRecord, EngineRecord, NONE, Text, engine_flag};
use super::super::verdict::Rank;
use super::act_info::SETS_MAX;
use crate::arch::{Arch, Engine};
use crate::error::{Error, ManifestCode};
use crate::json::{Element, Kind, Path, Want};
use crate::layout::SMALL;
use zerocopy::little_endian::U32;

/// Functions of an activation profile at most: the slots of the lowered record.
const PROFILE_MAX: u32 = 25;

fields! {
    /// Keys of an engine file at the top.
    Key for EngineRecord {
        Dma = b"dma": Type::Own,
        Instr = b"instr": Type::Text => instr,
        ActInfo = b"act_info": Type::Text => act_info,
        ActSemaphore = b"act_semaphore": Type::U32 => act_semaphore,
        ActivationFunctionSets = b"activation_function_sets": Type::Own,
        ProfileMetaData = b"profile_meta_data": Type::Own,
        DveTables = b"dve_tables": Type::Own,
    }
}

/// The five keys of `dve_tables`, in the order of [`EngineRecord::dve`].
const TABLES: [&str; 5] =
    ["opcode_table", "control_table", "control_fast_table", "control_slow_table", "datapath_table"];

/// State while the document streams by.
#[derive(Debug)]
pub(crate) struct EngineReader {
    source: BlockSource,
    dir: Text,
    record: EngineRecord,
    indexer: Indexer,
    walk: BlockWalk,
    /// The key at the top whose value is being read.
    top: Key,
    said: Fields<Key>,
}

impl EngineReader {
    /// A reader for a source of a definition.
    #[inline(never)]
    pub(crate) fn new(graph: u16, source: BlockSource, record: &DefRecord) -> Self {
        let [first, ..] = record.engines;
        Self {
            source,
            dir: record.dir(),
            record: record.engines.get(source.slot()).copied().unwrap_or(first),
            indexer: Indexer::new(graph, source, Arch::from_number(record.arch.get())),
            walk: BlockWalk::new(),
            top: Key::NONE_YET,
            said: Fields::NONE,
        }
    }

    fn is(&self, engine: Engine) -> bool {
        self.source == BlockSource::Engine(engine)
    }

    /// The step after the blocks: activation and DVE tables.
    fn tables(&self) -> Rank {
        self.indexer.rank().step(2)
    }

    fn malformed(&self, build: &mut Build<'_, '_>, rank: Rank, key: &[u8]) -> Want {
        build.offer(rank, fault(ManifestCode::EngineMalformed).name(key));
        Want::Skip
    }

    fn top(&mut self, build: &mut Build<'_, '_>, key: &[u8], kind: Kind) -> Want {
        self.top = Key::of(key);
        if !self.said.is_absent(self.top) {
            return Want::Skip;
        }
        let engine = self.source != BlockSource::Definition;
        match self.top {
            Key::Instr => return if engine { Want::Take } else { Want::Skip },
            Key::ActInfo | Key::ActSemaphore => {
                return if self.is(Engine::Act) { Want::Take } else { Want::Skip };
            }
            Key::Other => return Want::Skip,
            _ => self.said.put(self.top, Read::Got(0)),
        }
        match self.top {
            Key::Dma if kind == Kind::Array => Want::Enter,
            Key::Dma => self.malformed(build, self.indexer.rank(), key),
            Key::ActivationFunctionSets if self.is(Engine::Act) => {
                self.record.flags |= engine_flag::ACT_SETS;
                if kind == Kind::Array { Want::Enter } else { self.malformed(build, self.tables(), key) }
            }
            Key::ProfileMetaData if self.is(Engine::Act) => match kind {
                Kind::Array => Want::Enter,
                _ => self.malformed(build, self.tables(), key),
            },
            Key::DveTables if self.is(Engine::Dve) => {
                self.record.flags |= engine_flag::DVE;
                match kind {
                    Kind::Array => Want::Enter,
                    Kind::Object => Want::Take,
                    _ => self.malformed(build, self.tables(), key),
                }
            }
            _ => Want::Skip,
        }
    }

    fn act_set(&mut self, build: &mut Build<'_, '_>, value: Element<'_>) -> Result<(), Error> {
        let none = U32::new(NONE);
        let mut record = ActSetRecord { name: Text::EMPTY, bkt: none, ctrl: none, profile: none };
        if !build.keep_string(value, &mut record.name)? {
            self.malformed(build, self.tables(), b"activation_function_sets");
            return Ok(());
        }
        if self.record.act_sets.len() >= SETS_MAX {
            return Err(beyond(b"activation sets", SETS_MAX));
        }
        build.push(&mut self.record.act_sets, &record)
    }

    /// The object with table names.
    fn dve_tables(&mut self, build: &mut Build<'_, '_>, value: Element<'_>) -> Result<(), Error> {
        let rank = self.tables();
        for (at, key) in (0u32..).zip(TABLES) {
            let Some(value) = value.get(key) else { continue };
            let mut name = Text::EMPTY;
            if !build.keep_string(value, &mut name)? {
                self.malformed(build, rank.item(at, 0), key.as_bytes());
                continue;
            }
            let member = build.find_number(self.dir, name);
            if member == NONE {
                let error = build.missing(ManifestCode::EngineTable, self.dir, name).name2(b"dve");
                build.offer(rank.item(at, 0), error);
            }
            if let Some(slot) = usize::try_from(at).ok().and_then(|at| self.record.dve.get_mut(at)) {
                slot.set(member);
            }
        }
        Ok(())
    }
}

impl Document for EngineReader {
    fn value(
        &mut self,
        build: &mut Build<'_, '_>,
        path: &Path<'_>,
        kind: Kind,
        offset: u64,
    ) -> Result<Want, Error> {
        if path.depth() > 1 && self.top == Key::Dma {
            let mut used = Indexing { indexer: &mut self.indexer, build };
            if SMALL {
                return self.walk.value::<dyn BlockUse>(&mut used, path, kind, offset);
            }
            return self.walk.value(&mut used, path, kind, offset);
        }
        Ok(match (path.depth(), self.top) {
            (1, _) => self.top(build, path.key(0), kind),
            (2, Key::ActivationFunctionSets) => Want::Take,
            (2, Key::DveTables) if path.index(1) == Some(0) && kind == Kind::Object => Want::Take,
            // Tables beside the first would be dropped (manifests.md §13.2: an array of one object).
            (2, Key::DveTables) => self.malformed(build, self.tables(), b"dve_tables"),
            _ => Want::Skip,
        })
    }

    fn taken(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, value: Element<'_>) -> Result<(), Error> {
        if self.top == Key::Dma {
            let mut used = Indexing { indexer: &mut self.indexer, build };
            if SMALL {
                return self.walk.taken::<dyn BlockUse>(&mut used, path, value);
            }
            return self.walk.taken(&mut used, path, value);
        }
        match self.top {
            Key::ActivationFunctionSets => self.act_set(build, value),
            Key::DveTables => self.dve_tables(build, value),
            key => self.said.take(build, key, value),
        }
    }

    fn leave(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, values: u32) -> Result<(), Error> {
        match (self.top, path.depth()) {
            (Key::Dma, 2..) => {
                let mut used = Indexing { indexer: &mut self.indexer, build };
                if SMALL {
                    return self.walk.leave::<dyn BlockUse>(&mut used, path);
                }
                return self.walk.leave(&mut used, path);
            }
            (Key::ProfileMetaData, 1) => {
                if values > PROFILE_MAX {
                    self.malformed(build, self.tables(), b"profile_meta_data");
                }
                self.record.profile_functions = u8::try_from(values).unwrap_or(u8::MAX);
            }
            _ => {}
        }
        Ok(())
    }

    /// Puts the record back into its definition.
    fn finish(&mut self, build: &mut Build<'_, '_>) -> Result<(), Error> {
        if self.said.is_wrong(Key::ActSemaphore) {
            self.malformed(build, self.tables(), b"act_semaphore");
        }
        if self.said.has(Key::ActSemaphore) {
            self.record.flags |= engine_flag::ACT_SEMAPHORE;
        }
        self.said.place(&mut self.record);
        if !self.said.has(Key::Instr) {
            self.record.instr = self.record.fallback;
        } else if self.record.instr.len.get() == 0 {
            let error = build.missing(ManifestCode::BlobMissing, self.dir, Text::EMPTY);
            build.offer(self.tables().step(3), error);
        }
        self.record.blocks = self.indexer.blocks;
        self.record.transfers = U32::new(self.indexer.transfers);
        let def = build.def_mut(self.indexer.graph.into());
        let slot = def.and_then(|def| def.engines.get_mut(self.source.slot()));
        *slot.ok_or_else(|| broken("a definition's record"))? = self.record;
        Ok(())
    }
}
