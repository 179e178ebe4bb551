//! What a loader sees of one file.

use super::blocks::{BlockFacts, BlockKey, Blocks};
use super::slots;
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
use std::collections::BTreeMap;

/// Values by name.
pub(super) type Named = BTreeMap<String, Value>;

/// One file. The parts behind a refusal are empty.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Bytes of the file and their SHA-256.
    pub file: Value,
    /// Why a loader refuses the file, if it does.
    pub refusal: Option<LoadError>,
    pub(super) header: Value,
    pub(super) members: Named,
    pub(super) graph: Value,
    pub(super) subgraphs: BTreeMap<String, Part>,
    pub(super) memory: Value,
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
        let mut unpacking = Unpacking::new(|name: &[u8]| name.ends_with(b".bin"));
        let seen = survey_with(source, &mut Buffers::new(), &policy, &limits, ask, &mut unpacking, told)?;
        let members = unpacking.unpacked();
        let mut snapshot = Self::surveyed(&seen);
        if snapshot.refusal.is_none() {
            snapshot.refusal = snapshot.read(&members, &policy, &limits, &seen).err();
        }
        let estimate = Estimate::of(&members, Page::default());
        snapshot.memory = estimate.map_or(Value::Null, |estimate| json!(estimate));
        Ok(snapshot)
    }

    /// What is known of the container alone.
    fn surveyed(seen: &Survey) -> Self {
        let mut header = seen.header.as_ref().map_or(Value::Null, container::header_json);
        if let (Some(digest), Value::Object(header)) = (container::digest_json(seen), &mut header) {
            header.insert("digest".to_owned(), digest);
        }
        let row = |(name, row): (&Vec<u8>, &Row)| {
            (text(name), json!({ "size": row.size, "sha256": row.sha256.map(|digest| hex(&digest)) }))
        };
        let refusal = seen.error.map(|error| LoadError::new(error, seen.header, &seen.notes));
        Self {
            file: container::file_json(seen),
            refusal,
            header,
            members: seen.table.iter().map(row).collect(),
            graph: Value::Null,
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
    ) -> Result<(), LoadError> {
        let mut refused = None;
        let done = with_arena(|arena| {
            let mut payload = members.payload(arena)?;
            let table = payload.table();
            let mut read = || {
                let manifest = manifest::parse(&mut payload, arena, limits, policy, &mut Ignored)?;
                let mut blocks = Blocks::new(&manifest);
                visit_blocks(&mut payload, &manifest, limits, &mut blocks)?;
                self.fill(&manifest, &table, members, blocks, &seen.table);
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
        rows: &BTreeMap<Vec<u8>, Row>,
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
            let part = Part { blocks, streams, ..Part::new(&definition, part.clone(), rows) };
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
    fn new(definition: &Definition<'_>, mut document: Value, rows: &BTreeMap<Vec<u8>, Row>) -> Self {
        let mut variables = named(&mut document["vars"]);
        for variable in variables.values_mut() {
            by_name(definition, variable);
            constant(variable, rows);
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

/// The digest of a constant's member.
fn constant(variable: &mut Value, table: &BTreeMap<Vec<u8>, Row>) {
    let member = variable["payload"]["member"].as_str().map(str::to_owned);
    let row = member.and_then(|member| table.get(member.as_bytes()));
    if let Some(digest) = row.and_then(|row| row.sha256) {
        variable["sha256"] = hex(&digest).into();
    }
}
