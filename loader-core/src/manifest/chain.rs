//! The four hops, one after the other (manifests.md §1).

use super::build::{Build, Document, With, broken, fault, find_in, full, id};
use super::engine::settle::settle;
use super::gate;
use super::graph::reader::GraphReader;
use super::graph::tables::{Attr, Side};
use super::kelf::reader::{GraphEntry, KelfReader, Key};
use super::kelf::{Target, Version};
use super::link;
use super::named;
use super::record::{DefRecord, NONE, RootRecord, Text};
use super::verdict::{Rank, Section, Verdict};
use crate::arch::Arch;
use crate::arena::{Arena, TailRef};
use crate::container::Member;
use crate::error::{Error, ManifestCode, Notes};
use crate::json::{self, Cutter, Memory};
use crate::layout::SMALL;
use crate::limits::Limits;
use crate::policy::Policy;
use crate::source::{MemberId, Payload, Visitor};
use zerocopy::FromZeros;
use zerocopy::little_endian::U32;

/// Bytes of the buffer for one JSON value; `Limits::element_bytes` can only lower it.
const ELEMENT: usize = crate::layout::CORE_JSON_ELEMENT;
/// Bytes for the keys of one path: a variable's name and the known words around it.
const KEYS: usize = crate::layout::CORE_JSON_KEYS;

/// Bytes that S2 works with apart from the arena, the payload's own buffers and its stack frames.
pub const BUFFER_BYTES: usize = ELEMENT + KEYS;

/// A cutter for manifests with its buffers in `memory`, which has [`BUFFER_BYTES`].
pub(super) fn cutter<'b>(memory: &'b mut [u8], limits: &Limits, policy: &Policy) -> Cutter<'b> {
    let (element, keys) = memory.split_at_mut_checked(ELEMENT).unwrap_or_default();
    let most = usize::try_from(limits.element_bytes).unwrap_or(ELEMENT).min(ELEMENT);
    let room = usize::try_from(limits.json_string).unwrap_or(KEYS).saturating_add(256).min(KEYS);
    let element = element.get_mut(..most).unwrap_or(&mut []);
    let keys = keys.get_mut(..room).unwrap_or(&mut []);
    Cutter::of_any(limits, Memory { element, keys }, true, policy.unique_keys())
}

/// Architecture that `*` means where no host is given: that of the empty string (P).
const ANY_ARCH: Arch = Arch::Sunda;

/// Runs S2 and tells the place of the [`RootRecord`].
pub(super) fn run<'m, P: Payload<'m>>(
    payload: &mut P,
    arena: &mut Arena<'m>,
    limits: &Limits,
    policy: &Policy,
    notes: &mut impl Notes,
    place: &mut TailRef,
) -> Result<(), Error> {
    if SMALL {
        let memory = arena.lend(BUFFER_BYTES).map_err(full)?;
        return run_within(memory, payload, arena, limits, policy, notes, place);
    }
    run_within(&mut [0; BUFFER_BYTES], payload, arena, limits, policy, notes, place)
}

#[inline(never)]
fn run_within<'m, P: Payload<'m>>(
    memory: &mut [u8],
    payload: &mut P,
    arena: &mut Arena<'m>,
    limits: &Limits,
    policy: &Policy,
    notes: &mut impl Notes,
    place: &mut TailRef,
) -> Result<(), Error> {
    let mut cutter = cutter(memory, limits, policy);
    let mut build = Build {
        arena,
        table: payload.table(),
        limits: *limits,
        policy: *policy,
        verdict: Verdict::default(),
        definitions: TailRef::NULL,
        member: None,
        subgraph: None,
        gate: None,
    };
    hops(payload, &mut build, &mut cutter, notes, place).map_err(|error| match &build.gate {
        // A fault of a later manifest was met behind the gate. An arena that is full, or a source that cannot be read,
        // says nothing about the file.
        Some(gate) if !SMALL && is_of_the_file(&error) => gate.error(),
        _ => build.pointed(error),
    })
}

fn is_of_the_file(error: &Error) -> bool {
    let other = [ManifestCode::ArenaFull, ManifestCode::Internal];
    error.id().letter == 'E' && !other.iter().any(|&code| error.is(code))
}

