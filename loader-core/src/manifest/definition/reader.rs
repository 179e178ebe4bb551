//! Reading `def.json`: which key goes to whom (manifests.md §6).

use super::super::build::{Build, Document, Slot, check_of, fault};
use super::super::record::{DefRecord, FunctionRecord, def_flag, engine_flag};
use super::super::verdict::{Rank, Section};
use super::queues::QueueDraft;
use super::ranks::RanksDraft;
use super::small;
use super::ucode::{Key as LibraryKey, LibraryReader, function};
use super::vars::{MEMBER, VarDraft};
use crate::arch::Engine;
use crate::error::{Error, ManifestCode};
use crate::json::{Element, Kind, Path, Want};
use crate::words::words;
use zerocopy::FromZeros;
use zerocopy::little_endian::U64;

words! {
    /// The keys that are read: those of [`TOP`], those that are taken whole, and the files of the engines, each with
    /// its fallback behind it.
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
        Pe = b"pe",
        PeInstr = b"pe_instr",
        Act = b"act",
        ActInstr = b"act_instr",
        Pool = b"pool",
        PoolInstr = b"pool_instr",
        Dve = b"dve",
        DveInstr = b"dve_instr",
        Sp = b"sp",
        SpInstr = b"sp_instr",
    }
}

/// A key at the top: of which kind its value must be, what to do with it, the flag that it sets, the section where
/// another kind is refused (none: it is passed over), and what stands in it at depths 2, 3 and 4.
struct Top {
    kind: Kind,
    want: Want,
    flag: u32,
    section: Option<Section>,
    inner: [Inner; 3],
}

/// What a value within a container at the top is.
#[derive(Clone, Copy)]
enum Inner {
    /// Of no interest.
    Other,
    /// Taken whole.
    Taken,
    /// An entry of `var` or `dma_queue`.
    Entry,
    /// The value of a key of an entry.
    Field,
    /// An array of ranks, or a rank.
    Ranks,
    /// A library, or something within one.
    Library,
    /// The value of a key of `ext_isa_ucode_lib_def`.
    ExtIsa,
    /// The value of a key of `cc_streams`.
    Streams,
}

/// What stands in `var` and `dma_queue`.
const ENTRIES: [Inner; 3] = [Inner::Entry, Inner::Field, Inner::Taken];
/// What stands in an array of which each item is taken whole.
const ITEMS: [Inner; 3] = [Inner::Taken, Inner::Other, Inner::Other];

const fn row(kind: Kind, want: Want, flag: u32, section: Option<Section>, inner: [Inner; 3]) -> Top {
    Top { kind, want, flag, section, inner }
}

/// What the containers among the [`Key`]s are, in their order, apart from what [`DefReader::top`] says of four of them.
const TOP: &[Top] = &[
    row(Kind::Object, Want::EnterTable, def_flag::VAR, None, ENTRIES),
    row(Kind::Object, Want::EnterTable, 0, None, ENTRIES),
    row(Kind::Array, Want::Enter, def_flag::REPLICA_GROUPS, None, [Inner::Ranks; 3]),
    row(Kind::Array, Want::Enter, def_flag::PAIRS, None, [Inner::Ranks; 3]),
    row(Kind::Array, Want::Enter, def_flag::CARVEOUTS, None, ITEMS),
    row(Kind::Array, Want::Skip, def_flag::DMA, Some(Section::Dma), [Inner::Other; 3]),
    row(Kind::Array, Want::Enter, 0, Some(Section::Ucode), [Inner::Library; 3]),
    row(
        Kind::Object,
        Want::Enter,
        def_flag::EXT_ISA,
        Some(Section::Ucode),
        [Inner::ExtIsa, Inner::Taken, Inner::Other],
    ),
    row(Kind::Array, Want::Enter, 0, None, ITEMS),
    row(Kind::Object, Want::Enter, 0, Some(Section::Streams), [Inner::Streams, Inner::Other, Inner::Other]),
];

