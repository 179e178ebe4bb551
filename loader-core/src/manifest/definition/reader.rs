//! Reading `def.json`: which key goes to whom (manifests.md §6).

use super::super::build::{Build, Document, Slot, fault};
use super::super::record::{DefRecord, FunctionRecord, Text, def_flag, engine_flag};
use super::super::verdict::{Rank, Section};
use super::queues::QueueDraft;
use super::ranks::RanksDraft;
use super::small;
use super::ucode::{LibraryReader, function};
use super::vars::VarDraft;
use crate::arch::Engine;
use crate::error::{Error, ManifestCode};
use crate::json::{Element, Kind, Path, Want};
use crate::words::words;
use zerocopy::FromZeros;
use zerocopy::little_endian::U64;

words! {
    /// The keys that are read; engines come beside them.
    Key {
        Var = b"var",
        DmaQueue = b"dma_queue",
        ReplicaGroups = b"replica_groups",
        SrcTargetPairs = b"src_target_pairs",
        RuntimeStatebufferReservation = b"runtime_statebuffer_reservation",
        Dma = b"dma",
        UcodeLib = b"ucode_lib",
        ExtIsaUcodeLibDef = b"ext_isa_ucode_lib_def",
        NeffFeatures = b"neff_features",
        CcStreams = b"cc_streams",
        Version = b"version",
        RankWorldSize = b"#rank_world_size",
        NumStreams = b"num_streams",
        Fp8ConversionConfig = b"fp8_conversion_config",
    }
}

/// A key at the top: of which kind its value must be, what to do with it, the flag that it sets, and the section
/// where another kind is refused (none: it is passed over).
struct Top {
    kind: Option<Kind>,
    want: Want,
    flag: u32,
    section: Option<Section>,
}

const fn row(kind: Option<Kind>, want: Want, flag: u32, section: Option<Section>) -> Top {
    Top { kind, want, flag, section }
}

/// What every [`Key`] is, in their order, apart from what [`DefReader::top`] says of four of them.
const TOP: &[Top] = &[
    row(Some(Kind::Object), Want::EnterTable, def_flag::VAR, None),
    row(Some(Kind::Object), Want::EnterTable, 0, None),
    row(Some(Kind::Array), Want::Enter, def_flag::REPLICA_GROUPS, None),
    row(Some(Kind::Array), Want::Enter, def_flag::PAIRS, None),
    row(Some(Kind::Array), Want::Enter, def_flag::CARVEOUTS, None),
    row(Some(Kind::Array), Want::Skip, def_flag::DMA, Some(Section::Dma)),
    row(Some(Kind::Array), Want::Enter, 0, Some(Section::Ucode)),
    row(Some(Kind::Object), Want::Enter, def_flag::EXT_ISA, Some(Section::Ucode)),
    row(Some(Kind::Array), Want::Enter, 0, None),
    row(Some(Kind::Object), Want::Enter, 0, Some(Section::Streams)),
    row(None, Want::Take, 0, None),
    row(None, Want::Take, 0, None),
    row(None, Want::Take, 0, None),
    row(None, Want::Take, 0, None),
];

