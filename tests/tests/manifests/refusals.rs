//! Every refusal of the manifest page on a small tree: its code, its place, what was expected, and which of
//! several comes first.

use crate::small::*;
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use neffload_tests::payload::Mode;
use serde_json::{Map, Value, json};

#[test]
fn the_small_tree_is_accepted_in_every_mode() {
    let tree = base();
    let resident = load(&tree).unwrap_or_else(|refused| panic!("{}", refused.1));
    let counts = &resident["subgraphs"][0]["engines"]["pool"];
    assert_eq!((counts["dma_blocks"].as_u64(), counts["descs"].as_u64()), (Some(1), Some(2)));
    for mode in [Mode::Streamed, Mode::Chunks(1), Mode::Chunks(3), Mode::Chunks(64)] {
        let outcome = run(&tree, &Policy::default(), &Limits::DEFAULT, mode);
        assert_eq!(outcome.unwrap_or_else(|refused| panic!("{}", refused.1)), resident, "{mode:?}");
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
        ("E305", vec![set(DEF, "/cc_streams", json!([]))]),
        ("E305", vec![set(DEF, "/cc_streams", json!(5))]),
        ("E305", vec![set(DEF, "/cc_streams", json!(null))]),
        ("E305", vec![set(DEF, "/dma", json!(1))]),
        ("E305", vec![set(DEF, "/runtime_statebuffer_reservation", json!({}))]),
        ("E305", vec![set(DEF, "/runtime_statebuffer_reservation", json!(null))]),
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
        ("E324", vec![set(DEF, "/var/w/fabric_path", json!("moon"))]),
        ("E324", vec![set(DEF, "/var/w/fabric_path", json!(5))]),
        ("E324", vec![set(DEF, "/var/w/fabric_path", json!([]))]),
        ("E324", vec![set(DEF, "/var/SB/size", json!(null))]),
        ("E324", vec![set(DEF, "/var/t/prefix", json!("p".repeat(512)))]),
        ("E324", vec![remove(DEF, "/var/p/referenced_var_id")]),
        ("E324", vec![set(DEF, "/var/a\0b", json!({"type": "tmp-buf", "var_id": 8, "size": 4}))]),
        ("E324", vec![set(DEF, "/var/\0", json!({"type": "tmp-buf", "var_id": 8, "size": 4}))]),
        ("E339", vec![set(DEF, "/dma_queue/a\0b", json!({"type": "data"}))]),
        ("E339", vec![set(DEF, "/dma_queue/q/queue_instances", json!(["a", "a\0b"]))]),
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
        ("E364", vec![set("sg00/DVE0.json", "/dve_tables", json!([{}, {"opcode_table": "op.bin"}]))]),
        ("E364", vec![set("sg00/DVE0.json", "/dve_tables", json!([{"opcode_table": "op.bin"}, 7]))]),
        ("E361", vec![set("sg00/DVE0.json", "/instr", json!(""))]),
        ("E364", vec![set("sg00/Activation0.json", "/profile_meta_data", json!(vec![0; 26]))]),
        ("E364", vec![set("sg00/Activation0.json", "/profile_meta_data", json!(5))]),
        ("E364", vec![set("sg00/Activation0.json", "/profile_meta_data", json!({}))]),
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
        ("E339", vec![set(DEF, "/dma_queue/q/queue_instances", json!(["a", "b", "a"]))]),
        ("E339", vec![set(DEF, "/dma_queue/q/queue_instances", json!(["r1"]))]),
        (
            "E339",
            vec![
                set(DEF, "/dma_queue/q/queue_instances", json!(["q", "r"])),
                remove(DEF, "/dma_queue/r/queue_instances"),
            ],
        ),
        ("E390", vec![set(DEF, "/replica_groups", json!([[[0], 1]]))]),
        ("E390", vec![set(DEF, "/src_target_pairs", json!([[[0, 1, 2]]]))]),
        ("E390", vec![set(DEF, "/replica_groups", json!([[[[0]]]]))]),
        ("E390", vec![set(DEF, "/replica_groups", json!([0, 1]))]),
        ("E390", vec![set(DEF, "/replica_groups", json!([[0, 1], [2, 3]]))]),
        ("E390", vec![set(DEF, "/replica_groups", json!([[[0, 1]], 2]))]),
        ("E390", vec![set(DEF, "/replica_groups", json!([[[0, 1], 2]]))]),
        ("E390", vec![set(DEF, "/src_target_pairs", json!([0, 1]))]),
        ("E390", vec![set(DEF, "/src_target_pairs", json!([[0, 1]]))]),
        ("E390", vec![set(DEF, "/src_target_pairs", json!([[[0, 1]], [2, 3]]))]),
    ];
    for (expected, ops) in cases {
        let tree = changed(&ops);
        for mode in [Mode::Resident, Mode::Chunks(5)] {
            let outcome = run(&tree, &Policy::default(), &Limits::DEFAULT, mode);
            assert_eq!(code(&outcome), expected, "{ops:?} {outcome:?}");
            let (error, text) = &*outcome.unwrap_err();
            complete(error, text);
        }
    }
}

