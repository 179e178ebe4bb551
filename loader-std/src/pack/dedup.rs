//! Constants with the same content share one member, as a compiler's packager makes them (manifests.md §7.7).
//!
//! A constant is unwrapped or not by its name's ending (§15.2), so only members of the same kind can stand for each
//! other: a raw one with the bytes of an `.npy` file is that file, header and all, on the device.

use super::{PackError, graphs, is_debug_member};
use crate::chain::{self, Graph};
use crate::members::Members;
use crate::refusal::Refusal;
use loader_core::json::Element;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// What sharing does to a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// Definitions with other names of constants, and as they were in every other byte.
    pub definitions: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Members that are no longer needed.
    pub dropped: BTreeSet<Vec<u8>>,
    /// Their bytes.
    pub saved: u64,
}

/// Points the constants of each definition that have the same content to one member: the first by name. `digest` gives
/// a digest of a member's content. A member that something else names as well is not dropped.
///
/// # Errors
/// [`PackError::Unread`] for a definition that cannot be read; those of `digest`.
pub fn share<M: Members>(
    members: &M,
    mut digest: impl FnMut(&[u8]) -> io::Result<[u8; 32]>,
) -> Result<Shared, PackError> {
    let graphs = graphs(members)?;
    let by_member: BTreeMap<&str, &Graph> =
        graphs.iter().map(|graph| (graph.definition.as_str(), graph)).collect();
    let (mut shared, mut needed) = (Shared::default(), BTreeSet::new());
    for graph in by_member.into_values() {
        let definition = Definition::read(members, graph)?;
        let moved = definition.moved(members, &mut digest)?;
        for (name, _) in &definition.constants {
            match moved.get(name) {
                Some((kept, _)) => {
                    shared.dropped.insert(definition.member(name));
                    needed.insert(definition.member(kept));
                }
                None => drop(needed.insert(definition.member(name))),
            }
        }
        if !moved.is_empty() {
            shared.definitions.insert(graph.definition.as_bytes().to_vec(), definition.rewritten(&moved));
        }
    }
    shared.dropped.retain(|member| !needed.contains(member));
    let named = named_elsewhere(members, &shared);
    shared.dropped.retain(|member| !named.contains(member));
    shared.saved = shared.dropped.iter().filter_map(|member| members.size(member)).sum();
    Ok(shared)
}

/// Names that give way, each with the one that takes its place and how that stands in the definition.
type Moved<'a> = BTreeMap<Vec<u8>, (Vec<u8>, Element<'a>)>;

/// Names that may have the same content, and how they stand in the definition.
type Alike<'n, 'a> = Vec<(&'n Vec<u8>, Element<'a>)>;

/// The constants of a definition.
struct Definition<'a> {
    /// Where their members lie; ends in `/` or is empty.
    folder: &'a str,
    bytes: &'a [u8],
    /// Names of files, and how and where they stand.
    constants: Vec<(Vec<u8>, Element<'a>)>,
}

impl<'a> Definition<'a> {
    fn read(members: &'a impl Members, graph: &'a Graph) -> Result<Self, Refusal> {
        let member = graph.definition.as_bytes();
        let root = chain::document(members, member)?;
        let table = root.get("var").map(Element::fields).transpose();
        let table = table.map_err(|wrong| Refusal::mismatch("var", wrong).of(member))?;
        let mut constants = Vec::new();
        for (_, variable) in table.into_iter().flatten() {
            let class = variable.get("type").and_then(|class| class.text().ok());
            if class.is_some_and(|class| class.is(b"file"))
                && let Some(file) = variable.get("file_name")
            {
                let name = file.text().map_err(|wrong| Refusal::mismatch("file_name", wrong).of(member))?;
                constants.push((name.bytes().collect(), file));
            }
        }
        let bytes = members.content(member).unwrap_or_default();
        Ok(Self { folder: graph.prefix(), bytes, constants })
    }

    fn member(&self, name: &[u8]) -> Vec<u8> {
        [self.folder.as_bytes(), name].concat()
    }

    /// Which names give way to which. Only what has kind and size in common is read.
    fn moved(
        &self,
        members: &impl Members,
        digest: &mut impl FnMut(&[u8]) -> io::Result<[u8; 32]>,
    ) -> io::Result<Moved<'a>> {
        let names: BTreeMap<&Vec<u8>, Element<'a>> =
            self.constants.iter().map(|(name, token)| (name, *token)).collect();
        let mut alike: BTreeMap<(bool, u64), Alike<'_, 'a>> = BTreeMap::new();
        for (name, token) in names {
            if let Some(size) = members.size(&self.member(name)) {
                alike.entry((name.ends_with(b".npy"), size)).or_default().push((name, token));
            }
        }
        let mut moved = Moved::new();
        for group in alike.into_values().filter(|group| group.len() > 1) {
            let mut kept: BTreeMap<[u8; 32], (&Vec<u8>, Element<'a>)> = BTreeMap::new();
            for (name, token) in group {
                let (first, token) = *kept.entry(digest(&self.member(name))?).or_insert((name, token));
                if first != name {
                    moved.insert(name.clone(), (first.clone(), token));
                }
            }
        }
        Ok(moved)
    }

