//! Every refusal of the manifest page on a small tree of the tests' own, the cases that need no
//! sample tree, and what must not matter: key order, white space, pieces, duplicates of files.

use loader_core::arch::{Arch, Engine};
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::manifest::{Detail, dtype};
use loader_core::policy::Policy;
use loader_std::inspect::manifest_json;
use neffload_tests::payload::{Mode, packed, with_manifest};
use neffload_tests::trees::Tree;
use serde_json::{Map, Value, json};

fn npy(payload: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.resize(128, b' ');
    bytes.extend_from_slice(payload);
    bytes
}

fn add(tree: &mut Tree, name: &str, value: &Value) {
    tree.members.insert(name.as_bytes().to_vec(), serde_json::to_vec(value).unwrap());
}

fn raw(tree: &mut Tree, name: &str, bytes: &[u8]) {
    tree.members.insert(name.as_bytes().to_vec(), bytes.to_vec());
}

/// One subgraph with a variable of most classes, two queue sets, blocks, tables and a library.
fn base() -> Tree {
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

type Outcome = Result<Value, (Error, String)>;

fn run(tree: &Tree, policy: &Policy, limits: &Limits, mode: Mode) -> Outcome {
    with_manifest(&packed(&tree.members), policy, limits, mode, |manifest, table, _| {
        Value::Object(manifest_json(manifest, table))
    })
}

fn load(tree: &Tree) -> Outcome {
    run(tree, &Policy::default(), &Limits::DEFAULT, Mode::Resident)
}

fn code(outcome: &Outcome) -> String {
    match outcome {
        Ok(_) => "accepted".to_owned(),
        Err((error, _)) => error.id().to_string(),
    }
}

const DEF: &str = "sg00/def.json";
const POOL: &str = "sg00/Pool0.json";

/// Puts a value at a path of a member.
fn set(file: &str, path: &str, value: Value) -> Value {
    json!({"file": file, "op": "add", "path": path, "value": value})
}

fn remove(file: &str, path: &str) -> Value {
    json!({"file": file, "op": "remove", "path": path})
}

#[test]
fn the_small_tree_is_accepted_in_every_mode() {
    let tree = base();
    let resident = load(&tree).unwrap_or_else(|(_, text)| panic!("{text}"));
    let counts = &resident["subgraphs"][0]["engines"]["pool"];
    assert_eq!((counts["dma_blocks"].as_u64(), counts["descs"].as_u64()), (Some(1), Some(2)));
    for mode in [Mode::Streamed, Mode::Chunks(1), Mode::Chunks(3), Mode::Chunks(64)] {
        let outcome = run(&tree, &Policy::default(), &Limits::DEFAULT, mode);
        assert_eq!(outcome.unwrap_or_else(|(_, text)| panic!("{text}")), resident, "{mode:?}");
    }
}

#[test]
fn every_refusal_has_its_code() {
    let desc = "/dma/0/desc/0";
    let many: Vec<Value> = vec![json!({"from": "x", "from_sizes": [1], "from_steps": [1]}); 33];
    let sets: Map<String, Value> = (0..33).map(|n| (format!("s{n}"), json!({"type": "data"}))).collect();
    let cases: Vec<(&str, Vec<Value>)> = vec![
        ("E102", vec![set("neff.json", "/nodes", json!({}))]),
        ("E105", vec![set("neff.json", "/attrs/shape", json!(["list_shape", 3]))]),
        ("E106", vec![set("neff.json", "/node_row_ptr", json!([0]))]),
        ("E107", vec![set("neff.json", "/attrs/shape", json!(["list_shape", [[8]]]))]),
        ("E108", vec![set("neff.json", "/arg_nodes", json!([7]))]),
        ("E109", vec![set("neff.json", "/attrs/shape/1/0", json!([4_294_967_296_u64]))]),
        ("E109", vec![set("neff.json", "/attrs/shape/1/0", json!([-1]))]),
        ("E114", vec![set("neff.json", "/heads", json!([[1]]))]),
        ("E114", vec![remove("neff.json", "/nodes/0/name")]),
        ("E121", vec![json!({"op": "add_member", "member": DEF, "text": "[]"})]),
        ("E121", vec![json!({"op": "add_member", "member": POOL, "text": "{} x"})]),
        ("E204", vec![remove("kelf-0.json", "/target")]),
        ("E205", vec![remove("kelf-0.json", "/version")]),
        ("E205", vec![set("kelf-0.json", "/graphs", json!({}))]),
        ("E205", vec![remove("kelf-0.json", "/graphs/0/definition")]),
        ("E207", vec![set("kelf-0.json", "/graphs", json!([]))]),
        ("E302", vec![set(DEF, "/var", json!([]))]),
        ("E305", vec![set(DEF, "/num_streams", json!("2"))]),
        ("E305", vec![set(DEF, "/dma", json!(1))]),
        ("E305", vec![set(DEF, "/pe", json!(1))]),
        ("E305", vec![set(DEF, "/fp8_conversion_config", json!({"ocp_sat": "yes"}))]),
        ("E310", vec![set(DEF, "/var/x", json!(5))]),
        ("E311", vec![set(DEF, "/var/x/var_id", json!(4_294_967_296_u64))]),
        ("E311", vec![set(DEF, "/var/x/var_id", json!(1.0))]),
        ("E316", vec![set(DEF, "/var/l/list", json!([1, "2"]))]),
        ("E317", vec![remove(DEF, "/var/w/file_name")]),
        ("E322", vec![set(DEF, "/var/v/backing_variable_off", json!(u64::MAX))]),
        ("E323", vec![set(DEF, "/var/p/referenced_var_id", json!(8))]),
        ("E323", vec![set(DEF, "/var/l/list", json!([3, 8]))]),
        ("E324", vec![set(DEF, "/var/v/fabric_path", json!("moon"))]),
        ("E324", vec![set(DEF, "/var/SB/size", json!(null))]),
        ("E324", vec![set(DEF, "/var/t/prefix", json!("p".repeat(512)))]),
        ("E324", vec![remove(DEF, "/var/p/referenced_var_id")]),
        ("E331", vec![set(DEF, "/dma_queue/q/type", json!("spill"))]),
        ("E333", vec![set(DEF, "/dma_queue/q/num_queues", json!(0))]),
        (
            "E336",
            vec![
                set(DEF, "/dma_queue/a", json!({"type": "act_load"})),
                set(DEF, "/dma_queue/b", json!({"type": "act_load"})),
            ],
        ),
        ("E337", vec![set(DEF, "/dma_queue", Value::Object(sets))]),
        ("E339", vec![set(DEF, "/dma_queue", json!([]))]),
        ("E339", vec![set(DEF, "/dma_queue/q/dynamic_dma", json!({"SB_scratch_partition_size": 8}))]),
        ("E339", vec![set(DEF, "/dma_queue/e", json!({"type": "embedding_update"}))]),
        ("E340", vec![set(DEF, "/ucode_lib", json!("absent.json"))]),
        ("E341", vec![set(DEF, "/ucode_lib/0/library", json!("absent.bin"))]),
        ("E342", vec![remove(DEF, "/ucode_lib/0/ulib_to_ucode_version")]),
        ("E343", vec![set(DEF, "/ucode_lib/0/ulib_to_ucode_version", json!("1.21"))]),
        ("E344", vec![set(DEF, "/ucode_lib/0/cpu_id", json!(1))]),
        ("E347", vec![set(DEF, "/ucode_lib/0/functions", json!([{"name": "f"}]))]),
        ("E348", vec![remove(DEF, "/ucode_lib/0/opcode")]),
        ("E352", vec![remove(DEF, "/runtime_statebuffer_reservation/0/size")]),
        ("E360", vec![set(DEF, "/sp", json!("SP0.json"))]),
        ("E362", vec![set("sg00/DVE0.json", "/dve_tables/datapath_table", json!("absent.bin"))]),
        ("E364", vec![set("sg00/Activation0.json", "/profile_meta_data", json!(vec![0; 26]))]),
        ("E370", vec![remove(POOL, "/dma/0/id")]),
        ("E371", vec![set(POOL, "/dma/0/queue", json!("absent"))]),
        ("E371", vec![set(POOL, "/dma/0/instance_name", json!("r2"))]),
        ("E373", vec![set(POOL, &format!("{desc}/to"), json!("absent"))]),
        ("E375", vec![set(POOL, &format!("{desc}/to_sizes"), json!([1, 1, 1, 1, 1]))]),
        ("E375", vec![remove(POOL, &format!("{desc}/from_steps"))]),
        ("E377", vec![set(POOL, &format!("{desc}/to_dtype"), json!("float8_e5m2"))]),
        ("E378", vec![set(POOL, &format!("{desc}/from_arr"), json!(many))]),
        (
            "E379",
            vec![
                set(POOL, &format!("{desc}/op"), json!("fma")),
                set(POOL, &format!("{desc}/scale_dtype"), json!("float16")),
            ],
        ),
        ("E381", vec![set(POOL, &format!("{desc}/from_off"), json!(-1))]),
        ("E381", vec![set(POOL, &format!("{desc}/transpose_op"), json!("WZXY"))]),
        ("E382", vec![remove(POOL, "/dma/0/desc")]),
        ("E390", vec![set(DEF, "/replica_groups", json!([[[0], 1]]))]),
        ("E390", vec![set(DEF, "/src_target_pairs", json!([[[0, 1, 2]]]))]),
        ("E390", vec![set(DEF, "/replica_groups", json!([[[[0]]]]))]),
    ];
    for (expected, ops) in cases {
        let mut tree = base();
        ops.iter().for_each(|op| tree.apply(op));
        for mode in [Mode::Resident, Mode::Chunks(5)] {
            let outcome = run(&tree, &Policy::default(), &Limits::DEFAULT, mode);
            assert_eq!(code(&outcome), expected, "{ops:?} {outcome:?}");
        }
    }
}

#[test]
fn what_is_legal() {
    let cases: Vec<Vec<Value>> = vec![
        vec![set(DEF, "/replica_groups", json!([0, 1]))],
        vec![set(DEF, "/replica_groups", json!([[0, 1], [2, 3]])), set(DEF, "/src_target_pairs", json!([]))],
        vec![set(DEF, "/ucode_lib/0/opcode", json!(-123))],
        vec![set(DEF, "/dma_queue/q/dynamic_dma", json!({}))],
        vec![set(DEF, "/dma_queue/q/fabric_path", json!("repl"))],
        vec![set(POOL, "/dma/0/instance_name", json!("r1")), remove(POOL, "/dma/0/queue")],
        vec![set(POOL, "/dma/0/desc", json!([{"from": "x", "to": "y", "size": 32}]))],
        vec![set(DEF, "/check_var_ids", json!({})), set(DEF, "/host", json!({"a": []}))],
        vec![set(DEF, "/var/x/size", json!(4_294_967_296_u64))],
        vec![remove(DEF, "/dma_queue/q/owner"), remove(DEF, "/ucode_lib"), remove(DEF, "/dma")],
        vec![remove(DEF, "/runtime_statebuffer_reservation")],
    ];
    for ops in cases {
        let mut tree = base();
        ops.iter().for_each(|op| tree.apply(op));
        assert_eq!(code(&load(&tree)), "accepted", "{ops:?} {:?}", load(&tree).err());
    }
}

#[test]
fn of_several_faults_the_first_in_dispatch_order_is_reported() {
    let mut tree = base();
    tree.apply(&set(POOL, "/dma/0/desc/0/op", json!("xor")));
    assert_eq!(code(&load(&tree)), "E372");
    tree.apply(&json!({"op": "remove_member", "member": "sg00/gelu_bkt.bin"}));
    assert_eq!(code(&load(&tree)), "E362");
    tree.apply(&set(DEF, "/dma/0/desc/1/to", json!("absent")));
    assert_eq!(code(&load(&tree)), "E373");
    tree.apply(&set(DEF, "/ucode_lib/0/cpu_id", json!(1)));
    assert_eq!(code(&load(&tree)), "E344");
    tree.apply(&set(DEF, "/dma_queue/q/type", json!("spill")));
    assert_eq!(code(&load(&tree)), "E331");
    raw(&mut tree, "sg00/w.npy", b"PK");
    assert_eq!(code(&load(&tree)), "E320");
    tree.apply(&set(DEF, "/var/y/type", json!("moon")));
    assert_eq!(code(&load(&tree)), "E312");
    tree.apply(&set("kelf-0.json", "/target", json!("moon")));
    assert_eq!(code(&load(&tree)), "E202");
    tree.apply(&set("neff.json", "/heads", json!([[9, 0, 0]])));
    assert_eq!(code(&load(&tree)), "E108");
}

#[test]
fn a_fault_of_an_earlier_subgraph_goes_first() {
    let mut tree = two_graphs();
    tree.apply(&set("sg01/def.json", "/var/y/type", json!("moon")));
    assert_eq!(code(&load(&tree)), "E312");
    tree.apply(&set(POOL, "/dma/0/desc/0/op", json!("xor")));
    let outcome = load(&tree);
    assert_eq!(code(&outcome), "E372");
    assert_eq!(outcome.unwrap_err().0.at.subgraph, Some(0));
}

fn two_graphs() -> Tree {
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

#[test]
fn two_subgraphs_may_share_one_definition() {
    let mut tree = base();
    tree.apply(&set("kelf-0.json", "/graphs/-", json!({"name": "sg01", "definition": DEF})));
    let resident = load(&tree).unwrap_or_else(|(_, text)| panic!("{text}"));
    assert_eq!(resident["subgraphs"][0]["engines"], resident["subgraphs"][1]["engines"]);
    let streamed = run(&tree, &Policy::default(), &Limits::DEFAULT, Mode::Streamed);
    assert_eq!(streamed.unwrap_or_else(|(_, text)| panic!("{text}")), resident);
}

#[test]
fn remote_variables_by_every_form() {
    let forms = [
        json!({"t{1}": {"type": "remote", "var_id": 8}}),
        json!({"t_remote_1": {"type": "remote", "var_id": 8}}),
        json!({"any": {"type": "remote", "var_id": 8, "remote_vtpb_rel_sg_id": 1, "remote_var_id": 3}}),
        json!({"only_there": {"type": "remote", "var_id": 8}}),
    ];
    for form in &forms {
        let mut tree = two_graphs();
        let (name, entry) = form.as_object().unwrap().iter().next().unwrap();
        tree.apply(&set(DEF, &format!("/var/{name}"), entry.clone()));
        if name == "only_there" {
            let owner = json!({"type": "tmp-buf", "var_id": 8, "size": 4});
            tree.apply(&set("sg01/def.json", "/var/only_there", owner));
        }
        let report = load(&tree).unwrap_or_else(|(_, text)| panic!("{text}"));
        let remote = &report["subgraphs"][0]["vars"][name]["remote"];
        assert_eq!(remote["sg"], 1, "{name}");
        assert_eq!(remote["var_id"], if name == "only_there" { 8 } else { 3 }, "{name}");
    }
    for name in ["t{0}", "t{2}", "absent{1}", "t_remote_0", "none"] {
        let mut tree = two_graphs();
        tree.apply(&set(DEF, &format!("/var/{name}"), json!({"type": "remote", "var_id": 8})));
        let outcome = load(&tree);
        assert_eq!(code(&outcome), "E380", "{name}");
        let log = outcome.unwrap_err().0.log().to_string();
        assert!(log.starts_with("Failed to resolve remote variables for subgraphs 0 to 1"), "{log}");
    }
    let mut tree = base();
    tree.apply(&set(DEF, "/var/t{0}", json!({"type": "remote", "var_id": 8})));
    assert_eq!(code(&load(&tree)), "E380");
}

#[test]
fn manifests_z01() {
    let tree = base();
    let size = tree.members[DEF.as_bytes()].len() as u64;
    let limits = Limits { json_bytes: size - 1, ..Limits::DEFAULT };
    let (error, _) = run(&tree, &Policy::default(), &limits, Mode::Resident).unwrap_err();
    assert_eq!(error.id().to_string(), "E120");
    let text = format!("File sg00/def.json size ({size}) exceeds json parser maximum ({})", size - 1);
    assert_eq!(error.log().to_string(), text);
}

#[test]
fn manifests_z02() {
    let mut tree = base();
    let text = tree.members.get_mut(&b"neff.json"[..]).unwrap();
    let at = text.windows(3).position(|window| window == b"\"x\"").unwrap();
    text[at + 1] = 0xFF;
    assert_eq!(code(&load(&tree)), "E121");
}

#[test]
fn manifests_z03() {
    let mut tree = base();
    let nested = format!("{}{}", "[".repeat(2000), "]".repeat(2000));
    let text = tree.members.get_mut(DEF.as_bytes()).unwrap();
    text.splice(1..1, format!("\"ignored\": {nested},").into_bytes());
    assert_eq!(code(&load(&tree)), "E121");
}

#[test]
fn manifests_z04() {
    let mut tree = base();
    let text = String::from_utf8(tree.members[DEF.as_bytes()].clone()).unwrap();
    let twice = text.replacen("\"l\":", "\"t\":{\"type\":\"tmp-buf\",\"var_id\":8,\"size\":4},\"l\":", 1);
    raw(&mut tree, DEF, twice.as_bytes());
    assert_eq!(code(&load(&tree)), "E122");
    let queue = text.replacen("\"r\":", "\"q\":{\"type\":\"in\"},\"r\":", 1);
    raw(&mut tree, DEF, queue.as_bytes());
    assert_eq!(code(&load(&tree)), "E122");
    let inside = text.replacen("\"SB\":{", "\"SB\":{\"type\":\"state-buffer\",\"type\":5,", 1);
    raw(&mut tree, DEF, inside.as_bytes());
    assert_eq!(code(&load(&tree)), "accepted", "elsewhere the first counts");
}

#[test]
fn manifests_z05() {
    let mut tree = base();
    tree.apply(&set("kelf-0.json", "/graphs", json!([])));
    assert_eq!(code(&load(&tree)), "E207");
}

#[test]
fn manifests_z06() {
    let policy = Policy { lnc: Some(1), ..Policy::default() };
    let (error, _) = run(&two_graphs(), &policy, &Limits::DEFAULT, Mode::Resident).unwrap_err();
    assert_eq!(error.id().to_string(), "E208");
    assert_eq!(error.log().to_string(), "Insufficient number of pncs, required 2, available 1");
    assert_eq!(error.status().number(), 9);
}

#[test]
fn manifests_z07() {
    let policy = Policy { lnc: Some(2), ..Policy::default() };
    assert_eq!(code(&run(&base(), &policy, &Limits::DEFAULT, Mode::Resident)), "accepted");
}

#[test]
fn manifests_z16() {
    assert_eq!(dtype::public(b"bfloat16"), Some((6, 2)));
    assert_eq!(dtype::descriptor(b"bfloat16"), Some((7, 2)));
}

#[test]
fn manifests_z17() {
    assert_eq!(dtype::descriptor(b"float8_e4m3fn_x4"), Some((10, 4)));
    assert_eq!(dtype::descriptor_to_public(10), Some(9));
}

#[test]
fn manifests_z18() {
    let mut tree = base();
    tree.apply(&set(POOL, "/dma/0/desc/0/from_dtype", json!("float8_e5m2")));
    assert_eq!(code(&load(&tree)), "E377");
}

#[test]
fn manifests_z19() {
    for (name, number) in [("pe", 0), ("act", 1), ("pool", 2), ("dve", 3), ("sp", 4)] {
        assert_eq!(Engine::from_key(name.as_bytes()).map(Engine::number), Some(number));
    }
    assert_eq!(Engine::from_key(b"PE"), None);
}

#[test]
fn manifests_z20() {
    let mut tree = base();
    raw(&mut tree, "sg00/w.npy", &npy(&[])[..9]);
    assert_eq!(code(&load(&tree)), "E320");
}

/// Reverses the keys of every object.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let pairs = map.iter().rev().map(|(key, value)| (key.clone(), reversed(value)));
            Value::Object(pairs.collect())
        }
        Value::Array(list) => list.iter().map(reversed).collect(),
        other => other.clone(),
    }
}

