//! Hops 3 and 4: which members the definitions and then their contents name (manifests.md §6, §13).

use super::block::BlockSource;
use super::build::{Build, broken, fault, find_in};
use super::class::VarClass;
use super::npy::is_npy;
use super::record::{DefRecord, NONE, Text, VarRecord, def_flag, engine_flag};
use super::verdict::{Rank, Section};
use super::wants::{self, Wants, kind};
use crate::arch::Engine;
use crate::error::{Error, ManifestCode};
use crate::json::Cutter;
use crate::source::{MemberId, Payload};
use zerocopy::FromZeros;
use zerocopy::little_endian::{U32, U64};

/// Enters the members that one hop reads.
type List = fn(&mut Build<'_, '_>, &mut Wants, u16) -> Result<(), Error>;

/// What is read after the KELF, hop by hop: every `def.json` (§6), what the definitions name (§11, §13, §15), and
/// rosters of another name.
const HOPS: [List; 3] = [list_definitions, list_files, list_rosters];

/// Hops 3 and 4.
#[inline(never)]
pub(super) fn read<'m, P: Payload<'m>>(
    payload: &mut P,
    build: &mut Build<'_, 'm>,
    cutter: &mut Cutter<'_>,
    graphs: u16,
) -> Result<(), Error> {
    for list in HOPS {
        let mark = build.arena.mark();
        let mut wants = Wants::default();
        list(build, &mut wants, graphs)?;
        wants.sort(build);
        wants::read(payload, build, cutter, wants)?;
        build.arena.release_head(mark);
    }
    Ok(())
}

/// Not inlined, as the other lists: a definition's record is large, and is gone when the reading begins.
#[inline(never)]
fn list_definitions(build: &mut Build<'_, '_>, wants: &mut Wants, graphs: u16) -> Result<(), Error> {
    for graph in 0..graphs {
        let member = build.def(graph.into()).ok_or_else(|| broken("a definition"))?.member.get();
        if member != NONE {
            wants.push(build, graph, kind::DEFINITION, member, 0)?;
        }
    }
    Ok(())
}

#[inline(never)]
fn list_files(build: &mut Build<'_, '_>, wants: &mut Wants, graphs: u16) -> Result<(), Error> {
    for graph in 0..graphs {
        let mut copy = DefRecord::new_zeroed();
        copy.clone_from(build.def(graph.into()).ok_or_else(|| broken("a definition"))?);
        let def = &copy;
        build.subgraph = u8::try_from(graph).ok();
        if build.verdict.settled_before(Rank::new(graph, Section::Document)) {
            break;
        }
        build.member = Some(MemberId(def.member.get()));
        constants(build, wants, graph, def)?;
        ucode(build, wants, graph, def)?;
        engines(build, wants, graph, def)?;
    }
    Ok(())
}

/// Raw constants get their window now, `.npy` ones when their header was read.
#[inline(never)]
fn constants(build: &mut Build<'_, '_>, wants: &mut Wants, graph: u16, def: &DefRecord) -> Result<(), Error> {
    for at in 0..def.vars.len() {
        let record = def.vars.get::<VarRecord>(build.arena.tail(), at).ok_or_else(|| broken("a variable"))?;
        if VarClass::from_code(record.class) != Some(VarClass::File) {
            continue;
        }
        let number = record.c.get();
        let member = build.table.get(MemberId(number)).ok_or_else(|| broken("a constant"))?;
        if is_npy(member.name) {
            wants.push(build, graph, kind::NPY, number, at)?;
            continue;
        }
        let record = def.vars.get_mut::<VarRecord>(build.arena, at).ok_or_else(|| broken("a variable"))?;
        record.b = U64::new(member.size);
    }
    Ok(())
}

/// The member that `ucode_lib` names: in the subgraph's directory, else at the top (§11.1).
#[inline(never)]
fn ucode(build: &mut Build<'_, '_>, wants: &mut Wants, graph: u16, def: &DefRecord) -> Result<(), Error> {
    let name = def.ucode_manifest;
    if name.len.get() == 0 {
        return Ok(());
    }
    let dir = def.dir();
    for dir in [dir, Text::EMPTY] {
        let member = build.find_number(dir, name);
        if member != NONE {
            return wants.push(build, graph, kind::UCODE, member, 0);
        }
    }
    let error = fault(ManifestCode::UcodeManifest).name(build.bytes(name));
    build.offer(Rank::new(graph, Section::Ucode), error);
    Ok(())
}

/// The files with blocks, and the roster of activation sets.
#[inline(never)]
fn engines(build: &mut Build<'_, '_>, wants: &mut Wants, graph: u16, def: &DefRecord) -> Result<(), Error> {
    let dir = def.dir();
    for (which, source) in (0u32..).zip(BlockSource::ALL) {
        let BlockSource::Engine(engine) = source else {
            if def.flags.get() & def_flag::DMA != 0 {
                wants.push(build, graph, kind::BLOCKS, def.member.get(), which)?;
            }
            continue;
        };
        let record = def.engines.get(engine.index()).ok_or_else(|| broken("an engine"))?;
        if record.flags & engine_flag::NAMED == 0 {
            continue;
        }
        let member = build.find_number(dir, record.file);
        if member == NONE {
            let section = Section::Engine(engine);
            let error = build.missing(ManifestCode::EngineMissing, dir, record.file);
            build.offer(Rank::new(graph, section), error);
            continue;
        }
        set_member(build, graph, engine, member)?;
        wants.push(build, graph, kind::BLOCKS, member, which)?;
    }
    match find_in(&build.table, build.bytes(dir), ROSTER) {
        Some(member) => wants.push(build, graph, kind::ACT_INFO, member.id.0, 0),
        None => Ok(()),
    }
}

/// Name that every known file gives its roster of activation sets; it is read beside the engine
/// files, before it is known whether `act_info` says so.
const ROSTER: &[u8] = b"act_info.json";

#[inline(never)]
fn list_rosters(build: &mut Build<'_, '_>, wants: &mut Wants, graphs: u16) -> Result<(), Error> {
    for graph in 0..graphs {
        let def = build.def(graph.into()).ok_or_else(|| broken("a definition"))?;
        let dir = def.dir();
        let name = def.engines.get(Engine::Act.index()).map_or(Text::EMPTY, |act| act.act_info);
        let usual = build.bytes(name) == ROSTER;
        let member = build.find_number(dir, name);
        if name.len.get() > 0 && !usual && member != NONE {
            wants.push(build, graph, kind::ACT_INFO, member, 0)?;
        }
    }
    Ok(())
}

fn set_member(build: &mut Build<'_, '_>, graph: u16, engine: Engine, member: u32) -> Result<(), Error> {
    let record = build.def_mut(graph.into()).and_then(|def| def.engines.get_mut(engine.index()));
    record.ok_or_else(|| broken("an engine"))?.member = U32::new(member);
    Ok(())
}
