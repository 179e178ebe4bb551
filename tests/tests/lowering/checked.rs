//! What small code leaves to S2: lowering holds a file's manifests against these rules again only on hosts
//! (`Input::CHECKED`), so S2 must refuse each of them with a code of its own.

use loader_core::arch::Arch;
use loader_core::error::{LowerCode, Stage};
use neffload_tests::lowering::package::Package;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Codes of lowering that only working sets made by hand get in small code.
const LEFT: [u16; 37] = [
    201, 202, 203, 204, 205, 206, 207, 208, 209, 211, 212, 213, 301, 302, 304, 305, 306, 307, 308, 309, 310,
    311, 312, 401, 501, 502, 503, 504, 506, 507, 508, 601, 602, 701, 704, 705, 706,
];

/// A code of lowering, the one of S2, and a file that gets it.
type Case = (u16, &'static str, Package);

fn var(keys: Value) -> Package {
    Package::base().var("v", keys)
}

fn variables() -> Vec<Case> {
    let sized = |key: &str, value: Value| {
        let mut keys = json!({"type": "tmp-buf", "size": 4, "var_id": 2});
        keys[key] = value;
        var(keys)
    };
    let pointer =
        |id: u32, size: u32| json!({"type": "pointer", "size": size, "referenced_var_id": id, "var_id": 2});
    let chain = var(pointer(3, 8))
        .var("w", json!({"type": "pointer", "size": 8, "referenced_var_id": 1, "var_id": 3}));
    let virtual_end = json!({"type": "virtual", "size": 1, "backing_variable_off": u64::MAX, "var_id": 2});
    vec![
        (201, "E302", Package::base().var("out", json!({"type": "input", "var_id": 1, "size": 64}))),
        (202, "E303", sized("var_id", json!(5))),
        (203, "E321", sized("var_id", json!(1))),
        (204, "E313", sized("alignment", json!(48))),
        (205, "E318", sized("dtype", json!("dddddddddddddddd"))),
        (206, "E319", sized("shape", json!([1, 1, 1, 1, 1, 1, 1, 1, 1]))),
        (207, "E315", var(pointer(1, 4))),
        (208, "E323", var(pointer(9, 8))),
        (208, "E323", var(json!({"type": "list", "list": [9], "var_id": 2}))),
        (208, "E323", var(json!({"type": "dge-table", "list": [0, 9], "var_id": 2}))),
        (209, "E322", var(virtual_end)),
        (211, "E326", chain),
        (212, "E325", var(pointer(2, 8))),
        (213, "E314", var(json!({"type": "virtual", "var_id": 2}))),
        (401, "E317", var(json!({"type": "file", "file_name": "none", "var_id": 2}))),
    ]
}

fn queues() -> Vec<Case> {
    let data = || json!({"type": "data", "owner": "pool"});
    let with = |key: &str, value: Value| {
        let mut keys = data();
        keys[key] = value;
        Package::base().queue("q", keys)
    };
    let many = |count: usize, keys: Value| {
        (0..count).fold(Package::base().target("cayman"), |package, n| {
            package.queue(&format!("q{n:02}"), keys.clone())
        })
    };
    let role = |role: &str, key: &str, value: Value| {
        let mut keys = json!({"type": role, "owner": "pool"});
        keys[key] = value;
        Package::base().queue("q", keys)
    };
    let mut dge = data();
    dge["dge"] = json!(true);
    let loads = json!({"type": "act_load", "owner": "act"});
    vec![
        (301, "E337", many(33, data())),
        (302, "E335", with("semaphore_set", json!(vec![1; 33]))),
        (304, "E334", role("in", "queue_instances", json!(["a"]))),
        (304, "E334", role("out", "queue_instances", json!(["a"]))),
        (305, "E336", role("act_load", "num_queues", json!(2))),
        (305, "E336", many(2, loads)),
        (306, "E338", many(3, dge.clone())),
        (306, "E338", Package::base().queue("q", dge)),
        (307, "E339", with("dynamic_dma", json!({"SB_scratch_partition_offset": 1}))),
    ]
}

fn blocks() -> Vec<Case> {
    let end = |to: bool, size: u64| {
        let keys = if to {
            ["to", "to_off", "to_sizes", "to_steps"]
        } else {
            ["from", "from_off", "from_sizes", "from_steps"]
        };
        let values = [json!("out"), json!(0), json!([size]), json!([1])];
        keys.into_iter().zip(values)
    };
    let copy = |size: u64| -> Value {
        let ends = end(true, size).chain(end(false, size));
        Value::Object(ends.map(|(key, value)| (key.to_owned(), value)).collect())
    };
    let block = |key: &str, queue: &str, transfer: Value| {
        let queued = Package::base().target("cayman").queue("q", json!({"type": "data", "owner": "pool"}));
        let mut block = json!({"id": 0, "desc": [transfer]});
        block[key] = json!(queue);
        queued.blocks(json!([block]))
    };
    let mut add = copy(4);
    add["op"] = json!("add");
    let mut many = copy(4);
    let source: Vec<_> = end(false, 4).map(|(key, value)| (key.to_owned(), value)).collect();
    many["from_arr"] = json!(vec![Value::Object(source.into_iter().collect()); 17]);
    vec![
        (308, "E371", block("queue", "none", copy(4))),
        (312, "E371", block("instance_name", "none", copy(4))),
        (309, "E374", block("queue", "q", copy(0))),
        (310, "E378", block("queue", "q", many)),
        (311, "E376", block("queue", "q", add)),
        (
            208,
            "E373",
            block("queue", "q", {
                let mut odd = copy(4);
                odd["to"] = json!("none");
                odd
            }),
        ),
    ]
}

fn sections() -> Vec<Case> {
    let library = || json!({"library": "l.bin", "ulib_to_ucode_version": "1.2.3.4", "opcode": 1});
    let libraries = |all: Value| Package::base().key("ucode_lib", all).member("sg00/l.bin", &[1; 4]);
    let odd = |key: &str, value: Value| {
        let mut library = library();
        library[key] = value;
        libraries(json!([library]))
    };
    let mut bare = Package::base();
    bare.target = "cayman";
    let carveout = json!([{"type": "other", "offset": 0, "size": 0, "base_partition": 0, "partitions": 1}]);
    vec![
        (501, "E350", bare),
        (502, "E351", Package::base().target("cayman").key("runtime_statebuffer_reservation", carveout)),
        (503, "E342", odd("ulib_to_ucode_version", Value::Null)),
        (504, "E346", libraries(json!([library(), library()]))),
        (506, "E343", odd("ulib_to_ucode_version", json!("2.0.0.0"))),
        (507, "E345", odd("total_cpus", json!(2))),
        (508, "E344", odd("cpu_id", json!(1))),
        (601, "E202", Package::base().target("v9")),
        (602, "E203", Package::base().host(Arch::Mariana)),
    ]
}

fn cores() -> Vec<Case> {
    let remote = |subgraph: u32, id: u32| {
        let keys =
            json!({"type": "remote", "var_id": 2, "remote_vtpb_rel_sg_id": subgraph, "remote_var_id": id});
        Package::base().twice().var_of(1, "x", keys)
    };
    let first = |package: Package| {
        package.var_of(
            0,
            "y",
            json!({"type": "remote", "var_id": 2, "remote_vtpb_rel_sg_id": 1, "remote_var_id": 1}),
        )
    };
    let alone = json!({"type": "remote", "var_id": 2, "remote_vtpb_rel_sg_id": 0, "remote_var_id": 1});
    vec![
        (701, "E380", remote(0, 9)),
        (704, "E385", remote(2, 1)),
        (705, "E383", remote(1, 1)),
        (704, "E383", Package::base().var("x", alone)),
        (706, "E384", first(remote(0, 2))),
    ]
}

#[test]
fn what_small_code_does_not_check_again_was_refused_before() {
    let mut seen = BTreeSet::new();
    for (code, expected, package) in
        [variables(), queues(), blocks(), sections(), cores()].into_iter().flatten()
    {
        let error = package.refused();
        assert_eq!(
            (error.stage(), error.id().to_string().as_str()),
            (Stage::Manifest, expected),
            "L{code}: {error}"
        );
        seen.insert(code);
    }
    // Beside these: L402 (E363) takes a member of 4 GiB, a payload (L403) is measured within its member, L703 (E207)
    // and L802 (E810) have their cases in the tests of manifests.
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), LEFT);
    let known = |code: &u16| LowerCode::ALL.iter().any(|known| known.info().id.number == *code);
    assert!(LEFT.iter().all(known));
}

/// Placing leaves the same rules to S2, where small code goes before speed: its S202, S203, S208 and S209 are the codes here,
/// and a transfer that S403 is for has no dimensions, an empty one, or too many.
#[test]
fn what_placing_does_not_check_again_was_refused_before() {
    for code in [202, 203, 204, 309, 701, 704] {
        assert!(LEFT.contains(&code), "L{code}");
    }
    for dims in [0, 5] {
        let ones = vec![1; dims];
        let transfer = json!({
            "from": "out", "from_off": 0, "from_sizes": ones, "from_steps": ones,
            "to": "out", "to_off": 0, "to_sizes": [1], "to_steps": [1],
        });
        let queued = Package::base().target("cayman").queue("q", json!({"type": "data", "owner": "pool"}));
        let package = queued.blocks(json!([{"id": 0, "queue": "q", "desc": [transfer]}]));
        assert_eq!(package.refused().id().to_string(), "E375", "{dims} dimensions");
    }
}
