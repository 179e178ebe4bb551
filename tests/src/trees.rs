//! The sample trees and their mutation cases, as members in memory.

use crate::shared;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Member name to content.
pub type MemberMap = BTreeMap<Vec<u8>, Vec<u8>>;

/// An unpacked NEFF.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Its members.
    pub members: MemberMap,
}

impl Tree {
    /// Reads a folder; names are paths below it.
    ///
    /// # Panics
    /// If it cannot be read.
    #[must_use]
    pub fn read(folder: &Path) -> Self {
        let mut tree = Self::default();
        tree.add(folder, "");
        tree
    }

    fn add(&mut self, folder: &Path, prefix: &str) {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                self.add(&entry.path(), &format!("{name}/"));
            } else {
                let content = fs::read(entry.path()).expect("a readable file");
                self.members.insert(name.into_bytes(), content);
            }
        }
    }

    /// Applies one operation of `cases.json`: on members, or a JSON patch on one.
    ///
    /// # Panics
    /// If the operation does not fit the tree.
    pub fn apply(&mut self, op: &Value) {
        let text = |key: &str| op[key].as_str().expect(key);
        let member = || text("member").as_bytes().to_vec();
        match text("op") {
            "remove_member" => drop(self.members.remove(&member()).expect("the member")),
            "rename_member" => {
                let content = self.members.remove(&member()).expect("the member");
                self.members.insert(text("to").as_bytes().to_vec(), content);
            }
            "add_member" => {
                let json = || serde_json::to_vec(&op["json"]).expect("JSON");
                let content = op["text"].as_str().map_or_else(json, |text| text.as_bytes().to_vec());
                self.members.insert(member(), content);
            }
            "truncate_member" => {
                let bytes = usize::try_from(op["to_bytes"].as_u64().expect("a length"));
                self.content(&member()).truncate(bytes.expect("a length"));
            }
            "prepend_hex" => {
                let bytes = unhex(text("hex"));
                self.content(&member()).splice(0..0, bytes);
            }
            _ => self.patch(op),
        }
    }

    fn content(&mut self, member: &[u8]) -> &mut Vec<u8> {
        self.members.get_mut(member).expect("the member")
    }

    fn patch(&mut self, op: &Value) {
        let content = self.content(op["file"].as_str().expect("file").as_bytes());
        let mut document: Value = serde_json::from_slice(content).expect("JSON");
        let path = op["path"].as_str().expect("path");
        let (parent, key) = path.rsplit_once('/').expect("a pointer");
        let key = key.replace("~1", "/").replace("~0", "~");
        let parent = document.pointer_mut(parent).expect("the parent");
        change(parent, &key, op["op"].as_str().expect("op"), op["value"].clone());
        *content = serde_json::to_vec(&document).expect("JSON");
    }
}

fn change(parent: &mut Value, key: &str, op: &str, value: Value) {
    match (parent, op) {
        (Value::Object(map), "remove") => drop(map.shift_remove(key).expect("the key")),
        (Value::Object(map), _) => drop(map.insert(key.to_owned(), value)),
        (Value::Array(list), "remove") => drop(list.remove(key.parse().expect("an index"))),
        (Value::Array(list), "add") if key == "-" => list.push(value),
        (Value::Array(list), "add") => list.insert(key.parse().expect("an index"), value),
        (Value::Array(list), _) => list[key.parse::<usize>().expect("an index")] = value,
        (other, _) => panic!("no container: {other}"),
    }
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).expect("hex"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("hex")).collect()
}

/// One mutation case, its operations applied.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the tree before its mutation.
    pub of: String,
    /// The mutated tree.
    pub tree: Tree,
    /// What to ask: `load`, `neffinfo`, `memory` or `getCCRankWorldSize`.
    pub call: String,
    /// Architecture number of the host.
    pub host_arch: u64,
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// What must come out.
    pub expect: Value,
}

impl Case {
    /// The case with that id; `None` where there is no shared data.
    ///
    /// # Panics
    /// If there is no such case, or it does not fit its tree.
    #[must_use]
    pub fn read(id: &str) -> Option<Self> {
        let samples = shared()?.join("samples");
        let text = fs::read(samples.join("cases.json")).ok()?;
        let document: Value = serde_json::from_slice(&text).expect("JSON");
        let cases = document["cases"].as_array().expect("cases");
        let case = cases.iter().find(|case| case["id"] == id).expect("a case of that id");
        Some(Self::apply(case))
    }

    /// All cases with their ids; empty where there is no shared data.
    ///
    /// # Panics
    /// If one does not fit its tree.
    #[must_use]
    pub fn all() -> Vec<(String, Self)> {
        let text = shared().and_then(|shared| fs::read(shared.join("samples").join("cases.json")).ok());
        let Some(text) = text else { return Vec::new() };
        let document: Value = serde_json::from_slice(&text).expect("JSON");
        let cases = document["cases"].as_array().expect("cases").iter();
        cases.map(|case| (case["id"].as_str().expect("an id").to_owned(), Self::apply(case))).collect()
    }

    fn apply(case: &Value) -> Self {
        let samples = shared().expect("shared data").join("samples");
        let name = case["tree"].as_str().expect("a tree");
        let mut tree = Tree::read(&samples.join(name).join("neff"));
        case["ops"].as_array().into_iter().flatten().for_each(|op| tree.apply(op));
        let env = case["env"].as_object().into_iter().flatten();
        let set = |(name, value): (&String, &Value)| {
            (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        Self {
            of: name.to_owned(),
            tree,
            call: case["call"].as_str().expect("a call").to_owned(),
            host_arch: case["host_arch"].as_u64().expect("an architecture"),
            env: env.map(set).collect(),
            expect: case["expect"].clone(),
        }
    }
}
