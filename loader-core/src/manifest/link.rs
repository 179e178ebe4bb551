//! After all subgraphs: owners of `remote` variables, number of cores (manifests.md §7.9, §5.6).

use super::build::{Build, broken, fault};
use super::class::VarClass;
use super::definition::Definition;
use super::kelf::decimal;
use super::record::{DefRecord, VarRecord, def_at, var_flag};
use crate::arena::{Tail, TailRef};
use crate::error::{Error, ManifestCode};
use zerocopy::little_endian::U32;

/// Resolves every `remote` variable to its owner.
pub(super) fn remotes(build: &mut Build<'_, '_>, definitions: TailRef, graphs: u32) -> Result<(), Error> {
    for graph in 0..graphs {
        let place = def_at(definitions, graph).ok_or_else(|| broken("a definition"))?;
        let vars = build.arena.tail().get::<DefRecord>(place).ok_or_else(|| broken("a definition"))?.vars;
        for at in 0..vars.len() {
            let tail = build.arena.tail();
            let record = vars.get::<VarRecord>(tail, at).ok_or_else(|| broken("a variable"))?;
            if VarClass::from_code(record.class) != Some(VarClass::Remote) {
                continue;
            }
            let owner = owner(tail, definitions, graphs, graph, record);
            let name = record.name;
            let unresolved = || {
                let error = fault(ManifestCode::RemoteUnresolved).name(name.get(tail)).element(at);
                let error = error.numbers(0, u64::from(graphs.saturating_sub(1)));
                error.subgraph(u8::try_from(graph).unwrap_or(u8::MAX))
            };
            let (subgraph, var_id) = owner.ok_or_else(unresolved)?;
            let record = vars.get_mut::<VarRecord>(build.arena, at).ok_or_else(|| broken("a variable"))?;
            record.c = U32::new(subgraph);
            record.d = U32::new(var_id);
        }
    }
    Ok(())
}

fn definition(tail: Tail<'_>, definitions: TailRef, graph: u32) -> Option<Definition<'_>> {
    Some(Definition::new(tail, tail.get::<DefRecord>(def_at(definitions, graph)?)?))
}

/// Subgraph and id of the owner: by explicit keys, else by the name's form.
fn owner(
    tail: Tail<'_>,
    definitions: TailRef,
    graphs: u32,
    graph: u32,
    record: &VarRecord,
) -> Option<(u32, u32)> {
    let name = record.name.get(tail);
    let other = |subgraph: u32| {
        let valid = subgraph < graphs && subgraph != graph;
        if valid { definition(tail, definitions, subgraph) } else { None }
    };
    let (subgraph, var_id) = if record.flags & var_flag::REMOTE_KEYS != 0 {
        (record.c.get(), record.d.get())
    } else {
        let single = graph.checked_sub(1).unwrap_or(1);
        let named = braced(name).or_else(|| suffixed(name));
        let (owner, subgraph) = named.or_else(|| (graphs == 2).then_some((name, single)))?;
        (subgraph, other(subgraph)?.var_id(owner)?)
    };
    let owner = other(subgraph)?;
    let index = owner.var_index(var_id)?;
    let is_remote = VarClass::from_code(owner.var_record(index)?.class) == Some(VarClass::Remote);
    (!is_remote).then_some((subgraph, var_id))
}

/// `^(.+)\{(\d+)\}$` (R16, seen in real files).
fn braced(name: &[u8]) -> Option<(&[u8], u32)> {
    let inner = name.strip_suffix(b"}")?;
    let open = inner.iter().rposition(|&byte| byte == b'{').filter(|&open| open > 0)?;
    Some((inner.get(..open)?, decimal(inner.get(open.checked_add(1)?..)?)?))
}

/// `^(.+)_remote_([0-9]+)$`, the last `_remote_` counting (manifests.md §7.9, Inferred).
fn suffixed(name: &[u8]) -> Option<(&[u8], u32)> {
    const WORD: &[u8] = b"_remote_";
    let at = name.windows(WORD.len()).rposition(|window| window == WORD).filter(|&at| at > 0)?;
    let digits = name.get(at.checked_add(WORD.len())?..)?;
    Some((name.get(..at)?, decimal(digits)?))
}

/// The number of subgraphs must be 1 or that of the logical core's physical cores.
pub(super) fn core_count(graphs: u32, lnc: Option<u32>) -> Result<(), Error> {
    match lnc {
        Some(available) if graphs != 1 && graphs != available => {
            Err(fault(ManifestCode::CoreCount).numbers(u64::from(graphs), u64::from(available)))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
