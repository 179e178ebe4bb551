//! What a loader sees of one file.

use super::blocks::{BlockFacts, BlockKey, Blocks};
use super::edges::Watched;
use super::slots;
use super::staged::Arrays;
use crate::chain;
use crate::container::both::Both;
use crate::container::{Ask, Row, Survey, hex, survey_with, text};
use crate::file::Buffers;
use crate::growing::with_arena;
use crate::inspect::manifest_json;
use crate::members::{Members, Unpacked, Unpacking};
use crate::memory::{Estimate, Page};
use crate::{LoadError, container};
use loader_core::arch::Engine;
use loader_core::container::MemberTable;
use loader_core::error::{Error, Ignored};
use loader_core::limits::Limits;
use loader_core::manifest::{self, Definition, Manifest, visit_blocks};
use loader_core::policy::Policy;
use loader_core::source::{Payload, Source};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Values by name.
pub(super) type Named = BTreeMap<String, Value>;

/// One file. What lies behind a refusal is not known, which is another thing than that it is not there.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Bytes of the file and their SHA-256.
    pub file: Value,
    /// Why a loader refuses the file, if it does.
    pub refusal: Option<LoadError>,
    /// What the file has after its payload; null of a file in a carrier, which goes on with something else.
    pub(super) container: Value,
    /// Null if the file is shorter than one.
    pub(super) header: Value,
    /// Null if it was not computed.
    pub(super) digest: Value,
    pub(super) members: Archive,
    /// Null if the manifests were not read.
    pub(super) graph: Value,
    /// Names of all subgraphs, if the descriptor could be read.
    pub(super) graphs: Option<BTreeSet<String>>,
    pub(super) subgraphs: BTreeMap<String, Part>,
    /// Null if there is no estimate.
    pub(super) memory: Value,
}

/// The members, as far as they are known.
#[derive(Clone, Debug)]
pub(super) enum Archive {
    /// The archive was not looked into.
    Unread,
    /// It was read up to some damage.
    Partly(Named),
    /// All of it was read.
    Whole(Named),
}

/// One subgraph.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    pub(super) settings: Value,
    pub(super) variables: Named,
    pub(super) queues: Named,
    pub(super) blocks: BTreeMap<BlockKey, BlockFacts>,
    /// Hashes of the instruction slots by engine.
    pub(super) streams: BTreeMap<&'static str, Vec<u64>>,
}

impl Snapshot {
    /// Takes a file apart in one pass. It is judged as `inspect` judges it: a digest that does not fit is no refusal.
    /// In memory it keeps documents and instructions, not constants.
    ///
    /// # Errors
    /// That the source could not be read; a refused file is no error.
    pub fn of<S: Source>(source: &mut S, told: impl FnMut(u64)) -> Result<Self, Error> {
        let policy = Policy {
            verify_digest: false,
            report_digest: true,
            tooling: true,
            ..crate::environment::policy()
        };
        let limits = Limits::DEFAULT;
        let ask = Ask { members: true, digests: true, file_digest: true };
        let (mut arrays, mut source) = (Arrays::default(), Watched::new(source));
        let unpacking = Unpacking::new(|name: &[u8]| name.ends_with(b".bin"));
        let mut takers = Both { first: unpacking, second: &mut arrays };
        let seen = survey_with(&mut source, &mut Buffers::new(), &policy, &limits, ask, &mut takers, told)?;
        let members = takers.first.unpacked();
        let mut snapshot = Self::surveyed(&seen, &source);
        if snapshot.refusal.is_none() {
            let contents = contents(&seen, arrays);
            snapshot.refusal = snapshot.read(&members, &policy, &limits, &seen, &contents).err();
            let graphs = chain::graphs(&members).ok();
            snapshot.graphs = graphs.map(|graphs| graphs.into_iter().map(|graph| graph.name).collect());
        }
        let estimate = Estimate::of(&members, Page::default());
        snapshot.memory = estimate.map_or(Value::Null, |estimate| json!(estimate));
        Ok(snapshot)
    }

    /// The same of a file that lies in a carrier: what follows it is the carrier's.
    #[must_use]
    pub fn in_carrier(self) -> Self {
        Self { container: Value::Null, ..self }
    }

    /// What is known of the container alone.
    fn surveyed<S: Source>(seen: &Survey, source: &Watched<'_, S>) -> Self {
        let mut header = seen.header.as_ref().map_or(Value::Null, container::header_json);
        if let Value::Object(header) = &mut header {
            header.extend(source.hidden());
        }
        let row = |(name, row): (&Vec<u8>, &Row)| {
            (text(name), json!({ "size": row.size, "sha256": row.sha256.map(|digest| hex(&digest)) }))
        };
        let refusal = seen.error.map(|error| LoadError::new(error, seen.header, seen.notes.kept()));
        Self {
            file: container::file_json(seen),
            refusal,
            container: source.container(),
            header,
            digest: container::digest_json(seen).unwrap_or(Value::Null),
            members: match (seen.gates_passed(), seen.accepted()) {
                (false, _) => Archive::Unread,
                (true, false) => Archive::Partly(seen.table.iter().map(row).collect()),
                (true, true) => Archive::Whole(seen.table.iter().map(row).collect()),
            },
            graph: Value::Null,
            graphs: None,
            subgraphs: BTreeMap::new(),
            memory: Value::Null,
        }
    }

