//! `kelf` and `io`.

use super::text;
use loader_core::manifest::{Manifest, Tensor};
use serde_json::{Value, json};

pub(super) fn kelf(manifest: &Manifest<'_>) -> Value {
    let kelf = manifest.kelf();
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

pub(super) fn io(manifest: &Manifest<'_>) -> Value {
    let io = manifest.io();
    let inputs: Vec<Value> = io.inputs().map(|input| tensor(&input)).collect();
    let outputs: Vec<Value> = io.outputs().map(|output| tensor(&output)).collect();
    json!({"inputs": inputs, "outputs": outputs})
}

fn tensor(tensor: &Tensor<'_>) -> Value {
    let shape: Vec<u32> = tensor.shape.iter().map(|extent| extent.get()).collect();
    json!({
        "name": text(tensor.name),
        "eid": tensor.eid,
        "dtype": text(tensor.dtype),
        "dtype_code": tensor.dtype_code,
        "shape": shape,
        "size": tensor.size,
    })
}
