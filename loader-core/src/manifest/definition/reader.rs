//! Reading `def.json`: which key goes to whom (manifests.md §6).

use super::super::build::{Build, Document, Slot, fault, full};
use super::super::record::{DefRecord, Text, def_flag};
use super::super::verdict::{Rank, Section};
use super::queues::QueueDraft;
use super::ranks::RanksDraft;
use super::small;
use super::ucode::{LibraryReader, function};
use super::vars::VarDraft;
use crate::arch::Engine;
use crate::error::{Error, ManifestCode};
use crate::json::{Element, Kind, Path, Want};
use zerocopy::little_endian::U64;

/// The keys that are read, in no particular order; engines come beside them.
const KEYS: [&[u8]; 15] = [
    b"version",
    b"var",
    b"dma_queue",
    b"replica_groups",
    b"src_target_pairs",
    b"#rank_world_size",
    b"num_streams",
    b"cc_streams",
    b"runtime_statebuffer_reservation",
    b"ucode_lib",
    b"ext_isa_ucode_lib_def",
    b"fp8_conversion_config",
    b"dma",
    b"neff_features",
    b"name",
];

/// State while the document streams by.
#[derive(Debug)]
pub(crate) struct DefReader {
    pub(crate) def: DefRecord,
    pub(super) graph: u16,
    seen: u64,
    pub(super) has_var: bool,
    pub(super) vars: u32,
    pub(super) queues: u32,
    var: VarDraft,
    queue: QueueDraft,
    ranks: RanksDraft,
    libraries: LibraryReader,
    /// `num_streams` at the top, and in `cc_streams`.
    pub(super) streams: [Slot<u64>; 2],
}

/// The engine and field of `pe`, `pe_instr`, …
fn engine_key(key: &[u8]) -> Option<(Engine, bool)> {
    let (stem, instr) = match key.strip_suffix(b"_instr") {
        Some(stem) => (stem, true),
        None => (key, false),
    };
    Engine::from_key(stem).map(|engine| (engine, instr))
}

impl DefReader {
    /// Not inlined: the record is large, and is copied once this way.
    #[inline(never)]
    pub(crate) fn new(graph: u16, def: &DefRecord) -> Self {
        Self {
            def: *def,
            graph,
            seen: 0,
            has_var: false,
            vars: 0,
            queues: 0,
            var: VarDraft::default(),
            queue: QueueDraft::default(),
            ranks: RanksDraft::default(),
            libraries: LibraryReader::new(graph, 2),
            streams: [Slot::Absent; 2],
        }
    }

    pub(super) fn flag(&mut self, flag: u32) {
        self.def.flags.set(self.def.flags.get() | flag);
    }

    /// Notes a top-level key; false if it is unknown or was met before (the first counts, §3).
    fn first(&mut self, key: &[u8]) -> bool {
        let place = match engine_key(key) {
            Some((engine, instr)) => {
                let first = if instr { 21 } else { 20 };
                engine.index().checked_mul(2).and_then(|n| n.checked_add(first))
            }
            None => KEYS.iter().position(|known| *known == key),
        };
        let bit = place.and_then(|place| 1u64.checked_shl(u32::try_from(place).ok()?));
        match bit {
            Some(bit) if self.seen & bit == 0 => {
                self.seen |= bit;
                true
            }
            _ => false,
        }
    }

    pub(super) fn rank(&self, section: Section) -> Rank {
        Rank::new(self.graph, section)
    }

    fn malformed(&self, build: &mut Build<'_, '_>, section: Section, key: &[u8]) -> Want {
        build.offer(self.rank(section), fault(ManifestCode::DefinitionMalformed).name(key));
        Want::Skip
    }

    /// A top-level value begins.
    fn top(&mut self, build: &mut Build<'_, '_>, key: &[u8], kind: Kind) -> Result<Want, Error> {
        if !self.first(key) {
            return Ok(Want::Skip);
        }
        Ok(match (key, kind) {
            (b"var", Kind::Object) => {
                self.has_var = true;
                Want::EnterTable
            }
            (b"dma_queue", Kind::Object) => Want::EnterTable,
            (b"dma_queue", _) => {
                let error = fault(ManifestCode::QueueTable).name(b"(the table)").name2(b"value");
                build.offer(self.rank(Section::Queues), error);
                Want::Skip
            }
            (b"replica_groups" | b"src_target_pairs", _) => return self.ranks_value(build, key, 0, kind),
            (b"runtime_statebuffer_reservation", Kind::Array) => {
                self.flag(def_flag::CARVEOUTS);
                Want::Enter
            }
            (b"dma", Kind::Array) => {
                self.flag(def_flag::DMA);
                Want::Skip
            }
            (b"dma", _) => self.malformed(build, Section::Dma, key),
            (b"ucode_lib", Kind::String) => Want::Take,
            (b"ucode_lib", Kind::Array) => Want::Enter,
            (b"ucode_lib", _) => self.malformed(build, Section::Ucode, key),
            (b"ext_isa_ucode_lib_def", Kind::Object) => {
                self.flag(def_flag::EXT_ISA);
                Want::Enter
            }
            (b"ext_isa_ucode_lib_def", _) => self.malformed(build, Section::Ucode, key),
            (b"neff_features", Kind::Array) => Want::Enter,
            (b"cc_streams", Kind::Object) => Want::Enter,
            (b"version" | b"#rank_world_size" | b"num_streams" | b"fp8_conversion_config", _) => Want::Take,
            _ if engine_key(key).is_some() => Want::Take,
            _ => Want::Skip,
        })
    }