    /// The manifests, the blocks and the instructions.
    fn read(
        &mut self,
        members: &Unpacked,
        policy: &Policy,
        limits: &Limits,
        seen: &Survey,
        contents: &Contents,
    ) -> Result<(), LoadError> {
        let mut refused = None;
        let done = with_arena(|arena| {
            let mut payload = members.payload(arena)?;
            let table = payload.table();
            let mut read = || {
                let manifest = manifest::parse(&mut payload, arena, limits, policy, &mut Ignored)?;
                let mut blocks = Blocks::new(&manifest);
                visit_blocks(&mut payload, &manifest, limits, &mut blocks)?;
                self.fill(&manifest, &table, members, blocks, contents);
                Ok(())
            };
            read().inspect_err(|error| {
                refused = Some(LoadError::new(*error, seen.header, &[]).named(&table));
            })
        });
        done.map_err(|error| refused.unwrap_or_else(|| error.into()))
    }

    fn fill(
        &mut self,
        manifest: &Manifest<'_>,
        table: &MemberTable<'_>,
        members: &Unpacked,
        blocks: Blocks<'_>,
        contents: &Contents,
    ) {
        let mut document = manifest_json(manifest, table);
        let subgraphs = document.remove("subgraphs");
        self.graph = graph(document);
        let parts = subgraphs.as_ref().and_then(Value::as_array).into_iter().flatten();
        for ((definition, part), blocks) in manifest.definitions().zip(parts).zip(blocks.finish()) {
            let stream = |engine: Engine| {
                let member = table.get(definition.engine(engine).blob?)?;
                Some((engine.key(), slots::hashes(members.content(member.name)?)))
            };
            let streams = Engine::ALL.into_iter().filter_map(stream).collect();
            let part = Part { blocks, streams, ..Part::new(&definition, part.clone(), contents) };
            self.subgraphs.insert(text(definition.name()), part);
        }
    }
}

/// `io` by name beside the rest, so that tensors are compared with those of their name.
fn graph(mut document: Map<String, Value>) -> Value {
    for key in ["inputs", "outputs"] {
        let list = document.get("io").and_then(|io| io[key].as_array()).cloned().unwrap_or_default();
        let named = list.into_iter().map(|mut tensor| {
            let name = tensor.as_object_mut().and_then(|tensor| tensor.remove("name"));
            (name.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(), tensor)
        });
        document.insert(key.to_owned(), Value::Object(named.collect()));
    }
    document.remove("io");
    Value::Object(document)
}

fn named(value: &mut Value) -> Named {
    match value.take() {
        Value::Object(map) => map.into_iter().collect(),
        _ => Named::new(),
    }
}

impl Part {
    /// What the document says of a subgraph.
    fn new(definition: &Definition<'_>, mut document: Value, contents: &Contents) -> Self {
        let mut variables = named(&mut document["vars"]);
        for variable in variables.values_mut() {
            by_name(definition, variable);
            constant(variable, contents);
        }
        let queues = named(&mut document["dma_queues"]);
        // Derived from the variables, which are compared one by one.
        if let Value::Object(map) = &mut document {
            for key in ["vars", "dma_queues", "var"] {
                map.remove(key);
            }
        }
        Self { settings: document, variables, queues, ..Self::default() }
    }
}

/// Names in the place of ids, which move.
fn by_name(definition: &Definition<'_>, variable: &mut Value) {
    let name = |id: &Value| {
        let id = id.as_u64().and_then(|id| u32::try_from(id).ok());
        id.and_then(|id| definition.var(id)).map_or(Value::Null, |named| text(named.name).into())
    };
    let Value::Object(map) = variable else { return };
    if let Some(id) = map.remove("referenced_var_id") {
        map.insert("references".to_owned(), name(&id));
    }
    if let Some(Value::Array(ids)) = map.get_mut("list") {
        *ids = ids.iter().map(name).collect();
    }
    if let Some(Value::Object(remote)) = map.get_mut("remote") {
        remote.remove("var_id");
    }
}

/// Digests of members as constants, by name.
type Contents = BTreeMap<String, [u8; 32]>;

/// Of an array without its header, of any other member whole.
fn contents(seen: &Survey, arrays: Arrays) -> Contents {
    let whole = seen.table.iter().filter_map(|(name, row)| Some((text(name), row.sha256?)));
    whole.chain(arrays.digests().into_iter().map(|(name, digest)| (text(&name), digest))).collect()
}

/// The digest of a constant on the device.
fn constant(variable: &mut Value, contents: &Contents) {
    let digest = variable["payload"]["member"].as_str().and_then(|member| contents.get(member));
    if let Some(digest) = digest.copied() {
        variable["sha256"] = hex(&digest).into();
    }
}