#[test]
fn key_order_and_white_space_do_not_matter() {
    let tree = two_graphs();
    let expected = load(&tree).unwrap_or_else(|(_, text)| panic!("{text}"));
    let mut other = tree.clone();
    for (name, bytes) in &mut other.members {
        if name.ends_with(b".json") {
            let value: Value = serde_json::from_slice(bytes).unwrap();
            *bytes = serde_json::to_vec_pretty(&reversed(&value)).unwrap();
        }
    }
    for mode in [Mode::Resident, Mode::Chunks(1), Mode::Chunks(7)] {
        let outcome = run(&other, &Policy::default(), &Limits::DEFAULT, mode);
        assert_eq!(outcome.unwrap_or_else(|(_, text)| panic!("{text}")), expected, "{mode:?}");
    }
}

#[test]
fn names_may_be_spelt_with_escapes() {
    let mut tree = base();
    let spelt = |name: &str| String::from_utf8(tree.members[name.as_bytes()].clone()).unwrap();
    let def = spelt(DEF).replace("\"t\"", "\"\\u0074\"").replace("\"data\"", "\"d\\u0061ta\"");
    let pool = spelt(POOL).replace("\"t\"", "\"\\u0074\"").replace("\"q\"", "\"\\u0071\"");
    let expected = load(&tree).unwrap_or_else(|(_, text)| panic!("{text}"));
    raw(&mut tree, DEF, def.as_bytes());
    raw(&mut tree, POOL, pool.as_bytes());
    assert_eq!(load(&tree).unwrap_or_else(|(_, text)| panic!("{text}")), expected);
}

