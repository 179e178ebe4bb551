//! How many workers the collectives of a definition need (manifests.md §19.4).

use crate::refusal::Refusal;
use loader_core::error::ToolCode;
use loader_core::json::{Element, Kind, Mismatch};
use serde::Serialize;

/// What is counted in a topology: the sources contradict each other (§21, X1). The guard against
/// unequal topologies compares the same quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorldSizeRule {
    /// The length of the longest group: what both sources print.
    #[default]
    LargestGroup,
    /// The sum of all group lengths: what the reader's own words suggest.
    TotalWorkers,
}

/// One of the three sources of the world size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorldSource {
    /// `replica_groups`
    ReplicaGroups,
    /// `src_target_pairs`
    SourceTargetPairs,
    /// `#rank_world_size`
    Explicit,
}

/// The world size and where it comes from. Counts of workers; 0 for a source that says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WorldSize {
    /// By `replica_groups`, after the rule.
    pub ws_replica_groups: u64,
    /// The sum of the group lengths of the first topology, whatever the rule.
    pub total_workers: u64,
    /// By `src_target_pairs`: the highest rank plus one (Inferred).
    pub ws_pairs: u64,
    /// By `#rank_world_size`.
    pub ws_explicit: u64,
    /// The largest of the three, at least 1.
    pub world_size: u64,
}

type Numbers = Vec<Vec<Vec<u64>>>;

/// `hasCC` (§19.4, Inferred).
pub(super) fn has_collectives(root: Element<'_>) -> Result<bool, Refusal> {
    let listed = |key| Ok::<_, Refusal>(!cube(root, key)?.unwrap_or_default().is_empty());
    Ok(listed("replica_groups")? || listed("src_target_pairs")? || explicit(root)? != 0)
}

/// All sources together.
pub(super) fn size(root: Element<'_>, rule: WorldSizeRule) -> Result<WorldSize, Refusal> {
    if !has_collectives(root)? {
        return Err(Refusal::new(ToolCode::NoCollectives));
    }
    let topologies = cube(root, "replica_groups")?.unwrap_or_default();
    let pairs = cube(root, "src_target_pairs")?.unwrap_or_default();
    let ws_replica_groups = by_groups(&topologies, rule)?;
    let (ws_pairs, ws_explicit) = (by_pairs(&pairs)?, explicit(root)?);
    Ok(WorldSize {
        ws_replica_groups,
        total_workers: topologies.first().map_or(0, |first| workers(first)),
        ws_pairs,
        ws_explicit,
        world_size: ws_replica_groups.max(ws_pairs).max(ws_explicit).max(1),
    })
}

/// One source alone: here an empty list has its own refusal (§19.3).
pub(super) fn size_from(root: Element<'_>, source: WorldSource, rule: WorldSizeRule) -> Result<u64, Refusal> {
    let list = |key, empty| match cube(root, key)? {
        None => Err(Refusal::new(ToolCode::NoCollectives)),
        Some(list) if list.is_empty() => Err(Refusal::new(empty)),
        Some(list) => Ok(list),
    };
    let count = match source {
        WorldSource::ReplicaGroups => {
            by_groups(&list("replica_groups", ToolCode::EmptyReplicaGroups)?, rule)?
        }
        WorldSource::SourceTargetPairs => by_pairs(&list("src_target_pairs", ToolCode::EmptyPairs)?)?,
        WorldSource::Explicit => match explicit(root)? {
            0 => return Err(Refusal::new(ToolCode::NoCollectives)),
            count => count,
        },
    };
    Ok(count.max(1))
}

fn by_groups(topologies: &Numbers, rule: WorldSizeRule) -> Result<u64, Refusal> {
    let mut agreed = 0;
    for (index, topology) in topologies.iter().enumerate() {
        if topology.is_empty() {
            return Err(Refusal::new(ToolCode::EmptyTopology).numbers(wide(index), 0));
        }
        let count = match rule {
            WorldSizeRule::LargestGroup => topology.iter().map(Vec::len).max().map_or(0, wide),
            WorldSizeRule::TotalWorkers => workers(topology),
        };
        if agreed != 0 && count != agreed {
            return Err(Refusal::new(ToolCode::UnequalTopologies).numbers(agreed, count));
        }
        agreed = count;
    }
    Ok(agreed)
}

fn workers(topology: &[Vec<u64>]) -> u64 {
    topology.iter().map(|group| wide(group.len())).sum()
}

fn by_pairs(sets: &Numbers) -> Result<u64, Refusal> {
    let Some(&highest) = sets.iter().flatten().flatten().max() else { return Ok(0) };
    let too_large = || Refusal::new(ToolCode::WorldTooLarge).numbers(highest, 0);
    highest.checked_add(1).ok_or_else(too_large)
}

fn explicit(root: Element<'_>) -> Result<u64, Refusal> {
    const KEY: &str = "#rank_world_size";
    let Some(value) = root.get(KEY) else { return Ok(0) };
    value.u64().map_err(|wrong| Refusal::mismatch(KEY, wrong))
}

fn wide(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// Three levels of ranks. A list with fewer levels is the innermost ones of a single topology:
/// `[0, 1]` is one group, `[[0, 1], [2, 3]]` one topology. `[[]]` is a topology without groups.
fn cube(root: Element<'_>, key: &str) -> Result<Option<Numbers>, Refusal> {
    let Some(value) = root.get(key) else { return Ok(None) };
    cube_of(value).map(Some).map_err(|wrong| Refusal::mismatch(key, wrong))
}

fn cube_of(value: Element<'_>) -> Result<Numbers, Mismatch> {
    let is_group =
        |list: Element<'_>| list.items().is_ok_and(|mut items| items.any(|item| item.kind() == Kind::Number));
    if is_group(value) {
        return Ok(vec![vec![group(value)?]]);
    }
    if value.items()?.any(is_group) {
        return Ok(vec![topology(value)?]);
    }
    value.items()?.map(topology).collect()
}

fn topology(groups: Element<'_>) -> Result<Vec<Vec<u64>>, Mismatch> {
    groups.items()?.map(group).collect()
}

fn group(ranks: Element<'_>) -> Result<Vec<u64>, Mismatch> {
    ranks.items()?.map(Element::u64).collect()
}