/// State while the document streams by.
#[derive(Debug)]
pub(crate) struct DefReader {
    pub(crate) def: DefRecord,
    pub(super) graph: u16,
    /// The key at the top whose value is being read.
    top: Key,
    seen: u32,
    pub(super) vars: u32,
    pub(super) queues: u32,
    /// Where the entry that is being read begins.
    offset: u64,
    var: VarDraft,
    queue: QueueDraft,
    ranks: RanksDraft,
    libraries: LibraryReader,
    /// `num_streams` at the top, else in `cc_streams`.
    pub(super) streams: Slot<u64>,
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
            offset: 0,
            var: VarDraft::NEW,
            queue: QueueDraft::NEW,
            ranks: RanksDraft::new(false),
            libraries: LibraryReader::new(graph, 2),
            streams: Slot::Absent,
        }
    }

    pub(super) fn flag(&mut self, flag: u32) {
        self.def.flags.set(self.def.flags.get() | flag);
    }

    /// Notes a top-level key; false if it was met before (the first counts, §3). Unknown ones count as one key.
    fn first(&mut self, key: Key) -> bool {
        let bit = 1u32.wrapping_shl(u32::try_from(key.place()).unwrap_or(0));
        let first = self.seen & bit == 0;
        self.seen |= bit;
        first
    }

    #[inline(always)]
    pub(super) fn rank(&self, section: Section) -> Rank {
        Rank::new(self.graph, section)
    }

    /// The value of the present key at the top is of the wrong type.
    fn malformed(&self, build: &mut Build<'_, '_>, rank: Rank) -> Want {
        build.offer(rank, fault(ManifestCode::DefinitionMalformed).name(self.top.word()));
        Want::Skip
    }

    /// A top-level value begins.
    fn top(&mut self, build: &mut Build<'_, '_>, key: &[u8], kind: Kind) -> Result<Want, Error> {
        let word = Key::of(key);
        if !self.first(word) {
            return Ok(Want::Skip);
        }
        self.top = word;
        match word {
            Key::ReplicaGroups | Key::SrcTargetPairs => return self.ranks_value(build, 0, kind),
            Key::UcodeLib if kind == Kind::String => return Ok(Want::Take),
            Key::Other => return Ok(Want::Skip),
            Key::DmaQueue if kind != Kind::Object => {
                let error = fault(ManifestCode::QueueTable).name(b"(the table)").name2(b"value");
                build.offer(self.rank(Section::Queues), error);
            }
            Key::RuntimeStatebufferReservation if kind != Kind::Array => {
                self.flag(def_flag::CARVEOUTS_WRONG);
            }
            _ => {}
        }
        let Some(Top { kind: due, want, flag, section, .. }) = TOP.get(word.place()) else {
            return Ok(Want::Take);
        };
        match section {
            _ if *due == kind => {
                self.flag(*flag);
                Ok(*want)
            }
            Some(section) => Ok(self.malformed(build, self.rank(*section))),
            None => Ok(Want::Skip),
        }
    }

    fn ranks_value(&mut self, build: &mut Build<'_, '_>, level: usize, kind: Kind) -> Result<Want, Error> {
        let pairs = self.top == Key::SrcTargetPairs;
        if level == 0 {
            self.ranks = RanksDraft::new(pairs);
            self.flag(if pairs { def_flag::PAIRS } else { def_flag::REPLICA_GROUPS });
            if kind != Kind::Array {
                self.end_ranks(build, true);
                return Ok(Want::Skip);
            }
        }
        self.ranks.value(build, level, kind)
    }

    fn end_ranks(&mut self, build: &mut Build<'_, '_>, bad: bool) {
        let pairs = self.top == Key::SrcTargetPairs;
        *(if pairs { &mut self.def.pairs } else { &mut self.def.groups }) = self.ranks.table;
        if bad || self.ranks.bad {
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
        let row = TOP.get(self.top.place()).and_then(|top| top.inner.get(depth.saturating_sub(2)));
        let taken = match row {
            Some(Inner::Taken) => true,
            Some(Inner::Entry) => {
                self.offset = offset;
                self.var.begin();
                self.queue.begin();
                if kind != Kind::Object {
                    self.end_entry(build, path)?;
                }
                return Ok(Want::Enter);
            }
            Some(Inner::Field) => {
                let key = path.key(2);
                return Ok(match self.top {
                    Key::Var => self.var.value(&self.def, key, kind),
                    _ => self.queue.value(&self.def, key, kind),
                });
            }
            Some(Inner::Ranks) => return self.ranks_value(build, depth.saturating_sub(1), kind),
            Some(Inner::Library) => {
                return Ok(self.libraries.value(build, &self.def.functions, path, kind));
            }
            Some(Inner::ExtIsa) => match LibraryKey::of(path.key(1)) {
                LibraryKey::Functions => return Ok(Want::Enter),
                key => key == LibraryKey::AddLib,
            },
            Some(Inner::Streams) => Key::of(path.key(1)) == Key::NumStreams,
            Some(Inner::Other) | None => false,
        };
        Ok(if taken { Want::Take } else { Want::Skip })
    }

    /// An entry of `var` or `dma_queue` is complete.
    fn end_entry(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>) -> Result<(), Error> {
        let (def, name) = (&mut self.def, path.key(1));
        let (failed, section, count) = match self.top {
            Key::Var => (self.var.end(build, def, name)?, Section::Variables, &mut self.vars),
            _ => (self.queue.end(build, def, name)?, Section::Queues, &mut self.queues),
        };
        if let Some(error) = failed {
            let (rank, check) = (Rank::new(self.graph, section), check_of(&error));
            // What names something else keeps that name; that of a member may be empty.
            let named = check == MEMBER || !error.at().name.as_bytes().is_empty();
            let error = if named { error } else { error.name(name) };
            build.offer_item(rank, *count, check, error.offset(self.offset));
        }
        *count = count.saturating_add(1);
        Ok(())
    }

    /// A whole top-level value.
    fn top_taken(&mut self, build: &mut Build<'_, '_>, value: Element<'_>) -> Result<(), Error> {
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
                    self.malformed(build, self.rank(Section::Pairs));
                }
            },
            Key::NumStreams => {
                self.streams = Slot::Absent;
                self.streams.set(value.as_u64());
            }
            Key::UcodeLib => {
                build.keep_string(value, &mut self.def.ucode_manifest)?;
            }
            Key::Fp8ConversionConfig => {
                if let Err(error) = small::fp8(&mut self.def, value) {
                    build.offer(self.rank(Section::Fp8), error);
                }
            }
            _ => self.engine_taken(build, value)?,
        }
        Ok(())
    }

    fn engine_taken(&mut self, build: &mut Build<'_, '_>, value: Element<'_>) -> Result<(), Error> {
        let place = self.top.place().saturating_sub(Key::Pe.place());
        let (Some(engine), instr) = (Engine::ALL.get(place / 2), !place.is_multiple_of(2)) else {
            return Ok(());
        };
        let Some(record) = self.def.engines.get_mut(place / 2) else { return Ok(()) };
        let text = build.keep_string(value, if instr { &mut record.fallback } else { &mut record.file })?;
        if text && !instr {
            record.flags |= engine_flag::NAMED;
        } else if !text && !instr {
            self.malformed(build, self.rank(Section::of(*engine)));
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
            (Key::ReplicaGroups | Key::SrcTargetPairs, _) => self.ranks.rank(build, value),
            (Key::UcodeLib, _) => self.libraries.taken(build, &mut self.def.functions, value),
            (Key::ExtIsaUcodeLibDef, 2) => {
                if value.as_flag() == Some(true) {
                    self.flag(def_flag::EXT_ISA_ADD);
                }
                Ok(())
            }
            (Key::ExtIsaUcodeLibDef, _) => self.ext_isa(build, value),
            (Key::CcStreams, _) => {
                self.streams.set(value.as_u64());
                Ok(())
            }
            (Key::NeffFeatures, _) => build.push_string(&mut self.def.features, value).map(drop),
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
            build.offer_item(self.rank(Section::Carveouts).step(1), ordinal, 0, error);
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
            1 => self.top_taken(build, value),
            _ => self.inner_taken(build, path, value),
        }
    }

    fn leave(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, values: u32) -> Result<(), Error> {
        match (self.top, path.depth()) {
            (Key::Var | Key::DmaQueue, 2) => self.end_entry(build, path),
            (Key::ReplicaGroups | Key::SrcTargetPairs, depth) => {
                self.ranks.leave(build, depth.saturating_sub(1), values)?;
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
