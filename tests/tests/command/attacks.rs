//! Files whose meaning is the attack: each is refused by its own code, with its place, before the device is touched.

use neffload_tests::command::{Scratch, document, run, status};
use neffload_tests::lowering::package::Package;
use serde_json::{Value, json};

/// What an attack does, the file, and what the refusal must say: code, member, element.
type Case = (&'static str, Package, &'static str, &'static str, Option<u64>);

const DEFINITION: &str = "sg00/def.json";

fn variable(name: &'static str, keys: Value, code: &'static str) -> Case {
    (name, Package::base().var("v", keys), code, DEFINITION, Some(2))
}

fn queues(count: usize, keys: impl Fn(usize) -> Value) -> Package {
    (0..count).fold(Package::base(), |package, n| package.queue(&format!("q{n:02}"), keys(n)))
}

/// Blocks with these ids on one queue.
fn blocks(ids: &[u64]) -> Package {
    let desc = json!({
        "from": "SB", "from_off": 0, "from_sizes": [64, 1], "from_steps": [1, 64],
        "to": "out", "to_off": 0, "to_sizes": [64, 1], "to_steps": [1, 64],
    });
    let block = |id: &u64| json!({"id": id, "queue": "q", "desc": [desc]});
    Package::base()
        .queue("q", json!({"type": "out", "owner": "pool"}))
        .blocks(ids.iter().map(block).collect::<Vec<_>>().into())
}

fn cases() -> Vec<Case> {
    let huge = 1u64 << 63;
    let scratch = |offset: u64, size: u64| json!({"type": "virtual", "var_id": 2, "size": size, "backing_variable_off": offset});
    let of_size = |class: &str| json!({"type": class, "var_id": 2, "size": huge});
    let plain = |_| json!({"type": "data", "owner": "pool"});
    let sets = |n| json!({"type": "data", "owner": "pool", "num_queues": if n < 11 { 16 } else { 1 }});
    vec![
        variable("tmp-buf of 2^63 bytes", of_size("tmp-buf"), "L214"),
        variable("input of 2^63 bytes", of_size("input"), "L214"),
        variable("output of 2^63 bytes", of_size("output"), "L214"),
        variable("virtual of 2^63 bytes", scratch(0, huge), "L214"),
        variable("virtual that ends at 2^62", scratch((1 << 62) - 64, 64), "L907"),
        variable("area overlap by wrap-around", scratch(u64::MAX - 3, 8), "E322"),
        variable(
            "alignment that is no power of two",
            json!({"type": "tmp-buf", "var_id": 2, "size": 4, "alignment": 48}),
            "E313",
        ),
        ("11 times 16 and one hardware queues", queues(12, sets), "L313", DEFINITION, None),
        ("33 queues", queues(33, plain), "E337", DEFINITION, None),
        ("a block id twice", blocks(&[0, 9, 0]), "S418", "sg00/pool.json", Some(0)),
    ]
}

#[test]
fn each_attack_has_its_code_and_place_before_any_device_operation() {
    let scratch = Scratch::new("attacks");
    let file = scratch.join("attack.neff");
    for (what, package, code, member, element) in cases() {
        std::fs::write(&file, package.neff()).unwrap();
        let output = run(["load", "--json", "--trace"].iter().map(AsRef::as_ref).chain([file.as_os_str()]));
        let said = document(&output);
        let verdict = &said["verdict"];
        assert_eq!((status(&output), verdict["code"].as_str()), (1, Some(code)), "{what}: {verdict}");
        assert_eq!(verdict["member"], member, "{what}: {verdict}");
        if element.is_some() {
            assert_eq!(verdict["element"].as_u64(), element, "{what}: {verdict}");
        }
        assert!(!verdict["found"].is_null() && verdict["status"].as_u64() > Some(0), "{what}: {verdict}");
        assert!(output.stderr.is_empty(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn what_lies_at_the_edge_is_loaded() {
    let scratch = Scratch::new("attack-edges");
    let file = scratch.join("edge.neff");
    let var = |keys| Package::base().var("v", keys);
    let sets = |n| json!({"type": "data", "owner": "pool", "num_queues": if n < 11 { 16 } else { 1 }});
    let edges = [
        ("alignment 0 is none", var(json!({"type": "tmp-buf", "var_id": 2, "size": 4, "alignment": 0}))),
        ("an input of 2^56 bytes", var(json!({"type": "input", "var_id": 2, "size": 1u64 << 56}))),
        ("11 times 16 hardware queues", queues(11, sets)),
        ("32 queues", queues(32, |_| json!({"type": "data", "owner": "pool"}))),
        ("block ids in any order, with gaps", blocks(&[5, 0, u64::from(u32::MAX)])),
    ];
    for (what, package) in edges {
        let file_bytes = package.neff();
        std::fs::write(&file, file_bytes).unwrap();
        let output = run(["load".as_ref(), "--json".as_ref(), file.as_os_str()]);
        assert_eq!(status(&output), 0, "{what}: {}", document(&output)["verdict"]);
    }
}
