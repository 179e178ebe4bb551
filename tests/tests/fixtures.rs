//! The committed fixtures are what the project makes, and hold every construct that real files hold.

use loader_std::pack::tree::collect;
use neffload_tests::build::Tree;
use neffload_tests::{fixture, fixture_files, fixtures, neffpack, real_files, skip};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn committed_files_are_what_the_project_makes() {
    let all = fixtures::all();
    for made in &all {
        let present = std::fs::read(fixture(made.name)).unwrap();
        assert!(present.len() < 64 * 1024, "{}", made.name);
        assert!(present == made.bytes(), "{}: run `cargo xtask fixtures`", made.name);
    }
    assert_eq!(fixture_files().len(), all.len(), "a file that nothing makes");
}

/// What occurs in a tree, each construct as a short text.
fn constructs(tree: &Tree) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let kelf = tree.iter().find(|(name, _)| name.starts_with("kelf-")).unwrap();
    keys("kelf", &json(kelf.1), &mut found);
    keys("neff.json", &json(&tree["neff.json"]), &mut found);
    for (name, bytes) in tree.iter().filter(|(name, _)| name.ends_with("/def.json")) {
        let dir = name.strip_suffix("/def.json").unwrap();
        let definition = json(bytes);
        of_definition(&definition, &mut found);
        for engine in ["pe", "act", "pool", "dve", "sp"] {
            if let Some(file) = definition[engine].as_str() {
                of_engine(tree, dir, engine, &json(&tree[&format!("{dir}/{file}")]), &mut found);
            }
        }
    }
    for (_, bytes) in tree.iter().filter(|(name, _)| name.ends_with(".npy")) {
        let head = String::from_utf8_lossy(&bytes[..64]).into_owned();
        let descr = head.split('\'').nth(3).unwrap_or_default().to_owned();
        found.insert(format!("npy {descr}"));
    }
    found
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn keys(what: &str, value: &Value, found: &mut BTreeSet<String>) {
    for key in value.as_object().into_iter().flat_map(|map| map.keys()) {
        found.insert(format!("{what} key {key}"));
    }
}

fn of_definition(definition: &Value, found: &mut BTreeSet<String>) {
    keys("def", definition, found);
    keys("fp8", &definition["fp8_conversion_config"], found);
    if definition["dma_queue"].as_object().is_some_and(serde_json::Map::is_empty) {
        found.insert("idle core".to_owned());
    }
    for queue in definition["dma_queue"].as_object().unwrap().values() {
        found.insert(format!("queue type {}", queue["type"]));
        found.insert(format!("queue path {}", queue["fabric_path"]));
        keys("queue", queue, found);
        keys("dynamic_dma", &queue["dynamic_dma"], found);
    }
    for (name, var) in definition["var"].as_object().unwrap() {
        let kind = var["type"].as_str().unwrap();
        found.insert(format!("variable {kind}"));
        keys(&format!("variable {kind}"), var, found);
        for mark in ['{', '/', ':', '-', '.'] {
            if name.contains(mark) {
                found.insert(format!("variable name with {mark}"));
            }
        }
        if var["size"].as_u64().is_some_and(|size| size > u64::from(u32::MAX)) {
            found.insert("size beyond 32 bits".to_owned());
        }
    }
}

fn of_engine(tree: &Tree, dir: &str, engine: &str, file: &Value, found: &mut BTreeSet<String>) {
    keys(&format!("engine {engine}"), file, found);
    keys("dve_tables", &file["dve_tables"][0], found);
    for block in file["dma"].as_array().unwrap() {
        keys("block", block, found);
        for descriptor in block["desc"].as_array().unwrap() {
            of_descriptor(descriptor, found);
        }
    }
    let stream = &tree[&format!("{dir}/{}", file["instr"].as_str().unwrap())];
    for slot in stream.chunks(64) {
        of_slot(slot, found);
    }
}

fn of_descriptor(descriptor: &Value, found: &mut BTreeSet<String>) {
    keys("descriptor", descriptor, found);
    found.insert(format!("op {}", descriptor["op"]));
    for side in ["from", "to"] {
        let dims = descriptor[format!("{side}_sizes")].as_array().map_or(0, Vec::len);
        found.insert(format!("{side} with {dims} dimensions"));
        let steps = descriptor[format!("{side}_steps")].as_array();
        if steps.is_some_and(|steps| steps.contains(&Value::from(0))) {
            found.insert("step 0".to_owned());
        }
        if descriptor[side].as_str().is_some_and(|name| name.ends_with("-ADDR")) {
            found.insert("descriptor reads a pointer".to_owned());
        }
    }
    for source in descriptor["from_arr"].as_array().into_iter().flatten() {
        let remote = source["from"].as_str().unwrap().ends_with('}');
        found.insert(format!("gather, remote {remote}"));
    }
}

/// Pseudo-instructions and the kinds of their operands; real opcodes are all alike to a loader.
fn of_slot(slot: &[u8], found: &mut BTreeSet<String>) {
    let opcode = slot[0];
    if matches!(opcode, 0xA8 | 0xB1 | 0xC1..=0xDF) {
        found.insert(format!("slot {opcode:02x}"));
    }
    if opcode == 0xD4 {
        found.insert(format!("source operand {:02x}", slot[0x17]));
        found.insert(format!("destination operand {:02x}", slot[0x2F]));
    }
}

#[test]
fn fixtures_hold_what_the_issue_lists() {
    let found: BTreeSet<String> = fixtures::all().iter().flat_map(|made| constructs(&made.tree)).collect();
    let wanted = [
        "source operand 10",
        "source operand 20",
        "source operand 28",
        "destination operand 20",
        "slot b1",
        "slot c1",
        "slot c4",
        "slot cc",
        "slot ce",
        "slot d8",
        "slot da",
        "variable pointer",
        "descriptor reads a pointer",
        "step 0",
        "variable remote",
        "variable name with {",
        "gather, remote true",
        "op \"cast\"",
        "descriptor key transpose_op",
        "dve_tables key control_table",
        "dve_tables key control_fast_table",
        "dve_tables key control_slow_table",
        "dynamic_dma key SB_scratch_partition_size",
        "queue key indirect_memcpy",
        "idle core",
        "npy <V2",
        "npy |i1",
        "fp8 key ocp_sat",
        "size beyond 32 bits",
        "to with 1 dimensions",
        "from with 4 dimensions",
    ];
    for construct in wanted {
        assert!(found.contains(construct), "{construct} is in no fixture");
    }
}

#[test]
fn fixtures_hold_every_construct_of_the_real_files() {
    let files = real_files();
    if files.is_empty() || neffpack().is_none() {
        skip!("no real files, or no tool to unpack them");
    }
    let ours: BTreeSet<String> = fixtures::all().iter().flat_map(|made| constructs(&made.tree)).collect();
    let mut missing = Vec::new();
    for file in files {
        let folder = std::env::temp_dir().join(format!("neffload-constructs-{}", std::process::id()));
        let output =
            neffpack().unwrap().arg("inspect").arg(&file).arg("--extract").arg(&folder).output().unwrap();
        assert!(output.status.success(), "{}", file.display());
        let members = collect(&folder).unwrap().into_iter();
        let tree: Tree = members
            .map(|member| (String::from_utf8(member.name).unwrap(), std::fs::read(member.path).unwrap()))
            .collect();
        std::fs::remove_dir_all(&folder).unwrap();
        missing.extend(constructs(&tree).difference(&ours).map(|what| format!("{}: {what}", file.display())));
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