/// State while the document streams by.
#[derive(Debug)]
pub(crate) struct DefReader {
    pub(crate) def: DefRecord,
    pub(super) graph: u16,
    /// The key at the top whose value is being read.
    top: Key,
    seen: u64,
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
            top: Key::NONE_YET,
            seen: 0,
            vars: 0,
            queues: 0,
            var: VarDraft::NEW,
            queue: QueueDraft::NEW,
            ranks: RanksDraft::default(),
            libraries: LibraryReader::new(graph, 2),
            streams: [Slot::Absent; 2],
        }
    }

    pub(super) fn flag(&mut self, flag: u32) {
        self.def.flags.set(self.def.flags.get() | flag);
    }

    /// Notes a top-level key; false if it was met before (the first counts, §3). Unknown ones count as one key.
    fn first(&mut self, key: &[u8]) -> bool {
        let place = match engine_key(key) {
            Some((engine, instr)) => {
                let first = if instr { 21 } else { 20 };
                engine.number().wrapping_mul(2).wrapping_add(first)
            }
            None => u32::try_from(Key::of(key).place()).unwrap_or(0),
        };
        let bit = 1u64.wrapping_shl(place);
        let first = self.seen & bit == 0;
        self.seen |= bit;
        first
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
        let word = Key::of(key);
        self.top = word;
        match word {
            Key::ReplicaGroups | Key::SrcTargetPairs => return self.ranks_value(build, 0, kind),
            Key::UcodeLib if kind == Kind::String => return Ok(Want::Take),
            Key::Other if engine_key(key).is_some() => return Ok(Want::Take),
            Key::DmaQueue if kind != Kind::Object => {
                let error = fault(ManifestCode::QueueTable).name(b"(the table)").name2(b"value");
                build.offer(self.rank(Section::Queues), error);
            }
            Key::RuntimeStatebufferReservation if kind != Kind::Array => {
                self.flag(def_flag::CARVEOUTS_WRONG);
            }
            _ => {}
        }
        let Some(Top { kind: due, want, flag, section }) = TOP.get(word.place()) else {
            return Ok(Want::Skip);
        };
        match section {
            _ if due.is_none_or(|due| due == kind) => {
                self.flag(*flag);
                Ok(*want)
            }
            Some(section) => Ok(self.malformed(build, *section, key)),
            None => Ok(Want::Skip),
        }
    }

    fn ranks_value(&mut self, build: &mut Build<'_, '_>, level: usize, kind: Kind) -> Result<Want, Error> {
        let pairs = self.top == Key::SrcTargetPairs;
        if level == 0 {
            self.ranks.begin(pairs);
            self.flag(if pairs { def_flag::PAIRS } else { def_flag::REPLICA_GROUPS });
            if kind != Kind::Array {
                self.end_ranks(build, true);
                return Ok(Want::Skip);
            }
        }
        let table = if pairs { &mut self.def.pairs } else { &mut self.def.groups };
        self.ranks.value(build, table, level, kind)
    }

    fn end_ranks(&mut self, build: &mut Build<'_, '_>, bad: bool) {
        if bad || self.ranks.bad {
            let pairs = self.top == Key::SrcTargetPairs;
            let section = if pairs { Section::Pairs } else { Section::ReplicaGroups };
            build.offer(self.rank(section), fault(ManifestCode::Collectives).name(self.top.word()));
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
        Ok(match (self.top, depth) {
            (Key::Var, 2) => {
                self.var.begin(offset);
                if kind != Kind::Object {
                    self.end_var(build, path)?;
                }
                Want::Enter
            }
            (Key::Var, 3) => self.var.value(&self.def, path.key(2), kind),
            (Key::Var, 4) => Want::Take,
            (Key::DmaQueue, 2) => {
                self.queue.begin(offset);
                if kind != Kind::Object {
                    self.end_queue(build, path)?;
                }
                Want::Enter
            }
            (Key::DmaQueue, 3) => self.queue.value(&self.def, path.key(2), kind),
            (Key::DmaQueue, 4) => Want::Take,
            (Key::ReplicaGroups | Key::SrcTargetPairs, _) => {
                return self.ranks_value(build, depth.saturating_sub(1), kind);
            }
            (Key::UcodeLib, _) => self.libraries.value(build, &self.def.functions, path, kind),
            (Key::ExtIsaUcodeLibDef, 2) if path.key(1) == b"functions" => Want::Enter,
            (Key::ExtIsaUcodeLibDef, 2) if path.key(1) == b"add_lib" => Want::Take,
            (Key::ExtIsaUcodeLibDef, 3) => Want::Take,
            (Key::RuntimeStatebufferReservation | Key::NeffFeatures, 2) => Want::Take,
            (Key::CcStreams, 2) if path.key(1) == b"num_streams" => Want::Take,
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
        match self.top {
            Key::Version => {
                build.keep_string(value, &mut self.def.version)?;
            }
            Key::RankWorldSize => match value.as_u64() {
                Some(size) => {
                    self.flag(def_flag::WORLD_SIZE);
                    self.def.world_size = U64::new(size);
                }
                None => {
                    self.malformed(build, Section::Pairs, key);
                }
            },
            Key::NumStreams => self.streams(0, value),
            Key::UcodeLib => {
                build.keep_string(value, &mut self.def.ucode_manifest)?;
            }
            Key::Fp8ConversionConfig => {
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
            slot.set(value.as_u64());
        }
    }

    fn engine_taken(
        &mut self,
        build: &mut Build<'_, '_>,
        key: &[u8],
        value: Element<'_>,
    ) -> Result<(), Error> {
        let Some((engine, instr)) = engine_key(key) else { return Ok(()) };
        let Some(record) = self.def.engines.get_mut(engine.index()) else { return Ok(()) };
        let text = build.keep_string(value, if instr { &mut record.fallback } else { &mut record.file })?;
        if text && !instr {
            record.flags |= engine_flag::NAMED;
        } else if !text && !instr {
            self.malformed(build, Section::Engine(engine), key);
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
        match (self.top, path.depth()) {
            (Key::Var, 3) => self.var.taken(build, value),
            (Key::Var, _) => self.var.list_item(build, &mut self.def, value),
            (Key::DmaQueue, 3) => self.queue.taken(build, value),
            (Key::DmaQueue, _) => self.queue.instance(build, &mut self.def, value),
            (Key::ReplicaGroups, _) => self.ranks.rank(build, &mut self.def.groups, value),
            (Key::SrcTargetPairs, _) => self.ranks.rank(build, &mut self.def.pairs, value),
            (Key::UcodeLib, _) => self.libraries.taken(build, &mut self.def.functions, value),
            (Key::ExtIsaUcodeLibDef, 2) => {
                if value.as_flag() == Some(true) {
                    self.flag(def_flag::EXT_ISA_ADD);
                }
                Ok(())
            }
            (Key::ExtIsaUcodeLibDef, _) => self.ext_isa(build, value),
            (Key::CcStreams, _) => {
                self.streams(1, value);
                Ok(())
            }
            (Key::NeffFeatures, _) => {
                let mut name = Text::EMPTY;
                if build.keep_string(value, &mut name)? {
                    build.push(&mut self.def.features, &name)?;
                }
                Ok(())
            }
            (_, _) => self.carveout(build, path, value),
        }
    }

    fn ext_isa(&mut self, build: &mut Build<'_, '_>, value: Element<'_>) -> Result<(), Error> {
        let mut record = FunctionRecord::new_zeroed();
        if function(build, value, &mut record)? {
            return build.push(&mut self.def.ext_isa, &record);
        }
        build.offer(self.rank(Section::DefaultLibrary), fault(ManifestCode::UcodeFunction));
        Ok(())
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
        match (self.top, path.depth()) {
            (Key::Var, 2) => self.end_var(build, path),
            (Key::DmaQueue, 2) => self.end_queue(build, path),
            (key @ (Key::ReplicaGroups | Key::SrcTargetPairs), depth) => {
                let pairs = key == Key::SrcTargetPairs;
                let table = if pairs { &self.def.pairs } else { &self.def.groups };
                self.ranks.leave(build, table, depth.saturating_sub(1), values)?;
                if depth == 1 {
                    self.end_ranks(build, false);
                }
                Ok(())
            }
            (Key::UcodeLib, 2..) => self.libraries.leave(build, &mut self.def, path),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, build: &mut Build<'_, '_>) -> Result<(), Error> {
        super::finish::finish(self, build)
    }
}
