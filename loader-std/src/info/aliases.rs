//! Which output reuses the buffer of which input (manifests.md §17).

use crate::refusal::{Refusal, required, string};
use loader_core::error::ToolCode;
use loader_core::json::{Element, Items};
use std::collections::BTreeMap;

/// Input name to output name.
pub type Aliases = BTreeMap<String, String>;

/// The pairs of a tensor map; empty if it has no `alias_map`, as in every real file.
pub(super) fn read(root: Element<'_>) -> Result<Aliases, Refusal> {
    let mut aliases = Aliases::new();
    for entry in entries(root)?.into_iter().flatten() {
        let name = |key| required(entry, key).and_then(|value| string(key, value));
        if aliases.insert(name("input_name")?, name("output_name")?).is_some() {
            return Err(Refusal::new(ToolCode::ManyAliases));
        }
    }
    Ok(aliases)
}

/// True if an entry or the map as a whole says `must_alias` (§17.2).
pub(super) fn must(root: Element<'_>) -> Result<bool, Refusal> {
    if flag(root)? {
        return Ok(true);
    }
    for entry in entries(root)?.into_iter().flatten() {
        if flag(entry)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn flag(object: Element<'_>) -> Result<bool, Refusal> {
    let Some(value) = object.get("must_alias") else { return Ok(false) };
    value.flag().map_err(|wrong| Refusal::mismatch("must_alias", wrong))
}

fn entries(root: Element<'_>) -> Result<Option<Items<'_>>, Refusal> {
    let Some(map) = root.get("alias_map") else { return Ok(None) };
    map.items().map(Some).map_err(|wrong| Refusal::mismatch("alias_map", wrong))
}
