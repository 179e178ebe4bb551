//! What a file's manifests say, as JSON: the part of `inspect --json` that S2 fills.
//!
//! Names in a file are bytes; bytes that are not UTF-8 are shown as `\xNN`.

mod document;
mod subgraph;

pub use document::{Question, document, document_beside};

use loader_core::container::MemberTable;
use loader_core::error::{Error, Notes};
use loader_core::manifest::{Kelf, Manifest, Tensor};
use loader_core::source::MemberId;
use serde_json::{Map, Value, json};

/// Bytes as text.
fn text(bytes: &[u8]) -> Value {
    Value::String(crate::container::text(bytes))
}

/// A member's name; null without one.
fn name(table: &MemberTable<'_>, id: Option<MemberId>) -> Value {
    let member = id.and_then(|id| table.get(id));
    member.map_or(Value::Null, |member| text(member.name))
}

/// The keys `manifest`, `kelf`, `io` and `subgraphs`.
#[must_use]
pub fn manifest_json(manifest: &Manifest<'_>, table: &MemberTable<'_>) -> Map<String, Value> {
    let subgraphs: Vec<Value> =
        manifest.definitions().map(|definition| subgraph::json(manifest, &definition, table)).collect();
    let io = manifest.io();
    let inputs: Vec<Value> = io.inputs().map(tensor).collect();
    let outputs: Vec<Value> = io.outputs().map(tensor).collect();
    let mut report = Map::new();
    report.insert("manifest".to_owned(), name(table, Some(manifest.graph_member())));
    report.insert("kelf".to_owned(), kelf(manifest, &manifest.kelf()));
    report.insert("io".to_owned(), json!({ "inputs": inputs, "outputs": outputs }));
    report.insert("subgraphs".to_owned(), Value::Array(subgraphs));
    report
}

fn kelf(manifest: &Manifest<'_>, kelf: &Kelf<'_>) -> Value {
    let version = kelf.version();
    let graphs: Vec<Value> = manifest
        .definitions()
        .map(|definition| {
            json!({
                "name": text(definition.name()),
                "definition": text(definition.path()),
                "dir": text(definition.dir()),
                "base": text(definition.base()),
            })
        })
        .collect();
    json!({
        "member": text(kelf.member_name()),
        "version": {
            "text": text(version.text),
            "major": version.major,
            "minor": version.minor,
            "suffix": text(version.suffix),
        },
        "target": {
            "text": kelf.target_text().map(text),
            "arch": kelf.arch().map(loader_core::arch::Arch::number),
        },
        "graphs": graphs,
        "node": text(kelf.node()),
    })
}

fn tensor(tensor: Tensor<'_>) -> Value {
    let shape: Vec<u32> = tensor.shape.iter().map(|dim| dim.get()).collect();
    json!({
        "name": text(tensor.name),
        "eid": tensor.eid,
        "dtype": text(tensor.dtype),
        "dtype_code": tensor.dtype_code,
        "shape": shape,
        "size": tensor.size,
    })
}

/// The key `warnings`: the texts of the remarks that were made.
#[must_use]
pub fn warnings_json(remarks: &[Error]) -> Value {
    remarks.iter().map(|remark| Value::String(remark.log().to_string())).collect()
}

/// Keeps every remark.
#[derive(Debug, Default)]
pub struct Remarks(pub Vec<Error>);

impl Notes for Remarks {
    fn note(&mut self, note: Error) {
        self.0.push(note);
    }
}
