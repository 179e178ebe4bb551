//! After all engine files: blobs, placeholders and activation tables (manifests.md §13.2, §13.4).

use super::super::build::{Build, broken, fault, number};
use super::super::record::{ActInfoRecord, ActSetRecord, DefRecord, EngineRecord, NONE, Text, engine_flag};
use super::super::verdict::{Rank, Section};
use crate::arch::Engine;
use crate::container::Member;
use crate::error::{Error, ManifestCode, Notes, Stage, remark};
use zerocopy::FromZeros;
use zerocopy::little_endian::{U32, U64};

/// Instruction blob bytes at most (manifests.md §13.2 row 6, Confirmed).
const BLOB_MAX: u64 = 0xFFFF_FFFF;

/// Settles the five engines of one subgraph.
#[inline(never)]
pub(crate) fn settle(build: &mut Build<'_, '_>, notes: &mut impl Notes, graph: u16) -> Result<(), Error> {
    let def = *build.def(graph.into()).ok_or_else(|| broken("a definition"))?;
    for engine in Engine::ALL {
        let mut record = *def.engines.get(engine.index()).ok_or_else(|| broken("an engine"))?;
        let section = Section::Engine(engine);
        let rank = Rank::new(graph, section);
        if build.verdict.settled_before(rank) {
            return Ok(());
        }
        build.member = (record.member.get() != NONE).then(|| super::super::build::id(record.member.get()));
        if engine == Engine::Act {
            act_sets(build, &def, &mut record, rank.step(2))?;
        }
        blob(build, notes, engine, &def, &mut record, rank.step(3));
        let slot = build.def_mut(graph.into()).and_then(|def| def.engines.get_mut(engine.index()));
        *slot.ok_or_else(|| broken("an engine"))? = record;
    }
    Ok(())
}

#[inline(never)]
fn blob(
    build: &mut Build<'_, '_>,
    notes: &mut impl Notes,
    engine: Engine,
    def: &DefRecord,
    record: &mut EngineRecord,
    rank: Rank,
) {
    let named = record.flags & engine_flag::NAMED != 0;
    if !named || record.instr.len.get() == 0 {
        record.flags |= engine_flag::PLACEHOLDER;
        record.instr = Text::EMPTY;
        let note = || Error::new(Stage::Manifest, ManifestCode::EnginePlaceholder);
        let note = || note().name(engine.key().as_bytes()).name2(build.bytes(def.name));
        remark(notes, || build.placed(note()));
        return;
    }
    match build.find(def.dir(), record.instr) {
        None => {
            let error = build.missing(ManifestCode::BlobMissing, def.dir(), record.instr);
            build.offer(rank, error);
        }
        Some(Member { size, name, .. }) if size > BLOB_MAX => {
            build.offer(rank, fault(ManifestCode::BlobSize).name(name).numbers(size, BLOB_MAX));
        }
        Some(member) => {
            record.blob = U32::new(member.id.0);
            record.blob_bytes = U64::new(member.size);
        }
    }
}

#[inline(never)]
fn act_sets(
    build: &mut Build<'_, '_>,
    def: &DefRecord,
    record: &mut EngineRecord,
    rank: Rank,
) -> Result<(), Error> {
    for at in 0..record.act_sets.len() {
        let tail = build.arena.tail();
        let set = record.act_sets.get::<ActSetRecord>(tail, at).ok_or_else(|| broken("a set"))?;
        let (infos, name) = (&def.act_infos, set.name.get(tail));
        let info = |at| infos.get::<ActInfoRecord>(tail, at).filter(|info| info.name.get(tail) == name);
        let info = (0..infos.len()).find_map(info).copied().unwrap_or_else(ActInfoRecord::new_zeroed);
        let files = Files { build, dir: def.dir(), set: name };
        let bkt = files.member(info.bkt, b"_bkt.bin");
        let ctrl = files.member(info.ctrl, b"_ctrl.bin");
        let profile = files.member(info.profile, b".json");
        if bkt == NONE || ctrl == NONE {
            let error = fault(ManifestCode::EngineTable).name(name).name2(b"act").element(at);
            build.offer(rank.item(at, 0), error);
        }
        let slot = record.act_sets.get_mut::<ActSetRecord>(build.arena, at);
        let slot = slot.ok_or_else(|| broken("a set"))?;
        (slot.bkt, slot.ctrl, slot.profile) = (bkt, ctrl, profile);
    }
    Ok(())
}

/// Where the files of one set are.
struct Files<'x, 'a, 'm> {
    build: &'x Build<'a, 'm>,
    dir: Text,
    /// The set's name.
    set: &'x [u8],
}

impl Files<'_, '_, '_> {
    /// The member that the roster names, else the one that the set's own name and `ending` make.
    #[inline(never)]
    fn member(&self, named: Text, ending: &[u8]) -> U32 {
        if named.len.get() > 0 {
            return U32::new(self.build.find_number(self.dir, named));
        }
        let dir = self.build.bytes(self.dir);
        let slash: &[u8] = if dir.is_empty() { b"" } else { b"/" };
        U32::new(number(self.build.table.find(&[dir, slash, self.set, ending])))
    }
}
