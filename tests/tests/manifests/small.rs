//! A small tree of the tests' own, and what a load makes of it.

use loader_core::error::{Code, Error, ManifestCode};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_std::inspect::manifest_json;
use neffload_tests::payload::{Mode, Refused, packed, with_manifest};
use neffload_tests::trees::Tree;
use serde_json::{Value, json};

pub(crate) fn npy(payload: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.resize(128, b' ');
    bytes.extend_from_slice(payload);
    bytes
}

pub(crate) fn add(tree: &mut Tree, name: &str, value: &Value) {
    tree.members.insert(name.as_bytes().to_vec(), serde_json::to_vec(value).unwrap());
}

pub(crate) fn raw(tree: &mut Tree, name: &str, bytes: &[u8]) {
    tree.members.insert(name.as_bytes().to_vec(), bytes.to_vec());
}

/// One subgraph with a variable of most classes, two queue sets, blocks, tables and a library.
pub(crate) fn base() -> Tree {
    let mut tree = Tree::default();
    add(
        &mut tree,
        "neff.json",
        &json!({
            "nodes": [
                {"op": "null", "name": "x", "inputs": []},
                {"op": "tvm_op", "name": "sg_coreV10", "inputs": [[0, 0, 0]], "output_names": ["y"],
                 "attrs": {"func_name": "__kelf", "kelf": "kelf-0.json"}},
            ],
            "arg_nodes": [0],
            "heads": [[1, 0, 0]],
            "node_row_ptr": [0, 1, 2],
            "attrs": {"dltype": ["list_str", ["float32", "float32"]], "shape": ["list_shape", [[8], [8]]]},
        }),
    );
    let graph = json!({"name": "sg00", "definition": "sg00/def.json"});
    add(&mut tree, "kelf-0.json", &json!({"version": "0.5", "target": "mariana", "graphs": [graph]}));
    let access = |from: &str, to: &str| {
        json!({"from": from, "from_off": 0, "from_sizes": [32], "from_steps": [1], "from_dtype": "float32",
               "to": to, "to_off": 0, "to_sizes": [32], "to_steps": [1], "to_dtype": "float32"})
    };
    let block = json!({"id": 0, "queue": "q", "semaphore": 4, "desc": [access("x", "t"), access("t", "y")]});
    add(
        &mut tree,
        "sg00/def.json",
        &json!({
            "name": "definition",
            "version": "0.6",
            "var": {
                "SB": {"type": "state-buffer", "var_id": 0},
                "x": {"type": "input", "var_id": 1, "size": 32},
                "y": {"type": "output", "var_id": 2, "size": 32},
                "t": {"type": "tmp-buf", "var_id": 3, "size": 32, "alignment": 64},
                "v": {"type": "virtual", "var_id": 4, "size": 32, "backing_variable_off": 8},
                "w": {"type": "file", "var_id": 5, "file_name": "w.npy", "size": 16},
                "p": {"type": "pointer", "var_id": 6, "size": 8, "referenced_var_id": 3},
                "l": {"type": "list", "var_id": 7, "list": [3, 4]},
            },
            "dma_queue": {
                "q": {"type": "data", "owner": "pool", "num_queues": 2, "semaphore_set": [4, 5]},
                "r": {"type": "data", "queue_instances": ["r0", "r1"]},
            },
            "ucode_lib": [{"library": "lib.bin", "ulib_to_ucode_version": "1.21.1.0", "opcode": 240,
                           "functions": [{"name": "f", "opcode": 240}]}],
            "runtime_statebuffer_reservation":
                [{"type": "evtaccel", "offset": 8, "size": 8, "base_partition": 0, "partitions": 128}],
            "dma": [block],
            "pool": "Pool0.json",
            "act": "Activation0.json",
            "dve": "DVE0.json",
        }),
    );
    add(&mut tree, "sg00/Pool0.json", &json!({"instr": "Pool0.bin", "dma": [block]}));
    add(
        &mut tree,
        "sg00/Activation0.json",
        &json!({
            "instr": "Activation0.bin", "dma": [], "activation_function_sets": ["gelu"], "act_semaphore": 3,
        }),
    );
    add(&mut tree, "sg00/DVE0.json", &json!({"instr": "DVE0.bin", "dve_tables": {"opcode_table": "op.bin"}}));
    for name in ["Pool0.bin", "Activation0.bin", "DVE0.bin", "op.bin", "gelu_bkt.bin", "gelu_ctrl.bin"] {
        raw(&mut tree, &format!("sg00/{name}"), &[0; 64]);
    }
    raw(&mut tree, "sg00/lib.bin", b"\x7fELF");
    raw(&mut tree, "sg00/w.npy", &npy(&[0; 16]));
    tree
}

pub(crate) type Outcome = Result<Value, Refused>;

pub(crate) fn run(tree: &Tree, policy: &Policy, limits: &Limits, mode: Mode) -> Outcome {
    with_manifest(&packed(&tree.members), policy, limits, mode, |manifest, table, _| {
        Value::Object(manifest_json(manifest, table))
    })
}

pub(crate) fn load(tree: &Tree) -> Outcome {
    run(tree, &Policy::default(), &Limits::DEFAULT, Mode::Resident)
}

pub(crate) fn code(outcome: &Outcome) -> String {
    match outcome {
        Ok(_) => "accepted".to_owned(),
        Err(refused) => refused.0.id().to_string(),
    }
}

pub(crate) const DEF: &str = "sg00/def.json";
pub(crate) const POOL: &str = "sg00/Pool0.json";

/// Puts a value at a path of a member.
pub(crate) fn set(file: &str, path: &str, value: Value) -> Value {
    json!({"file": file, "op": "add", "path": path, "value": value})
}

pub(crate) fn remove(file: &str, path: &str) -> Value {
    json!({"file": file, "op": "remove", "path": path})
}

pub(crate) fn two_graphs() -> Tree {
    let mut tree = base();
    for (name, bytes) in tree.members.clone() {
        let name = String::from_utf8(name).unwrap();
        if let Some(rest) = name.strip_prefix("sg00/") {
            raw(&mut tree, &format!("sg01/{rest}"), &bytes);
        }
    }
    tree.apply(&set("kelf-0.json", "/graphs/-", json!({"name": "sg01", "definition": "sg01/def.json"})));
    tree
}

/// The tree after these operations.
pub(crate) fn changed(ops: &[Value]) -> Tree {
    let mut tree = base();
    ops.iter().for_each(|op| tree.apply(op));
    tree
}

/// A refusal says where, what was expected, and the runtime's number.
pub(crate) fn complete(error: &Error, text: &str) {
    let Code::Manifest(code) = error.code() else { return };
    // Without `neff.json` there is no document to point into, and memory runs out anywhere.
    let nowhere = code == ManifestCode::GraphMissing || code == ManifestCode::ArenaFull;
    assert!(nowhere || error.at().member.is_some(), "no member: {text}");
    assert!(nowhere || error.at().offset.is_some() || error.at().element.is_some(), "no place: {text}");
    assert!(!error.expected().to_string().is_empty(), "nothing expected: {text}");
    assert!([2, 4, 9].contains(&error.status().number()), "status: {text}");
    let gaps = ["{name", "{a}", "{b}", "{c}", "  "];
    assert!(gaps.iter().all(|gap| !text.contains(gap)), "a gap: {text}");
}
