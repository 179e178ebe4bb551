//! The differences of two snapshots.

use super::blocks::{BlockFacts, BlockKey};
use super::slots::replaced;
use super::snapshot::{Archive, Named, Part, Snapshot};
use super::values::{Difference, Names, by_name, differences};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What differs. Every list is empty where nothing does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The files have the same bytes, of a file in a carrier those of header and payload. If they have not, something
    /// below says where.
    pub equal: bool,
    /// Sections that are not compared, or only in part, because a file was refused before it could be read so far.
    pub unknown: Vec<&'static str>,
    /// What follows the payload; the digest of the file if that is all that is known to differ.
    pub container: Vec<Difference>,
    /// Fields of the header and bytes between them, and the payload digest.
    pub header: Vec<Difference>,
    /// Members of the archive, by size and SHA-256.
    pub members: Names,
    /// The graph manifest and the descriptor: inputs and outputs by name, target, versions.
    pub graph: Vec<Difference>,
    /// Subgraphs that both files have, those without a difference too.
    pub subgraphs: Vec<Subgraph>,
    /// Subgraphs of the second file only.
    pub subgraphs_added: Vec<String>,
    /// Subgraphs of the first file only.
    pub subgraphs_removed: Vec<String>,
    /// The estimate of device memory.
    pub memory: Vec<Difference>,
}

/// What differs in one subgraph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Subgraph {
    /// Its name.
    pub name: String,
    /// Versions, features, collectives, engine files, tables.
    pub settings: Vec<Difference>,
    /// Variables, their ids and contents aside.
    pub variables: Names,
    /// Runs of ids that moved alike.
    pub shifted: Vec<Shift>,
    /// Constants whose content differs.
    pub constants: Vec<Constant>,
    /// DMA queues.
    pub queues: Names,
    /// DMA blocks.
    pub blocks: Blocks,
    /// Instruction streams that differ.
    pub instructions: Vec<Stream>,
}

/// Variables with ids `first` to `last` in the first file have ids that are larger by `by` in the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shift {
    /// First id of the run.
    pub first: i64,
    /// Last id of the run.
    pub last: i64,
    /// How far it moved.
    pub by: i64,
}

/// A constant with another content on the device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Constant {
    /// The variable.
    pub name: String,
    /// The member that holds it in the first file.
    pub member: Value,
    /// The member that holds it in the second file.
    pub member_b: Value,
    /// SHA-256 of the content in the first file, without the header of an `.npy` member.
    pub a: Value,
    /// In the second file.
    pub b: Value,
}

/// One DMA block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// The engine that triggers it, or `def`.
    pub engine: &'static str,
    /// Its queue.
    pub queue: String,
    /// Its id within the queue.
    pub id: u32,
    /// Its function, which has ids of its own; empty for the main code.
    pub function: String,
    /// Transfers in the first and in the second file.
    pub transfers: [Option<u32>; 2],
}

/// DMA blocks by engine, queue, id and function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Blocks {
    /// In the second file only.
    pub added: Vec<Block>,
    /// In the first file only.
    pub removed: Vec<Block>,
    /// In both, with other transfers.
    pub changed: Vec<Block>,
}

/// One engine's instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stream {
    /// The engine.
    pub engine: &'static str,
    /// Slots in the first and in the second file.
    pub slots: [usize; 2],
    /// Ranges of slots `[first, end]` in both files that stand for each other.
    pub ranges: Vec<[[usize; 2]; 2]>,
}

/// Compares two files.
#[must_use]
pub fn compare(a: &Snapshot, b: &Snapshot) -> Comparison {
    let mut unknown = Vec::new();
    let both = a.subgraphs.iter().filter_map(|(name, part)| Some((name, part, b.subgraphs.get(name)?)));
    let mut comparison = Comparison {
        equal: a.file["sha256"] == b.file["sha256"] && a.file["size"] == b.file["size"],
        container: Vec::new(),
        header: known("header", &a.header, &b.header, &mut unknown),
        members: members(&a.members, &b.members, &mut unknown),
        graph: known("graph", &a.graph, &b.graph, &mut unknown),
        subgraphs: both.map(|(name, a, b)| Subgraph::new(name, a, b)).collect(),
        subgraphs_added: Vec::new(),
        subgraphs_removed: Vec::new(),
        memory: known("memory", &a.memory, &b.memory, &mut unknown),
        unknown: Vec::new(),
    };
    for mut difference in known("digest", &a.digest, &b.digest, &mut unknown) {
        difference.key.insert_str(0, "digest.");
        comparison.header.push(difference);
    }
    comparison.header.sort_by(|x, y| x.key.cmp(&y.key));
    if let (Some(a), Some(b)) = (&a.graphs, &b.graphs) {
        comparison.subgraphs_added = b.difference(a).cloned().collect();
        comparison.subgraphs_removed = a.difference(b).cloned().collect();
    }
    if a.graph.is_null() || b.graph.is_null() {
        unknown.push("subgraphs");
    }
    // Of two files that are both taken, nothing is unknown: what neither has is no difference.
    if a.refusal.is_some() || b.refusal.is_some() {
        comparison.unknown = unknown;
    }
    if a.container.is_null() || b.container.is_null() {
        // Header and payload digest, which are compared, stand for every byte.
        comparison.equal = comparison.is_empty() && comparison.unknown.is_empty();
        return comparison;
    }
    comparison.container = differences(&a.container, &b.container);
    if !comparison.equal && comparison.is_empty() {
        let digest = |file: &Value| file["sha256"].clone();
        let key = "sha256".to_owned();
        comparison.container = vec![Difference { key, a: digest(&a.file), b: digest(&b.file) }];
    }
    comparison
}