    fn ranks_value(
        &mut self,
        build: &mut Build<'_, '_>,
        key: &[u8],
        level: usize,
        kind: Kind,
    ) -> Result<Want, Error> {
        let pairs = key == b"src_target_pairs";
        if level == 0 {
            self.ranks.begin(pairs);
            self.flag(if pairs { def_flag::PAIRS } else { def_flag::REPLICA_GROUPS });
            if kind != Kind::Array {
                self.end_ranks(build, key, true);
                return Ok(Want::Skip);
            }
        }
        let table = if pairs { &mut self.def.pairs } else { &mut self.def.groups };
        self.ranks.value(build, table, level, kind)
    }

    fn end_ranks(&mut self, build: &mut Build<'_, '_>, key: &[u8], bad: bool) {
        let pairs = key == b"src_target_pairs";
        if bad || self.ranks.bad {
            let section = if pairs { Section::Pairs } else { Section::ReplicaGroups };
            build.offer(self.rank(section), fault(ManifestCode::Collectives).name(key));
        }
        let depth = self.ranks.depth();
        if pairs {
            self.def.pairs_depth = depth;
        } else {
            self.def.groups_depth = depth;
        }
    }

    /// A value in a table begins: depth 2 and deeper.
    fn inner(
        &mut self,
        build: &mut Build<'_, '_>,
        path: &Path<'_>,
        kind: Kind,
        offset: u64,
    ) -> Result<Want, Error> {
        let depth = path.depth();
        Ok(match (path.key(0), depth) {
            (b"var", 2) => {
                self.var.begin(offset);
                if kind != Kind::Object {
                    self.end_var(build, path)?;
                }
                Want::Enter
            }
            (b"var", 3) => self.var.value(&self.def, path.key(2), kind),
            (b"var", 4) => Want::Take,
            (b"dma_queue", 2) => {
                self.queue.begin(offset);
                if kind != Kind::Object {
                    self.end_queue(build, path)?;
                }
                Want::Enter
            }
            (b"dma_queue", 3) => self.queue.value(&self.def, path.key(2), kind),
            (b"dma_queue", 4) => Want::Take,
            (key @ (b"replica_groups" | b"src_target_pairs"), _) => {
                return self.ranks_value(build, key, depth.saturating_sub(1), kind);
            }
            (b"ucode_lib", _) => self.libraries.value(build, &self.def.functions, path, kind),
            (b"ext_isa_ucode_lib_def", 2) if path.key(1) == b"functions" => Want::Enter,
            (b"ext_isa_ucode_lib_def", 2) if path.key(1) == b"add_lib" => Want::Take,
            (b"ext_isa_ucode_lib_def", 3) => Want::Take,
            (b"runtime_statebuffer_reservation" | b"neff_features", 2) => Want::Take,
            (b"cc_streams", 2) if path.key(1) == b"num_streams" => Want::Take,
            _ => Want::Skip,
        })
    }

    fn end_var(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>) -> Result<(), Error> {
        let ordinal = self.vars;
        self.vars = self.vars.saturating_add(1);
        self.var.end(build, &mut self.def, self.graph, ordinal, path.key(1))
    }

    fn end_queue(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>) -> Result<(), Error> {
        let ordinal = self.queues;
        self.queues = self.queues.saturating_add(1);
        self.queue.end(build, &mut self.def, self.graph, ordinal, path.key(1))
    }

    /// A whole top-level value.
    fn top_taken(&mut self, build: &mut Build<'_, '_>, key: &[u8], value: Element<'_>) -> Result<(), Error> {
        match key {
            b"version" => self.def.version = build.keep_string(value)?.unwrap_or(Text::EMPTY),
            b"#rank_world_size" => match value.u64() {
                Ok(size) => {
                    self.flag(def_flag::WORLD_SIZE);
                    self.def.world_size = U64::new(size);
                }
                Err(_) => {
                    self.malformed(build, Section::Pairs, key);
                }
            },
            b"num_streams" => self.streams(0, value),
            b"ucode_lib" => self.def.ucode_manifest = build.keep_string(value)?.unwrap_or(Text::EMPTY),
            b"fp8_conversion_config" => {
                if let Err(error) = small::fp8(&mut self.def, value) {
                    build.offer(self.rank(Section::Fp8), error);
                }
            }
            _ => self.engine_taken(build, key, value)?,
        }
        Ok(())
    }

