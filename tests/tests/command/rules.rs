//! The rules that `load` takes by name: strict JSON, files of another time or architecture.

use neffload_tests::command::{Scratch, document, neffload, status};
use neffload_tests::payload::packed;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file with one output and this in its definition besides, for that target.
fn file(folder: &Scratch, name: &str, target: &str, besides: &str) -> PathBuf {
    let neff = json!({
        "nodes": [
            {"op": "null", "name": "x"},
            {"op": "tvm_op", "name": "sg_coreV10", "output_names": ["y"],
             "attrs": {"func_name": "__kelf", "kelf": "kelf-0.json"}},
        ],
        "arg_nodes": [0], "heads": [[1, 0, 0]], "node_row_ptr": [0, 1, 2],
        "attrs": {"dltype": ["list_str", ["float32", "float32"]], "shape": ["list_shape", [[8], [8]]]},
    });
    let graph = json!({"name": "sg00", "definition": "sg00/def.json"});
    let kelf = json!({"version": "0.5", "target": target, "graphs": [graph]});
    let def = format!(r#"{{"var":{{"y":{{"type":"output","size":32,"var_id":0}}}}{besides}}}"#);
    let members =
        [("neff.json", neff.to_string()), ("kelf-0.json", kelf.to_string()), ("sg00/def.json", def)];
    let members: BTreeMap<String, Vec<u8>> =
        members.into_iter().map(|(name, text)| (name.to_owned(), text.into_bytes())).collect();
    let path = folder.join(name);
    std::fs::write(&path, packed(&members)).unwrap();
    path
}

/// Exit status and verdict of a load, with `NEURON_RT_ALLOW_LEGACY_NEFF` as given.
fn load(file: &Path, options: &[&str], legacy: &str) -> (i32, Value) {
    let mut command = neffload();
    command.args(["load", "--json"]).args(options).arg(file).env("NEURON_RT_ALLOW_LEGACY_NEFF", legacy);
    let output = command.output().unwrap();
    (status(&output), document(&output)["verdict"].clone())
}

#[test]
fn a_key_twice_is_refused_by_strict_loads_only() {
    let folder = Scratch::new("strict-keys");
    let twice = file(&folder, "twice.neff", "sunda", r#","host":{"a":{"b":1,"b":2}}"#);
    assert_eq!(load(&twice, &[], "").0, 0);
    let (status, verdict) = load(&twice, &["--strict"], "");
    assert_eq!((status, &verdict["code"], &verdict["status"]), (1, &json!("E122"), &json!(2)), "{verdict}");
    assert_eq!(verdict["member"], "sg00/def.json", "{verdict}");
    let once = file(&folder, "once.neff", "sunda", r#","host":{"a":{"b":1,"c":2}}"#);
    assert_eq!(load(&once, &["--strict"], "").0, 0);
}

#[test]
fn files_of_another_time_pass_where_the_caller_says_so() {
    let folder = Scratch::new("legacy");
    let other = file(&folder, "other.neff", "sunda", r#","runtime_statebuffer_reservation":[]"#);
    let bare = file(&folder, "bare.neff", "cayman", "");
    for (file, options, code) in
        [(&other, ["--device", "sim:cayman"], "E203"), (&bare, ["--device", "sim"], "E350")]
    {
        for off in ["", "0"] {
            let (status, verdict) = load(file, &options, off);
            assert_eq!((status, &verdict["code"]), (1, &json!(code)), "{verdict}");
            assert!(verdict["expected"].as_str().is_some_and(|text| !text.is_empty()), "{verdict}");
        }
        for (more, legacy) in [(&[][..], "1"), (&["--allow-legacy"], "")] {
            let (status, verdict) = load(file, &[&options[..], more].concat(), legacy);
            assert_eq!((status, &verdict["code"]), (0, &Value::Null), "{code}: {verdict}");
        }
    }
}
