//! The manifests as JSON: `manifest`, `kelf`, `io`, `subgraphs` and `warnings` of `inspect --json`.
//!
//! Names in files are bytes; bytes that are not UTF-8 are shown as `\xNN`.

mod engine;
mod graph;
mod subgraph;
mod variable;

use loader_core::error::Error;
use loader_core::manifest::{Definition, Manifest};
use loader_core::source::{MemberId, MemberNames};
use serde_json::{Map, Value, json};

/// Resolves what the values refer to by number.
#[derive(Clone, Copy)]
struct Names<'a, 'm, N> {
    members: &'a N,
    manifest: &'a Manifest<'m>,
}

impl<N: MemberNames> Names<'_, '_, N> {
    fn member(&self, id: MemberId) -> Value {
        self.members.name_of(id).map_or(Value::Null, |name| text(name).into())
    }
}

/// Bytes of a name as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    loader_core::container::Lossless(bytes).to_string()
}

/// The keys that a parsed file has in `inspect --json`, `warnings` included.
#[must_use]
pub fn manifest_json(
    manifest: &Manifest<'_>,
    members: &impl MemberNames,
    notes: &[Error],
) -> Map<String, Value> {
    let names = Names { members, manifest };
    let mut map = Map::new();
    map.insert("manifest".to_owned(), names.member(manifest.graph_member()));
    map.insert("kelf".to_owned(), graph::kelf(manifest));
    map.insert("io".to_owned(), graph::io(manifest));
    let subgraphs: Vec<Value> =
        manifest.definitions().map(|definition| subgraph::subgraph(&definition, &names)).collect();
    map.insert("subgraphs".to_owned(), subgraphs.into());
    map.insert("warnings".to_owned(), warnings_json(notes));
    map
}

/// `warnings`: the text of each remark.
#[must_use]
pub fn warnings_json(notes: &[Error]) -> Value {
    notes.iter().map(|note| Value::from(note.log().to_string())).collect()
}

/// The name of a definition's variable.
fn var_name(definition: &Definition<'_>, id: u32) -> Value {
    definition.var(id).map_or(Value::Null, |var| json!(text(var.name)))
}
