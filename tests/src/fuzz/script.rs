//! Scripts that edit the JSON members of a tree: what a fuzzer changes instead of bytes in an archive.
//!
//! A script is read byte by byte and ends where its bytes end. Every step does something sensible on any
//! tree, so that few inputs are lost to malformed JSON; the steps on written text are what makes some.

use crate::json::Tree;
use std::collections::BTreeMap;

/// A tree whose JSON members are taken apart.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// JSON members.
    pub(super) documents: BTreeMap<String, Tree>,
    /// All others.
    pub(super) blobs: BTreeMap<String, Vec<u8>>,
    /// Every key in the documents, sorted.
    keys: Vec<String>,
    /// Every string in the documents, and the names of all members.
    texts: Vec<String>,
}

impl Parts {
    /// Takes a tree apart.
    pub(super) fn new(members: BTreeMap<String, Vec<u8>>) -> Self {
        let (mut documents, mut blobs) = (BTreeMap::new(), BTreeMap::new());
        let (mut keys, mut texts): (_, Vec<String>) = (Vec::new(), members.keys().cloned().collect());
        for (name, bytes) in members {
            match serde_json::from_slice::<Tree>(&bytes) {
                Ok(document) if name.ends_with(".json") => {
                    document.words(&mut keys, &mut texts);
                    documents.insert(name, document);
                }
                _ => drop(blobs.insert(name, bytes)),
            }
        }
        for words in [&mut keys, &mut texts] {
            words.sort();
            words.dedup();
        }
        Self { documents, blobs, keys, texts }
    }
}

/// What is left of a script.
struct Script<'d>(&'d [u8]);

impl Script<'_> {
    fn ended(&self) -> bool {
        self.0.is_empty()
    }

    fn byte(&mut self) -> usize {
        let Some((&byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(byte)
    }

    fn word(&mut self) -> usize {
        self.byte() | self.byte() << 8
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken.to_vec()
    }

    fn of<'w, T>(&mut self, words: &'w [T]) -> Option<&'w T> {
        let at = if words.len() > 256 { self.word() } else { self.byte() };
        words.get(at.checked_rem(words.len())?)
    }
}

/// Runs a script and returns the members. `gap` is the white space of the documents.
pub(super) fn edited(parts: &Parts, script: &[u8], gap: &str) -> BTreeMap<String, Vec<u8>> {
    let mut parts = parts.clone();
    let mut script = Script(script);
    let mut late = Vec::new();
    while !script.ended() {
        let step = script.byte();
        match step % 16 {
            0..10 => on_value(&mut parts, &mut script, step % 16),
            10 => on_blob(&mut parts, &mut script),
            kind => late.push((kind, script.word(), script.word(), script.word(), late_bytes(&mut script))),
        }
    }
    let mut members = parts.blobs;
    for (name, document) in parts.documents {
        let mut text = Vec::new();
        document.write(gap, &mut text);
        members.insert(name, text);
    }
    late.into_iter().for_each(|step| on_member(&mut members, step));
    members
}

fn late_bytes(script: &mut Script<'_>) -> Vec<u8> {
    let len = script.byte() % 32;
    script.bytes(len)
}

/// A place in a document: a container and a child of it.
fn place<'p>(
    documents: &'p mut BTreeMap<String, Tree>,
    script: &mut Script<'_>,
) -> Option<(&'p mut Tree, usize)> {
    let (document, container, child) = (script.byte(), script.word(), script.byte());
    let number = document.checked_rem(documents.len())?;
    let document = documents.values_mut().nth(number)?;
    let mut left = container.checked_rem(document.containers())?;
    let container = document.container(&mut left)?;
    let len = match container {
        Tree::Array(items) => items.len(),
        Tree::Object(fields) => fields.len(),
        _ => 0,
    };
    Some((container, child.checked_rem(len).unwrap_or(0)))
}

fn value(container: &mut Tree, child: usize) -> Option<&mut Tree> {
    match container {
        Tree::Array(items) => items.get_mut(child),
        Tree::Object(fields) => fields.get_mut(child).map(|(_, value)| value),
        _ => None,
    }
}

fn key(container: &mut Tree, child: usize) -> Option<&mut String> {
    match container {
        Tree::Object(fields) => fields.get_mut(child).map(|(key, _)| key),
        _ => None,
    }
}

/// One step on the value at a place.
fn on_value(parts: &mut Parts, script: &mut Script<'_>, step: usize) {
    let source = (step == 6).then(|| copied(parts, script)).flatten();
    let Parts { documents, keys, texts, .. } = parts;
    let Some((container, child)) = place(documents, script) else { return };
    match step {
        0 => remove(container, child),
        1 => set(container, child, script.of(&ODD).map(|text| Tree::Raw(text.to_vec()))),
        2 => {
            let len = 1 + script.byte() % 8;
            let digits = script.bytes(len).iter().rev().fold(0u64, |n, &byte| n << 8 | u64::from(byte));
            set(container, child, Some(Tree::Unsigned(digits)));
        }
        3 => nudge(container, child, script.byte()),
        4 => {
            let word = script.of(keys).cloned();
            if let (Some(key), Some(word)) = (key(container, child), word) {
                *key = word;
            }
        }
        5 => set(container, child, script.of(texts).cloned().map(Tree::Text)),
        6 => set(container, child, source),
        7 => add(container, script.of(keys).cloned(), script.of(&ODD)),
        8 => again(container, child, script.byte() % 64),
        _ => rotate(container, child),
    }
}

