//! After all subgraphs: owners of `remote` variables (manifests.md §7.9).

use super::build::{Build, broken, fault, id};
use super::class::VarClass;
use super::definition::Definition;
use super::kelf::decimal;
use super::record::{DefRecord, Text, VarRecord, nth, var_flag};
use crate::arena::{Tail, TailRef};
use crate::error::{Error, ManifestCode};
use zerocopy::little_endian::{U32, U64};

/// Resolves every `remote` variable to its owner.
pub(super) fn remotes(build: &mut Build<'_, '_>, graphs: u32) -> Result<(), Error> {
    for graph in 0..graphs {
        let def = build.def(graph).ok_or_else(|| broken("a definition"))?;
        let (vars, member) = (def.vars, id(def.member.get()));
        for at in 0..vars.len() {
            let tail = build.arena.tail();
            let record = vars.get::<VarRecord>(tail, at).ok_or_else(|| broken("a variable"))?;
            if VarClass::from_code(record.class) != Some(VarClass::Remote) {
                continue;
            }
            let owners = Owners { tail, definitions: build.definitions, graphs, graph };
            let (subgraph, var_id) = owners.of(record).map_err(|error| {
                let error = error.name(record.name.get(tail)).member(member).element(at);
                error.subgraph(u8::try_from(graph).unwrap_or(u8::MAX))
            })?;
            let record = vars.get_mut::<VarRecord>(build.arena, at).ok_or_else(|| broken("a variable"))?;
            record.c = U32::new(subgraph);
            record.d = U32::new(var_id);
            record.a = U64::ZERO;
        }
    }
    Ok(())
}

/// Where the owners of one subgraph's remote variables are looked for.
struct Owners<'a> {
    tail: Tail<'a>,
    definitions: TailRef,
    graphs: u32,
    /// The subgraph of the remote variable.
    graph: u32,
}

impl<'a> Owners<'a> {
    fn refused(&self, code: ManifestCode, subgraph: u32) -> Error {
        fault(code).numbers(0, u64::from(self.graphs.saturating_sub(1))).third(u64::from(subgraph))
    }

    /// Subgraph and id of the owner: by explicit keys, else by the name's form, else by the same name in the only other
    /// subgraph; what they say of it must be the same (lowering.md §9.3).
    fn of(&self, record: &VarRecord) -> Result<(u32, u32), Error> {
        let name = record.name.get(self.tail);
        let by_key = zerocopy::transmute_ref!(&record.a);
        let by_key: &[u8] = Text::get(by_key, self.tail);
        let key = |flag: u8, word: U32| (record.flags & flag != 0).then_some(word.get());
        let form = braced(name).or_else(|| suffixed(name));
        let single = (self.graphs <= 2).then(|| self.graph.checked_sub(1).unwrap_or(1));
        let subgraph =
            key(var_flag::REMOTE_GRAPH, record.c).or(form.map(|(_, subgraph)| subgraph)).or(single);
        let subgraph = subgraph.ok_or_else(|| self.refused(ManifestCode::RemoteUnresolved, 0))?;
        let owner = self.other(subgraph)?;
        let base = form.map_or(name, |(base, _)| base);
        let named = if by_key.is_empty() { base } else { by_key };
        let id = key(var_flag::REMOTE_ID, record.d).or_else(|| owner.var_id(named));
        let found = self.owned(owner, subgraph, id)?;
        let agree = match form {
            Some((base, named)) => named == subgraph && owner.var_id(base) == id,
            None => single != Some(subgraph) || owner.var_id(name).is_none_or(|same| Some(same) == id),
        };
        if !agree || !by_key.is_empty() && owner.var_id(by_key) != id {
            return Err(self.refused(ManifestCode::RemoteSources, subgraph));
        }
        Ok(found)
    }

    /// Another subgraph.
    fn other(&self, subgraph: u32) -> Result<Definition<'a>, Error> {
        let absent = || self.refused(ManifestCode::RemoteSubgraph, subgraph);
        if subgraph >= self.graphs {
            return Err(absent());
        }
        if subgraph == self.graph {
            return Err(self.refused(ManifestCode::RemoteOwn, subgraph));
        }
        let record = self.tail.get::<DefRecord>(nth::<DefRecord>(self.definitions, subgraph));
        Ok(Definition::new(self.tail, record.ok_or_else(absent)?))
    }

    /// A variable of that subgraph that is there itself.
    fn owned(&self, owner: Definition<'a>, subgraph: u32, id: Option<u32>) -> Result<(u32, u32), Error> {
        let found = id.and_then(|id| Some((id, owner.var_record(owner.var_index(id)?)?)));
        let missing = || self.refused(ManifestCode::RemoteUnresolved, subgraph);
        let (id, record) = found.ok_or_else(missing)?;
        if VarClass::from_code(record.class) == Some(VarClass::Remote) {
            let error = self.refused(ManifestCode::RemoteChain, subgraph);
            return Err(error.name2(record.name.get(self.tail)));
        }
        Ok((subgraph, id))
    }
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

#[cfg(test)]
mod tests;
