//! The chain of names from the graph manifest to the subgraphs, as a tool follows it: everything
//! that a question needs, nothing that only a load needs (manifests.md §4, §5).

use crate::members::Members;
use crate::refusal::{Refusal, required, string};
use loader_core::error::{Error, ManifestCode, Stage};
use loader_core::json::{Element, check_size};
use loader_core::limits::Limits;

/// One entry of the KELF descriptor's `graphs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Graph {
    /// Its name.
    pub(crate) name: String,
    /// The member that defines it.
    pub(crate) definition: String,
}

impl Graph {
    /// The name of a member in the subgraph's directory (§2.2: split at the last slash).
    pub(crate) fn member(&self, name: &str) -> String {
        format!("{}{name}", self.prefix())
    }

    /// The directory with its slash; empty if the definition has none.
    pub(crate) fn prefix(&self) -> &str {
        self.definition.rfind('/').map_or("", |slash| &self.definition[..=slash])
    }

    /// True if that member lies in the subgraph's directory.
    pub(crate) fn holds(&self, member: &[u8]) -> bool {
        match self.prefix() {
            "" => !member.contains(&b'/'),
            prefix => member.starts_with(prefix.as_bytes()),
        }
    }
}

/// The validated root of a member.
pub(crate) fn document<'m>(members: &'m impl Members, name: &[u8]) -> Result<Element<'m>, Refusal> {
    let content = members.content(name).ok_or_else(|| Refusal::absent(name).of(name))?;
    parse(name, content).map_err(|refusal| refusal.of(name))
}

/// The validated root of a document: an object within the limits (§3).
pub(crate) fn parse<'m>(name: &[u8], content: &'m [u8]) -> Result<Element<'m>, Refusal> {
    let limits = Limits::DEFAULT;
    check_size(name, u64::try_from(content.len()).unwrap_or(u64::MAX), &limits)?;
    let root = Element::parse(content, &limits)?;
    let no_object = |wrong: loader_core::json::Mismatch| {
        Refusal::from(wrong.error(Stage::Tool, ManifestCode::JsonMalformed))
    };
    root.fields().map_err(no_object)?;
    Ok(root)
}

/// The graph manifest: its name and root (§4.1).
pub(crate) fn manifest<'m>(members: &'m impl Members) -> Result<(&'static str, Element<'m>), Refusal> {
    for name in ["neff.json", "kelp.json"] {
        if members.content(name.as_bytes()).is_some() {
            return Ok((name, document(members, name.as_bytes())?));
        }
    }
    Err(Error::new(Stage::Tool, ManifestCode::GraphMissing).name(b"NEFF").into())
}

/// The `attrs` of every executable node of a graph manifest, in order (§4.4).
pub(crate) fn kelf_nodes(manifest: Element<'_>) -> impl Iterator<Item = Element<'_>> {
    let nodes = manifest.get("nodes").and_then(|nodes| nodes.items().ok());
    nodes.into_iter().flatten().filter_map(|node| node.get("attrs")).filter(|attrs| {
        let name = attrs.get("func_name").and_then(|name| name.text().ok());
        name.is_some_and(|name| name.is(b"__kelf"))
    })
}

/// The KELF descriptor's member name.
pub(crate) fn kelf_member(members: &impl Members) -> Result<String, Refusal> {
    let (name, root) = manifest(members)?;
    kelf_of(root).map_err(|refusal| refusal.of(name.as_bytes()))
}

fn kelf_of(manifest: Element<'_>) -> Result<String, Refusal> {
    let fault = |code| Refusal::from(Error::new(Stage::Tool, code));
    let attrs = kelf_nodes(manifest).next().ok_or_else(|| fault(ManifestCode::KelfNodeMissing))?;
    let kelf = attrs.get("kelf").ok_or_else(|| fault(ManifestCode::KelfAttrMissing))?;
    string("kelf", kelf).map_err(|_| fault(ManifestCode::KelfAttrType))
}

/// The subgraphs that the descriptor lists, in its order (§5.5).
pub(crate) fn graphs(members: &impl Members) -> Result<Vec<Graph>, Refusal> {
    graphs_of(members, &kelf_member(members)?)
}

/// The subgraphs that the descriptor of that name lists.
pub(crate) fn graphs_of(members: &impl Members, kelf: &str) -> Result<Vec<Graph>, Refusal> {
    let root = document(members, kelf.as_bytes())?;
    listed(root).map_err(|refusal| refusal.of(kelf.as_bytes()))
}

fn listed(kelf: Element<'_>) -> Result<Vec<Graph>, Refusal> {
    let graphs = required(kelf, "graphs")?;
    let items = graphs.items().map_err(|wrong| Refusal::mismatch("graphs", wrong))?;
    items.map(graph).collect()
}

fn graph(entry: Element<'_>) -> Result<Graph, Refusal> {
    let text = |key| required(entry, key).and_then(|value| string(key, value));
    Ok(Graph { name: text("name")?, definition: text("definition")? })
}
