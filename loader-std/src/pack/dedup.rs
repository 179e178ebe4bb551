//! Constants with the same content share one member, as a compiler's packager makes them (manifests.md §7.7).

use serde_json::Value;
use std::collections::BTreeMap;

/// What sharing did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// Members that are no longer needed.
    pub dropped: Vec<Vec<u8>>,
    /// Their bytes.
    pub saved: u64,
}

/// Points the constants of one definition that have the same content to one member: the first by name.
/// `content` gives the bytes of a member. The definition lies in folder `dir`, which ends in `/` or is empty.
pub fn share(definition: &mut Value, dir: &[u8], content: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Shared {
    let mut files: Vec<String> = Vec::new();
    let variables = || definition["var"].as_object().into_iter().flat_map(|variables| variables.values());
    for variable in variables().filter(|variable| variable["type"] == "file") {
        if let Some(name) = variable["file_name"].as_str() {
            files.push(name.to_owned());
        }
    }
    files.sort();
    files.dedup();
    let mut first: BTreeMap<Vec<u8>, String> = BTreeMap::new();
    let mut moved: BTreeMap<String, String> = BTreeMap::new();
    let mut shared = Shared::default();
    for name in files {
        let member = [dir, name.as_bytes()].concat();
        let Some(bytes) = content(&member) else { continue };
        let size = bytes.len() as u64;
        match first.get(&bytes) {
            Some(kept) => {
                moved.insert(name, kept.clone());
                shared.dropped.push(member);
                shared.saved += size;
            }
            None => drop(first.insert(bytes, name)),
        }
    }
    for variable in definition["var"].as_object_mut().into_iter().flat_map(|variables| variables.values_mut())
    {
        let kept = variable["file_name"].as_str().and_then(|name| moved.get(name)).cloned();
        if let (Some(kept), "file") = (kept, variable["type"].as_str().unwrap_or_default()) {
            variable["file_name"] = kept.into();
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::share;
    use serde_json::json;

    #[test]
    fn equal_constants_share_the_first_member() {
        let mut definition = json!({"var": {
            "a": {"type": "file", "file_name": "a.npy"},
            "b": {"type": "file", "file_name": "b.npy"},
            "c": {"type": "file", "file_name": "c.npy"},
            "d": {"type": "file", "file_name": "absent.npy"},
            "x": {"type": "input", "file_name": "b.npy"},
        }});
        let shared = share(&mut definition, b"sg00/", |member| match member {
            b"sg00/a.npy" | b"sg00/b.npy" => Some(vec![1; 40]),
            b"sg00/c.npy" => Some(vec![2; 40]),
            _ => None,
        });
        assert_eq!((shared.saved, shared.dropped), (40, vec![b"sg00/b.npy".to_vec()]));
        let names = ["a", "b", "c", "d", "x"].map(|name| definition["var"][name]["file_name"].clone());
        assert_eq!(names, ["a.npy", "a.npy", "c.npy", "absent.npy", "b.npy"]);
    }
}