/// manifests.md §10: on cayman a carve-out that is no array is as none at all, and legacy files may have it so.
#[test]
fn a_corrupted_reservation_is_a_missing_one_on_cayman() {
    let tree = changed(&[
        set("kelf-0.json", "/target", json!("cayman")),
        set(DEF, "/runtime_statebuffer_reservation", json!({})),
    ]);
    assert_eq!(code(&load(&tree)), "E350");
    let legacy = Policy { allow_legacy: true, ..Policy::default() };
    assert_ne!(code(&run(&tree, &legacy, &Limits::DEFAULT, Mode::Resident)), "E305");
}

/// lowering.md §11.7: 4096 bytes are the longest name of a variable.
#[test]
fn a_name_has_at_most_4096_bytes() {
    for (bytes, expected) in [(4096, "accepted"), (4097, "E810")] {
        let keys = json!({"type": "tmp-buf", "var_id": 8, "size": 4});
        let ops = [set(DEF, &format!("/var/{}", "n".repeat(bytes)), keys)];
        assert_eq!(code(&load(&changed(&ops))), expected, "{bytes}");
    }
}

#[test]
fn what_is_legal() {
    let cases: Vec<Vec<Value>> = vec![
        vec![set(DEF, "/replica_groups", json!([])), set(DEF, "/src_target_pairs", json!([]))],
        vec![set(DEF, "/replica_groups", json!([[]])), set(DEF, "/src_target_pairs", json!([[]]))],
        vec![set(DEF, "/replica_groups", json!([[[]], [[0, 1], [2, 3]]]))],
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
        let tree = changed(&ops);
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
    assert_eq!(outcome.unwrap_err().0.at().subgraph, Some(0));
}

#[test]
fn two_subgraphs_may_share_one_definition() {
    let mut tree = base();
    tree.apply(&set("kelf-0.json", "/graphs/-", json!({"name": "sg01", "definition": DEF})));
    let resident = load(&tree).unwrap_or_else(|refused| panic!("{}", refused.1));
    assert_eq!(resident["subgraphs"][0]["engines"], resident["subgraphs"][1]["engines"]);
    let streamed = run(&tree, &Policy::default(), &Limits::DEFAULT, Mode::Streamed);
    assert_eq!(streamed.unwrap_or_else(|refused| panic!("{}", refused.1)), resident);
}

fn log(ops: &[Value]) -> String {
    load(&changed(ops)).unwrap_err().0.log().to_string()
}

#[test]
fn a_number_out_of_range_is_shown_as_it_is_written() {
    for (value, found) in [
        (json!(4_294_967_296_u64), "4294967296"),
        (json!(-1), "-1"),
        (json!(17), "17"),
        (json!("2"), "\"2\""),
    ] {
        let refused = log(&[set(DEF, "/dma_queue/q/num_queues", value.clone())]);
        assert_eq!(refused, format!("num_queues is {found} in DMA queue q"));
        if value != json!(17) {
            let refused = log(&[set(POOL, "/dma/0/id", value)]);
            assert_eq!(refused, format!("invalid dma block 0: id {found}"));
        }
    }
    assert_eq!(log(&[remove(POOL, "/dma/0/id")]), "invalid dma block 0: no id");
}

#[test]
fn a_constant_header_is_refused_for_what_is_wrong_with_it() {
    let header = |bytes: &[u8]| {
        let mut tree = base();
        raw(&mut tree, "sg00/w.npy", bytes);
        load(&tree).unwrap_err().0.log().to_string()
    };
    let mut whole = npy(&[0; 16]);
    assert_eq!(header(b"PK\x03\x04 and more"), "NUMPY sg00/w.npy bad header 4b50 != 0x4e93");
    assert_eq!(header(b"\x01\0 and more"), "NUMPY sg00/w.npy bad header 1 != 0x4e93");
    assert_eq!(header(&whole[..9]), "NUMPY sg00/w.npy bad header of too few bytes");
    assert_eq!(header(&whole[..90]), "NUMPY sg00/w.npy bad header past the end");
    whole[6] = 2;
    assert_eq!(header(&whole), "NUMPY sg00/w.npy bad header not of version 1");
}

#[test]
fn a_list_of_graphs_is_refused_for_what_is_wrong_with_it() {
    let none = log(&[set("kelf-0.json", "/graphs", json!([]))]);
    assert_eq!(none, "the KELF lists no graph: `graphs` is empty");
    let twice = log(&[set("kelf-0.json", "/graphs/-", json!({"name": "sg00", "definition": DEF}))]);
    assert_eq!(twice, "the KELF lists a graph twice: sg00");
}

#[test]
fn tools_and_loads_name_the_same_first_fault() {
    let tree = changed(&[set(POOL, "/dma/0/desc/0/to", json!("SB")), remove(DEF, "/var/SB")]);
    let tooling = Policy { tooling: true, ..Policy::default() };
    assert_eq!(code(&load(&tree)), "E303");
    assert_eq!(code(&run(&tree, &tooling, &Limits::DEFAULT, Mode::Resident)), "E303");
    let holes = changed(&[set(DEF, "/var/l/var_id", json!(2349))]);
    assert_eq!(code(&run(&holes, &tooling, &Limits::DEFAULT, Mode::Resident)), "accepted");
}
