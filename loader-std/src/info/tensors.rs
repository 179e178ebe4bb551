//! `tensor_map.json`, read: both shapes that are known (manifests.md §17, real-files.md §4).

use super::value;
use crate::refusal::{Refusal, required, string};
use loader_core::json::{Element, Kind};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What a tensor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TensorUse {
    /// Read by the model.
    Input,
    /// Written by the model.
    Output,
    /// Part of the model.
    Constant,
}

/// The tensors of a subgraph by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TensorMap {
    /// Each tensor's use.
    pub tensors: BTreeMap<String, TensorUse>,
    /// Each tensor's entry as it stands; the spelling of its keys differs between compilers (Open).
    pub entries: BTreeMap<String, Value>,
}

impl TensorMap {
    /// The names of one use, in byte order.
    pub fn of(&self, wanted: TensorUse) -> impl Iterator<Item = &str> {
        self.tensors.iter().filter(move |(_, kind)| **kind == wanted).map(|(name, _)| name.as_str())
    }

    fn add(&mut self, name: String, kind: TensorUse, entry: Element<'_>) {
        if self.entries.insert(name.clone(), value::of(entry)).is_none() {
            self.tensors.insert(name, kind);
        }
    }
}

/// Reads a tensor map of either shape: lists `inputs` and `outputs`, or one entry per tensor name,
/// which the oldest compiler wraps in `tensor_map`.
pub(super) fn read(root: Element<'_>) -> Result<TensorMap, Refusal> {
    let mut map = TensorMap::default();
    let is_list = |key| root.get(key).is_some_and(|list| list.kind() == Kind::Array);
    if is_list("inputs") || is_list("outputs") || is_list("alias_map") {
        add_list(&mut map, root, "inputs", TensorUse::Input)?;
        add_list(&mut map, root, "outputs", TensorUse::Output)?;
        return Ok(map);
    }
    let wrapped = root.get("tensor_map").filter(|inner| inner.kind() == Kind::Object);
    for (name, entry) in wrapped.unwrap_or(root).fields().into_iter().flatten() {
        map.add(value::characters(name), use_of(entry)?, entry);
    }
    Ok(map)
}

fn add_list(map: &mut TensorMap, root: Element<'_>, key: &str, kind: TensorUse) -> Result<(), Refusal> {
    let Some(list) = root.get(key) else { return Ok(()) };
    for entry in list.items().map_err(|wrong| Refusal::mismatch(key, wrong))? {
        let name = string("name", required(entry, "name")?)?;
        map.add(name, kind, entry);
    }
    Ok(())
}

/// `kind` is absent for constants.
fn use_of(entry: Element<'_>) -> Result<TensorUse, Refusal> {
    entry.fields().map_err(|wrong| Refusal::mismatch("tensor", wrong))?;
    let kind = entry.get("kind").and_then(|kind| kind.text().ok());
    Ok(match kind {
        Some(kind) if kind.is(b"input") => TensorUse::Input,
        Some(kind) if kind.is(b"output") => TensorUse::Output,
        _ => TensorUse::Constant,
    })
}