    fn streams(&mut self, which: usize, value: Element<'_>) {
        if let Some(slot) = self.streams.get_mut(which) {
            slot.set(value.u64());
        }
    }

    fn engine_taken(
        &mut self,
        build: &mut Build<'_, '_>,
        key: &[u8],
        value: Element<'_>,
    ) -> Result<(), Error> {
        let Some((engine, instr)) = engine_key(key) else { return Ok(()) };
        let text = build.keep_string(value)?;
        let Some(record) = self.def.engines.get_mut(engine.index()) else { return Ok(()) };
        match text {
            Some(text) if instr => record.fallback = text,
            Some(text) => {
                record.file = text;
                record.flags |= super::super::record::engine_flag::NAMED;
            }
            None if instr => {}
            None => {
                let section = Section::Engine(u8::try_from(engine.index()).unwrap_or(0));
                self.malformed(build, section, key);
            }
        }
        Ok(())
    }

    /// A whole value inside a table.
    fn inner_taken(
        &mut self,
        build: &mut Build<'_, '_>,
        path: &Path<'_>,
        value: Element<'_>,
    ) -> Result<(), Error> {
        match (path.key(0), path.depth()) {
            (b"var", 3) => self.var.taken(build, path.key(2), value),
            (b"var", _) => self.var.list_item(build, &mut self.def, value),
            (b"dma_queue", 3) => {
                self.queue.taken(path.key(2), value);
                Ok(())
            }
            (b"dma_queue", _) => self.queue.instance(build, &mut self.def, value),
            (b"replica_groups", depth) => {
                self.ranks.rank(build, &mut self.def.groups, depth.saturating_sub(1), value)
            }
            (b"src_target_pairs", depth) => {
                self.ranks.rank(build, &mut self.def.pairs, depth.saturating_sub(1), value)
            }
            (b"ucode_lib", _) => self.libraries.taken(build, &mut self.def.functions, path, value),
            (b"ext_isa_ucode_lib_def", 2) => {
                if value.flag() == Ok(true) {
                    self.flag(def_flag::EXT_ISA_ADD);
                }
                Ok(())
            }
            (b"ext_isa_ucode_lib_def", _) => self.ext_isa(build, value),
            (b"cc_streams", _) => {
                self.streams(1, value);
                Ok(())
            }
            (b"neff_features", _) => match build.keep_string(value)? {
                Some(name) => self.def.features.push(build.arena, name).map(drop).map_err(full),
                None => Ok(()),
            },
            (_, _) => self.carveout(build, path, value),
        }
    }

    fn ext_isa(&mut self, build: &mut Build<'_, '_>, value: Element<'_>) -> Result<(), Error> {
        match function(build, value)? {
            Some(record) => self.def.ext_isa.push(build.arena, record).map(drop).map_err(full),
            None => {
                build.offer(self.rank(Section::DefaultLibrary), fault(ManifestCode::UcodeFunction));
                Ok(())
            }
        }
    }

    fn carveout(
        &mut self,
        build: &mut Build<'_, '_>,
        path: &Path<'_>,
        value: Element<'_>,
    ) -> Result<(), Error> {
        let ordinal = path.index(1).unwrap_or(0);
        if let Err(error) = small::carveout(build, &mut self.def, value)? {
            let rank = self.rank(Section::Carveouts).step(1).item(ordinal, 0);
            build.offer(rank, error.element(ordinal));
        }
        Ok(())
    }
}

impl Document for DefReader {
    fn value(
        &mut self,
        build: &mut Build<'_, '_>,
        path: &Path<'_>,
        kind: Kind,
        offset: u64,
    ) -> Result<Want, Error> {
        match path.depth() {
            0 => Ok(Want::Enter),
            1 => self.top(build, path.key(0), kind),
            _ => self.inner(build, path, kind, offset),
        }
    }

    fn taken(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, value: Element<'_>) -> Result<(), Error> {
        match path.depth() {
            1 => self.top_taken(build, path.key(0), value),
            _ => self.inner_taken(build, path, value),
        }
    }

    fn leave(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, values: u32) -> Result<(), Error> {
        match (path.key(0), path.depth()) {
            (b"var", 2) => self.end_var(build, path),
            (b"dma_queue", 2) => self.end_queue(build, path),
            (key @ (b"replica_groups" | b"src_target_pairs"), depth) => {
                let pairs = key == b"src_target_pairs";
                let table = if pairs { &self.def.pairs } else { &self.def.groups };
                self.ranks.leave(build, table, depth.saturating_sub(1), values)?;
                if depth == 1 {
                    self.end_ranks(build, key, false);
                }
                Ok(())
            }
            (b"ucode_lib", 2..) => self.libraries.leave(build, &mut self.def, path),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, build: &mut Build<'_, '_>) -> Result<(), Error> {
        super::finish::finish(self, build)
    }
}