fn copied(parts: &mut Parts, script: &mut Script<'_>) -> Option<Tree> {
    let (container, child) = place(&mut parts.documents, script)?;
    value(container, child).cloned()
}

fn set(container: &mut Tree, child: usize, new: Option<Tree>) {
    if let (Some(value), Some(new)) = (value(container, child), new) {
        *value = new;
    }
}

fn remove(container: &mut Tree, child: usize) {
    match container {
        Tree::Array(items) if child < items.len() => drop(items.remove(child)),
        Tree::Object(fields) if child < fields.len() => drop(fields.remove(child)),
        _ => {}
    }
}

fn nudge(container: &mut Tree, child: usize, by: usize) {
    let by = by as u64;
    if let Some(Tree::Unsigned(number)) = value(container, child) {
        *number = if by < 128 { number.wrapping_add(by) } else { number.wrapping_sub(by - 127) };
    }
}

fn add(container: &mut Tree, key: Option<String>, text: Option<&&[u8]>) {
    let (Some(key), Some(text)) = (key, text) else { return };
    let new = Tree::Raw(text.to_vec());
    match container {
        Tree::Array(items) => items.push(new),
        Tree::Object(fields) => fields.push((key, new)),
        _ => {}
    }
}

/// Repeats an item, or a field under a key of the same length or under the same key.
fn again(container: &mut Tree, child: usize, times: usize) {
    match container {
        Tree::Array(items) => {
            let Some(item) = items.get(child).cloned() else { return };
            items.extend(core::iter::repeat_n(item, times));
        }
        Tree::Object(fields) => {
            let Some((key, value)) = fields.get(child).cloned() else { return };
            let key = |n: usize| if times == 1 { key.clone() } else { format!("{key}{n}") };
            fields.extend((0..times).map(|n| (key(n), value.clone())));
        }
        _ => {}
    }
}

fn rotate(container: &mut Tree, by: usize) {
    match container {
        Tree::Array(items) => items.rotate_left(by),
        Tree::Object(fields) => fields.rotate_left(by),
        _ => {}
    }
}

/// Cuts a blob or changes a byte of it.
fn on_blob(parts: &mut Parts, script: &mut Script<'_>) {
    let (blob, at, byte) = (script.byte(), script.word(), script.byte());
    let Some(number) = blob.checked_rem(parts.blobs.len()) else { return };
    let Some(bytes) = parts.blobs.values_mut().nth(number) else { return };
    let Some(at) = at.checked_rem(bytes.len()) else { return };
    if byte == 0 {
        bytes.truncate(at);
    } else {
        bytes[at] ^= byte as u8;
    }
}

/// One step on written members: of two numbers and some bytes.
fn on_member(members: &mut BTreeMap<String, Vec<u8>>, step: (usize, usize, usize, usize, Vec<u8>)) {
    let (kind, member, at, count, new) = step;
    let name = |number: usize| members.keys().nth(number.checked_rem(members.len())?).cloned();
    let (Some(first), Some(second)) = (name(member), name(at)) else { return };
    match kind {
        11 => drop(members.remove(&first)),
        12 => {
            let content = members.remove(&first).unwrap_or_default();
            members.insert(second, content);
        }
        13 => {
            let content = members[&first].clone();
            members.insert(second, content);
        }
        14 => {
            let new = String::from_utf8_lossy(&new).replace('\0', "_");
            let content = members.remove(&first).unwrap_or_default();
            members.insert(format!("{}x", new.trim_matches('/')), content);
        }
        _ => {
            let Some(text) = members.get_mut(&first) else { return };
            let from = at.checked_rem(text.len()).unwrap_or(0);
            let to = (from + count % 16).min(text.len());
            text.splice(from..to, new);
        }
    }
}

/// Values at edges, and some that are no values.
const ODD: [&[u8]; 44] = [
    b"null",
    b"true",
    b"false",
    b"0",
    b"1",
    b"2",
    b"4",
    b"8",
    b"63",
    b"64",
    b"127",
    b"128",
    b"255",
    b"256",
    b"4095",
    b"65535",
    b"65536",
    b"2147483647",
    b"2147483648",
    b"4294967295",
    b"4294967296",
    b"1099511627776",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"-1",
    b"-0",
    b"0.5",
    b"1.0",
    b"1e3",
    b"1e999",
    b"[]",
    b"{}",
    b"\"\"",
    b"\"0\"",
    b"\"..\"",
    b"\"../x\"",
    b"\"\\u0000\"",
    b"\"\\u00e9\\ud834\\udd1e\"",
    b"[0, 1]",
    b"[[0], [[1]]]",
    b"{\"a\": 1, \"a\": 2}",
    b"tru",
];
