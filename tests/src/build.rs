//! Builds NEFF trees the way compilers lay them out (manifests.md §2, real-files.md §3 to §5).
//!
//! A [`Tree`] maps member names to bytes; [`Core`] makes the members of one subgraph, [`Graph`] those of
//! the root, and [`to_neff`] packs a tree into a file. Nothing is checked: a test that wants a faulty
//! file edits the tree, or the JSON in it with [`edit_json`].

mod core;
mod descriptor;
mod graph;
pub mod npy;
pub mod slot;

pub use core::Core;
pub use descriptor::{Descriptor, End};
pub use graph::{Graph, Tensor};

use loader_std::pack::{Options, PackError, pack};
use serde_json::Value;
use std::collections::BTreeMap;

/// Member names and their bytes.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// Packs a tree: members sorted by name, those of `first` before and those of `last` after all others.
///
/// # Errors
/// As [`pack`].
pub fn to_neff(tree: &Tree, first: &[&str], last: &[&str], options: &Options) -> Result<Vec<u8>, PackError> {
    let place = |name: &str| {
        let early = first.iter().position(|other| *other == name);
        let late = last.iter().position(|other| *other == name);
        match (early, late) {
            (Some(n), _) => (0, n),
            (None, None) => (1, 0),
            (None, Some(n)) => (2, n),
        }
    };
    let mut members: Vec<(&String, &Vec<u8>)> = tree.iter().collect();
    members.sort_by_key(|(name, _)| (place(name), *name));
    pack(members, options)
}

/// Parses a JSON member, lets `change` edit it and writes it back.
///
/// # Panics
/// If the member is absent or is not JSON.
pub fn edit_json(tree: &mut Tree, member: &str, change: impl FnOnce(&mut Value)) {
    let bytes = tree.get_mut(member).unwrap_or_else(|| panic!("no member {member}"));
    let mut value = serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("{member}: {error}"));
    change(&mut value);
    *bytes = json_bytes(&value);
}

/// A JSON document as a member.
#[must_use]
pub fn json_bytes(value: &Value) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Reproducible bytes without meaning: constants, tables and operands.
#[must_use]
pub fn filler(seed: u32, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 11) as u8
    };
    (0..len).map(|_| next()).collect()
}