#[inline(never)]
fn hops<'m, P: Payload<'m>>(
    payload: &mut P,
    build: &mut Build<'_, 'm>,
    cutter: &mut Cutter<'_>,
    notes: &mut impl Notes,
    place: &mut TailRef,
) -> Result<(), Error> {
    let mut root = RootRecord::new_zeroed();
    graph(payload, build, cutter, notes, &mut root)?;
    let mut reader = KelfReader::new();
    kelf(payload, build, cutter, notes, &mut root, &mut reader)?;
    definitions(build, &mut root, &reader)?;
    let graphs = u16::try_from(root.definition_count.get()).map_err(|_| broken("graphs"))?;
    named::read(payload, build, cutter, graphs)?;
    for graph in 0..graphs {
        build.subgraph = u8::try_from(graph).ok();
        settle(build, notes, graph)?;
    }
    verdict(build)?;
    build.subgraph = None;
    let graphs = u32::from(graphs);
    link::remotes(build, graphs)?;
    build.member = Some(id(root.kelf_member.get()));
    if !build.policy.tooling() {
        gate::cores(graphs, build.policy.lnc)?;
    }
    build.room::<RootRecord>(1, place)?;
    let slot = build.arena.tail_mut::<RootRecord>(*place);
    *slot.ok_or_else(|| broken("the root record"))? = root;
    Ok(())
}

fn verdict(build: &Build<'_, '_>) -> Result<(), Error> {
    build.verdict.error().map_or(Ok(()), Err)
}

/// One document, read on its own.
struct One<'x, 'b, 'a, 'm> {
    member: MemberId,
    cutter: &'x mut Cutter<'b>,
    with: With<'x, 'a, 'm>,
}

impl Visitor for One<'_, '_, '_, '_> {
    fn wants(&mut self, id: MemberId) -> bool {
        id == self.member
    }

    fn data(&mut self, _: MemberId, _: u64, bytes: &[u8]) -> Result<(), Error> {
        self.cutter.feed(bytes, &mut self.with)
    }

    fn end(&mut self, _: MemberId) -> Result<(), Error> {
        self.with.finish(self.cutter)
    }
}

#[inline(never)]
fn read_one<'m, P: Payload<'m>>(
    payload: &mut P,
    build: &mut Build<'_, 'm>,
    cutter: &mut Cutter<'_>,
    member: Member<'m>,
    document: &mut dyn Document,
) -> Result<(), Error> {
    build.member = Some(member.id);
    json::check_size(member.name, member.size, &build.limits)?;
    cutter.restart(Some(member.id));
    let mut one = One { member: member.id, cutter, with: With { document, build } };
    match payload.borrow(member.id) {
        Some(bytes) => {
            one.data(member.id, 0, bytes)?;
            one.end(member.id)
        }
        None => payload.visit_any(&mut one),
    }
}

/// Hop 1: `neff.json`, else `kelp.json` (§4).
#[inline(never)]
fn graph<'m, P: Payload<'m>>(
    payload: &mut P,
    build: &mut Build<'_, 'm>,
    cutter: &mut Cutter<'_>,
    notes: &mut impl Notes,
    root: &mut RootRecord,
) -> Result<(), Error> {
    let found = build.table.find(&[b"neff.json"]).or_else(|| build.table.find(&[b"kelp.json"]));
    let member = found.ok_or_else(|| fault(ManifestCode::GraphMissing).name(b"NEFF"))?;
    let mut reader = GraphReader::NEW;
    read_one(payload, build, cutter, member, &mut reader)?;
    let graph = &reader.graph;
    graph.check()?;
    graph.tensors(build, Side::Inputs, notes, (&mut root.inputs, &mut root.input_count))?;
    graph.tensors(build, Side::Outputs, notes, (&mut root.outputs, &mut root.output_count))?;
    root.graph_member = U32::new(member.id.0);
    root.kelf_nodes = U32::new(graph.kelf_nodes);
    (root.node_name, root.kelf_name) = (graph.kelf.node, graph.kelf.kelf);
    Err(fault(match graph.kelf.attr {
        _ if graph.kelf_nodes == 0 => ManifestCode::KelfNodeMissing,
        Attr::Absent => ManifestCode::KelfAttrMissing,
        Attr::Wrong => ManifestCode::KelfAttrType,
        Attr::Good => return Ok(()),
    }))
}

/// Hop 2: the KELF (§5).
#[inline(never)]
fn kelf<'m, P: Payload<'m>>(
    payload: &mut P,
    build: &mut Build<'_, 'm>,
    cutter: &mut Cutter<'_>,
    notes: &mut impl Notes,
    root: &mut RootRecord,
    reader: &mut KelfReader,
) -> Result<(), Error> {
    let name = build.bytes(root.kelf_name);
    let found = find_in(&build.table, b"", name);
    let member = found.ok_or_else(|| fault(ManifestCode::KelfMissing).name(name))?;
    root.kelf_member = U32::new(member.id.0);
    read_one(payload, build, cutter, member, reader)?;
    version(build, root, reader)?;
    target(build, notes, root, reader)?;
    graphs(build, reader)
}