#[test]
fn tooling_reads_what_a_load_refuses() {
    let tooling = Policy { tooling: true, host_arch: Some(Arch::Sunda), ..Policy::default() };
    let mut tree = base();
    tree.apply(&set(DEF, "/var/l/var_id", json!(2349)));
    assert_eq!(code(&load(&tree)), "E303");
    let look = |manifest: &loader_core::manifest::Manifest<'_>| {
        let definition = manifest.definition(0).unwrap();
        let list = definition.var(2349).unwrap();
        let Detail::List { ids } = list.detail else { panic!("{list:?}") };
        assert_eq!(ids.iter().collect::<Vec<_>>(), [3, 4]);
        assert!(definition.var(7).is_none());
    };
    let outcome = with_manifest(
        &packed(&tree.members),
        &tooling,
        &Limits::DEFAULT,
        Mode::Resident,
        |manifest, _, _| look(manifest),
    );
    outcome.unwrap_or_else(|(_, text)| panic!("{text}"));
}

#[test]
fn area_classes_are_an_option() {
    let mut tree = base();
    tree.apply(&set(DEF, "/var/v/type", json!("shared")));
    assert_eq!(code(&load(&tree)), "E312");
    let policy = Policy { accept_area_classes: true, ..Policy::default() };
    let report =
        run(&tree, &policy, &Limits::DEFAULT, Mode::Resident).unwrap_or_else(|(_, text)| panic!("{text}"));
    let variable = &report["subgraphs"][0]["vars"]["v"];
    assert_eq!((variable["type"].as_str(), variable["area"].as_str()), (Some("virtual"), Some("shared")));
}