/// The differences of two sections; none, and a note that they are unknown, if one file has none to compare.
fn known(name: &'static str, a: &Value, b: &Value, unknown: &mut Vec<&'static str>) -> Vec<Difference> {
    if a.is_null() || b.is_null() {
        unknown.push(name);
        return Vec::new();
    }
    differences(a, b)
}

/// The same for members. Of an archive that was read in part, it is not known what it lacks.
fn members(a: &Archive, b: &Archive, unknown: &mut Vec<&'static str>) -> Names {
    if !matches!((a, b), (Archive::Whole(_), Archive::Whole(_))) {
        unknown.push("members");
    }
    match (a, b) {
        (Archive::Unread, _) | (_, Archive::Unread) => Names::default(),
        (Archive::Partly(old) | Archive::Whole(old), Archive::Partly(new) | Archive::Whole(new)) => {
            let mut found = by_name(old, new, |_| true);
            if matches!(a, Archive::Partly(_)) {
                found.added.clear();
            }
            if matches!(b, Archive::Partly(_)) {
                found.removed.clear();
            }
            found
        }
    }
}

impl Comparison {
    /// Nothing is known to differ.
    fn is_empty(&self) -> bool {
        self.container.is_empty()
            && self.header.is_empty()
            && self.members.is_empty()
            && self.graph.is_empty()
            && self.subgraphs.iter().all(Subgraph::is_empty)
            && self.subgraphs_added.is_empty()
            && self.subgraphs_removed.is_empty()
            && self.memory.is_empty()
    }
}

impl Subgraph {
    fn new(name: &str, a: &Part, b: &Part) -> Self {
        let own = |key: &str| key != "var_id" && key != "sha256" && !key.starts_with("payload.");
        Self {
            name: name.to_owned(),
            settings: differences(&a.settings, &b.settings),
            variables: by_name(&a.variables, &b.variables, own),
            shifted: shifts(&a.variables, &b.variables),
            constants: constants(&a.variables, &b.variables),
            queues: by_name(&a.queues, &b.queues, |_| true),
            blocks: blocks(&a.blocks, &b.blocks),
            instructions: streams(a, b),
        }
    }

    /// No difference.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty()
            && self.variables.is_empty()
            && self.shifted.is_empty()
            && self.constants.is_empty()
            && self.queues.is_empty()
            && self.blocks == Blocks::default()
            && self.instructions.is_empty()
    }
}

/// Runs of ids that moved by the same distance, by id in the first file.
fn shifts(a: &Named, b: &Named) -> Vec<Shift> {
    let id = |variable: &Value| variable["var_id"].as_i64();
    let moves = a.iter().filter_map(|(name, old)| Some((id(old)?, id(b.get(name)?)?)));
    let mut moves: Vec<(i64, i64)> = moves.collect();
    moves.sort_unstable();
    let mut runs: Vec<Shift> = Vec::new();
    for (from, to) in moves {
        match runs.last_mut() {
            Some(run) if run.last + 1 == from && run.by == to - from => run.last = from,
            _ => runs.push(Shift { first: from, last: from, by: to - from }),
        }
    }
    runs.retain(|run| run.by != 0);
    runs
}

fn constants(a: &Named, b: &Named) -> Vec<Constant> {
    let differ = |(name, old): (&String, &Value)| {
        let new = b.get(name)?;
        let both = old.get("sha256").is_some() && new.get("sha256").is_some();
        (both && old["sha256"] != new["sha256"]).then(|| Constant {
            name: name.clone(),
            member: old["payload"]["member"].clone(),
            member_b: new["payload"]["member"].clone(),
            a: old["sha256"].clone(),
            b: new["sha256"].clone(),
        })
    };
    a.iter().filter_map(differ).collect()
}

fn blocks(a: &BTreeMap<BlockKey, BlockFacts>, b: &BTreeMap<BlockKey, BlockFacts>) -> Blocks {
    let block = |(engine, queue, id, function): &BlockKey, transfers| Block {
        engine,
        queue: queue.clone(),
        id: *id,
        function: function.clone(),
        transfers,
    };
    let mut found = Blocks::default();
    for (key, old) in a {
        match b.get(key) {
            None => found.removed.push(block(key, [Some(old.transfers), None])),
            Some(new) if new != old => {
                found.changed.push(block(key, [Some(old.transfers), Some(new.transfers)]));
            }
            Some(_) => {}
        }
    }
    let new = b.iter().filter(|(key, _)| !a.contains_key(*key));
    found.added = new.map(|(key, new)| block(key, [None, Some(new.transfers)])).collect();
    found
}

fn streams(a: &Part, b: &Part) -> Vec<Stream> {
    let engines: std::collections::BTreeSet<_> = a.streams.keys().chain(b.streams.keys()).collect();
    let stream = |engine: &&'static str| {
        let side = |part: &'_ Part| part.streams.get(engine).cloned().unwrap_or_default();
        let (old, new) = (side(a), side(b));
        let ranges: Vec<_> = replaced(&old, &new)
            .into_iter()
            .map(|range| [[range.a.start, range.a.end], [range.b.start, range.b.end]])
            .collect();
        (!ranges.is_empty()).then_some(Stream { engine, slots: [old.len(), new.len()], ranges })
    };
    engines.into_iter().filter_map(stream).collect()
}