    /// The definition with the names that took the place of others.
    fn rewritten(&self, moved: &Moved<'a>) -> Vec<u8> {
        let mut places: Vec<(usize, usize, &[u8])> = Vec::new();
        for (name, token) in &self.constants {
            if let (Some((_, kept)), Ok(start)) = (moved.get(name), usize::try_from(token.offset())) {
                places.push((start, start + token.bytes().len(), kept.bytes()));
            }
        }
        places.sort_unstable();
        let (mut out, mut at) = (Vec::with_capacity(self.bytes.len()), 0);
        for (start, end, kept) in places {
            out.extend_from_slice(&self.bytes[at..start]);
            out.extend_from_slice(kept);
            at = end;
        }
        out.extend_from_slice(&self.bytes[at..]);
        out
    }
}

/// Members to drop that a document names, in its folder or in whole: tables of an engine, say. Documents that are there
/// for debugging alone do not count.
fn named_elsewhere<M: Members>(members: &M, shared: &Shared) -> BTreeSet<Vec<u8>> {
    let mut named = BTreeSet::new();
    if shared.dropped.is_empty() {
        return named;
    }
    for document in members.names().filter(|name| name.ends_with(b".json") && !is_debug_member(name)) {
        let content =
            shared.definitions.get(document).map(Vec::as_slice).or_else(|| members.content(document));
        let folder = document.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        for word in content.unwrap_or_default().split(|&byte| byte == b'"') {
            for member in [word.to_vec(), [&document[..folder], word].concat()] {
                if shared.dropped.contains(&member) {
                    named.insert(member);
                }
            }
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::{Shared, share};
    use crate::pack::PackError;
    use serde_json::json;
    use sha2::{Digest, Sha256};
    use std::collections::BTreeMap;

    type Tree = BTreeMap<Vec<u8>, Vec<u8>>;

    fn tree(definition: &str, files: &[(&str, u8)]) -> Tree {
        let graph = json!({"nodes": [{"attrs": {"func_name": "__kelf", "kelf": "kelf-0.json"}}]});
        let kelf = json!({"graphs": [{"name": "sg00", "definition": "sg00/other.json"}]});
        let documents = [
            ("neff.json", graph.to_string()),
            ("kelf-0.json", kelf.to_string()),
            ("sg00/other.json", definition.to_owned()),
        ];
        let mut tree: Tree =
            documents.map(|(name, text)| (name.as_bytes().to_vec(), text.into_bytes())).into_iter().collect();
        tree.extend(files.iter().map(|(name, byte)| (format!("sg00/{name}").into_bytes(), vec![*byte; 40])));
        tree
    }

    fn shared(tree: &Tree) -> Result<Shared, PackError> {
        share(tree, |member| Ok(Sha256::digest(&tree[member]).into()))
    }

    #[test]
    fn equal_constants_share_the_first_member() {
        // With a byte order mark, a key twice and an escape: all of it stays.
        let before = "\u{feff}{\"x\": 1, \"x\": 2.50,\n \"var\": {
            \"a\": {\"type\": \"file\", \"file_name\": \"a.npy\"},
            \"b\": {\"file_name\": \"b\\u002enpy\", \"type\": \"file\"},
            \"c\": {\"type\": \"file\", \"file_name\": \"c.npy\"},
            \"d\": {\"type\": \"file\", \"file_name\": \"absent.npy\"},
            \"e\": {\"type\": \"file\", \"file_name\": \"b.npy\"}}}";
        let tree = tree(before, &[("a.npy", 1), ("b.npy", 1), ("c.npy", 2)]);
        let shared = shared(&tree).unwrap();
        assert_eq!(shared.saved, 40);
        assert_eq!(shared.dropped.iter().collect::<Vec<_>>(), [&b"sg00/b.npy".to_vec()]);
        let after = before.replace("b\\u002enpy", "a.npy").replace("\"b.npy\"", "\"a.npy\"");
        let rewritten = String::from_utf8(shared.definitions[&b"sg00/other.json"[..]].clone()).unwrap();
        assert_eq!(rewritten, after);
    }

    #[test]
    fn a_raw_constant_is_no_array() {
        let definition = json!({"var": {
            "a": {"type": "file", "file_name": "a.npy"}, "b": {"type": "file", "file_name": "b.bin"},
        }});
        let tree = tree(&definition.to_string(), &[("a.npy", 1), ("b.bin", 1)]);
        assert_eq!(shared(&tree).unwrap(), Shared::default());
    }

    #[test]
    fn what_something_else_names_is_not_dropped() {
        let definition = json!({"table": "b.bin", "var": {
            "a": {"type": "file", "file_name": "a.bin"}, "b": {"type": "file", "file_name": "b.bin"},
            "c": {"type": "file", "file_name": "c.bin"},
        }});
        let mut tree = tree(&definition.to_string(), &[("a.bin", 1), ("b.bin", 1), ("c.bin", 1)]);
        tree.insert(b"sg00/tables.json".to_vec(), b"{\"control\": \"c.bin\"}".to_vec());
        let shared = shared(&tree).unwrap();
        assert!(shared.dropped.is_empty() && shared.saved == 0);
        assert_eq!(shared.definitions.len(), 1);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for wrong in ["{", "[]", "{\"var\": 3}", "{\"var\": {\"a\": {\"type\": \"file\", \"file_name\": 3}}}"]
        {
            let refused = shared(&tree(wrong, &[])).unwrap_err().to_string();
            assert!(refused.starts_with("sg00/other.json: "), "{wrong}: {refused}");
        }
        let mut gone = tree("{}", &[]);
        gone.remove(&b"sg00/other.json"[..]);
        assert!(shared(&gone).is_err());
    }
}