fn version(build: &Build<'_, '_>, root: &mut RootRecord, reader: &KelfReader) -> Result<(), Error> {
    if !reader.said.has(Key::Version) {
        return Err(fault(ManifestCode::KelfMalformed).name(b"version"));
    }
    root.version = reader.said.text(Key::Version);
    let text = build.bytes(root.version);
    let version = Version::parse(text).ok_or_else(|| fault(ManifestCode::KelfVersion).name(text))?;
    root.major = U32::new(version.major);
    root.minor = U32::new(version.minor);
    let at = text.len().saturating_sub(version.suffix.len());
    root.suffix_at = U32::new(u32::try_from(at).unwrap_or(u32::MAX));
    Ok(())
}

/// Target and architecture gate (§5.3, §5.4, R22).
fn target(
    build: &mut Build<'_, '_>,
    notes: &mut impl Notes,
    root: &mut RootRecord,
    reader: &KelfReader,
) -> Result<(), Error> {
    let target = match reader.said.has(Key::Target) {
        false if reader.said.is_wrong(Key::Target) => {
            return Err(fault(ManifestCode::KelfMalformed).name(b"target"));
        }
        false => Target::NeuronCoreV1,
        true => {
            (root.target, root.target_present) = (reader.said.text(Key::Target), U32::new(1));
            let text = build.bytes(root.target);
            Target::parse(text).ok_or_else(|| fault(ManifestCode::KelfTarget).name(text))?
        }
    };
    let arch = match target {
        Target::Arch(arch) => Some(arch),
        Target::Any => Some(build.policy.host_arch().unwrap_or(ANY_ARCH)),
        Target::NeuronCoreV1 => None,
    };
    root.arch = U32::new(arch.map_or(0, Arch::number));
    match gate::arch(arch, &build.policy) {
        Ok(None) => {}
        Ok(Some(note)) => notes.note(build.placed(note)),
        Err(error) if build.policy.tooling() => build.gate = Some(build.pointed(error).into()),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// The list of graphs: at least one, each name once (§5.5).
fn graphs(build: &mut Build<'_, '_>, reader: &KelfReader) -> Result<(), Error> {
    let count = reader.graphs.len();
    let table = reader.graphs;
    match reader.said.has(Key::Graphs) {
        true if count > 0 => {}
        true => {
            return Err(fault(ManifestCode::KelfGraphs).name2(b"no graph").name(b"`graphs` is empty"));
        }
        false => return Err(fault(ManifestCode::KelfMalformed).name(b"graphs")),
    }
    let most = u64::from(build.limits.subgraphs.min(256));
    if u64::from(count) > most {
        return Err(fault(ManifestCode::LimitExceeded).name(b"subgraphs").numbers(u64::from(count), most));
    }
    let tail = build.arena.tail();
    for at in 0..count {
        let entry = |at| table.get::<GraphEntry>(tail, at);
        let this = entry(at).filter(|entry| entry.bad.get() == 0);
        let this = this.ok_or_else(|| fault(ManifestCode::KelfMalformed).name(b"graphs").element(at))?;
        let name = this.name.get(tail);
        if (0..at).any(|other| table.name::<GraphEntry>(tail, other) == name) {
            return Err(fault(ManifestCode::KelfGraphs).name2(b"a graph twice").name(name).element(at));
        }
    }
    Ok(())
}

/// One record for each graph; E301 for those whose member is absent.
#[inline(never)]
fn definitions(build: &mut Build<'_, '_>, root: &mut RootRecord, reader: &KelfReader) -> Result<(), Error> {
    let count = u16::try_from(reader.graphs.len()).map_err(|_| broken("graphs"))?;
    let mut place = TailRef::NULL;
    build.room::<DefRecord>(usize::from(count), &mut place)?;
    build.definitions = place;
    for graph in 0..count {
        let at = u32::from(graph);
        let entry = reader.graphs.get::<GraphEntry>(build.arena.tail(), at);
        let entry = *entry.ok_or_else(|| broken("a graph"))?;
        let path = build.bytes(entry.definition);
        let dir_len = path.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
        let member = build.find_number(Text::EMPTY, entry.definition);
        if member == NONE {
            let error = fault(ManifestCode::DefinitionMissing).name(path).element(at);
            build.offer(Rank::new(graph, Section::Document), error);
        }
        let def = build.def_mut(at).ok_or_else(|| broken("a graph"))?;
        def.name = entry.name;
        def.definition = entry.definition;
        def.dir_len = U32::new(u32::try_from(dir_len).unwrap_or(0));
        def.member = U32::new(member);
        def.arch = root.arch;
        for engine in &mut def.engines {
            engine.member = U32::new(NONE);
            engine.blob = U32::new(NONE);
            engine.dve = [U32::new(NONE); 5];
        }
    }
    root.definitions = build.definitions;
    root.definition_count = U32::new(count.into());
    Ok(())
}
