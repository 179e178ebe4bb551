//! What refusals say: the key that is at fault, where it stands, and numbers as they are in the file.

use crate::small::*;
use loader_std::NeffInfo;
use neffload_tests::trees::Tree;
use serde_json::{Value, json};

const DESC: &str = "/dma/0/desc/0";

/// The message of the refusal, with where it points in its member.
fn refused(ops: &[Value]) -> (String, u64) {
    let (error, text) = *load(&changed(ops)).unwrap_err();
    (text, error.at().offset.unwrap_or(u64::MAX))
}

fn log(ops: &[Value]) -> String {
    load(&changed(ops)).unwrap_err().0.log().to_string()
}

/// Where `needle` stands first in a member, after the changes.
fn place(ops: &[Value], member: &str, needle: &str) -> u64 {
    let tree = changed(ops);
    let text = String::from_utf8(tree.members[member.as_bytes()].clone()).unwrap();
    let at = text.find(needle).unwrap_or_else(|| panic!("{needle} in {text}"));
    (at + needle.len() - needle.rsplit(':').next().unwrap().len()) as u64
}

#[test]
fn a_malformed_key_of_a_transfer_is_named_at_its_value() {
    for (key, value) in [
        ("from", json!(5)),
        ("from_off", json!(-1)),
        ("from_sizes", json!("x")),
        ("from_steps", json!([1.5])),
        ("from_dtype", json!(7)),
        ("to", json!(null)),
        ("to_off", json!("0")),
        ("to_sizes", json!([-4])),
        ("to_steps", json!({})),
        ("to_dtype", json!([])),
        ("op", json!(5)),
        ("cast", json!("yes")),
        ("scale", json!("1")),
        ("num_tiling_dimensions", json!(256)),
        ("transpose_shape", json!([1, 2, 3])),
        ("transpose_element_size", json!(-2)),
    ] {
        let ops = [set(POOL, &format!("{DESC}/{key}"), value.clone())];
        let (text, offset) = refused(&ops);
        assert!(text.starts_with(&format!("E381 malformed {key} of a dma transfer")), "{key}: {text}");
        assert_eq!(offset, place(&ops, POOL, &format!("\"{key}\":{value}")), "{text}");
    }
    let absent = [remove(POOL, &format!("{DESC}/from"))];
    assert!(refused(&absent).0.starts_with("E381 malformed from of a dma transfer"));
    // In a part of `from_arr` the key is named, not the list.
    let part = json!([{"from": "x", "from_off": "zero", "from_sizes": [32], "from_steps": [1]}]);
    let ops = [set(POOL, &format!("{DESC}/from_arr"), part), remove(POOL, &format!("{DESC}/from"))];
    let (text, offset) = refused(&ops);
    assert!(text.starts_with("E381 malformed from_off of a dma transfer"), "{text}");
    assert_eq!(offset, place(&ops, POOL, "\"from_off\":\"zero\""));
    // Of two, the first in the order of the checks, at its own place.
    let ops = [
        set(POOL, &format!("{DESC}/from_steps"), json!(1)),
        set(POOL, &format!("{DESC}/from_off"), json!(-1)),
    ];
    assert_eq!(refused(&ops).1, place(&ops, POOL, "\"from_off\":-1"));
}

#[test]
fn an_object_of_the_wrong_kind_is_named() {
    assert_eq!(
        log(&[set(DEF, "/fp8_conversion_config", json!(null))]),
        "malformed fp8_conversion_config in def.json"
    );
    let inner = log(&[set(DEF, "/fp8_conversion_config", json!({"ocp_sat": "yes"}))]);
    assert_eq!(inner, "malformed ocp_sat in def.json");
    let carveout = |value| refused(&[set(DEF, "/runtime_statebuffer_reservation/0", value)]).0;
    let whole = carveout(json!(5));
    assert!(whole.contains("missing an object in runtime_statebuffer_reservation"), "{whole}");
    assert!(whole.contains("expected an object with the string `type` and the unsigned numbers"), "{whole}");
    assert!(carveout(json!({"type": 5})).contains("missing type in runtime_statebuffer_reservation"));
}

#[test]
fn numbers_are_shown_as_they_are() {
    let mut tree = base();
    let text = String::from_utf8(tree.members[DEF.as_bytes()].clone()).unwrap();
    raw(&mut tree, DEF, text.replace("\"num_queues\":2", "\"num_queues\":18446744073709551616").as_bytes());
    let shown = load(&tree).unwrap_err().0.log().to_string();
    assert_eq!(shown, "num_queues is 18446744073709551616 in DMA queue q");
}

#[test]
fn a_block_names_the_key_that_leads_nowhere() {
    let unknown = |ops: &[Value]| log(ops);
    let wrong = unknown(&[set(POOL, "/dma/0/instance_name", json!(5))]);
    assert_eq!(wrong, "invalid dma block 0: no known queue 5");
    assert_eq!(unknown(&[set(POOL, "/dma/0/queue", json!([1]))]), "invalid dma block 0: no known queue [1]");
    let both = [set(POOL, "/dma/0/queue", json!(7)), set(POOL, "/dma/0/instance_name", json!("r0"))];
    assert_eq!(unknown(&both), "invalid dma block 0: no known queue 7");
    let named = [set(POOL, "/dma/0/instance_name", json!("r9"))];
    assert_eq!(unknown(&named), "invalid dma block 0: no known queue r9");
    assert_eq!(unknown(&[remove(POOL, "/dma/0/queue")]), "invalid dma block 0: no known queue (none named)");
}

#[test]
fn entry_ids_and_nodes_are_shown_however_large() {
    let graph = |pointer: &str, value: Value| refused(&[set("neff.json", pointer, value)]).0;
    let large = 1_u64 << 32;
    for value in [9, large, u64::MAX] {
        let node = graph("/heads", json!([[value, 0, 0]]));
        assert!(node.starts_with(&format!("E108 Output node ID {value} out of bounds")), "{node}");
        let argument = graph("/arg_nodes", json!([value]));
        assert!(argument.starts_with(&format!("E108 Output node ID {value} out of bounds")), "{argument}");
        let row = graph("/node_row_ptr", json!([0, value, 2]));
        assert!(row.starts_with(&format!("E106 EID {value} out of bounds for dtypes (")), "{row}");
        assert!(row.contains("expected an entry id below 2"), "{row}");
    }
    // Node 1's outputs begin at 1.
    let output = graph("/heads", json!([[1, large, 0]]));
    assert!(output.starts_with("E106 EID 4294967297 out of bounds for dtypes ("), "{output}");
    let beyond = graph("/heads", json!([[1, u64::MAX, 0]]));
    assert!(beyond.starts_with("E106 EID 18446744073709551615 out of bounds for dtypes ("), "{beyond}");
    let missing = graph("/node_row_ptr", json!([0]));
    assert!(missing.starts_with("E106 EID 1 (row of node_row_ptr) out of bounds for dtypes"), "{missing}");
    assert!(missing.contains("expected a row below 1"), "{missing}");
    for (pointer, value) in [
        ("/heads", json!([["1", 0, 0]])),
        ("/heads", json!([[1, -1, 0]])),
        ("/arg_nodes", json!(["0"])),
        ("/node_row_ptr", json!([0, 1.5, 2])),
    ] {
        let text = graph(pointer, value);
        assert!(text.starts_with(&format!("E114 malformed {}", &pointer[1..])), "{text}");
    }
}

#[test]
fn the_tools_say_what_a_value_should_be() {
    let text = |def: &str| {
        let mut tree = Tree::default();
        raw(&mut tree, "sg00/def.json", def.as_bytes());
        let refusal = NeffInfo::new(&tree.members).get("getCCRankWorldSize", None).unwrap_err();
        (refusal.error.id().to_string(), refusal.text())
    };
    let key = |log: &str| ("N110".to_owned(), log.to_owned());
    assert_eq!(text(r#"{"replica_groups": [[[-1]]]}"#), key("key replica_groups is not an unsigned int"));
    assert_eq!(text(r#"{"replica_groups": "x"}"#), key("key replica_groups is not an array"));
    assert_eq!(text(r##"{"#rank_world_size": 1.0}"##), key("key #rank_world_size is not an unsigned int"));
    let world = text(r#"{"src_target_pairs": [[[0, 18446744073709551615]]]}"#);
    assert_eq!(
        world,
        ("N115".to_owned(), "the world size after rank 18446744073709551615 does not fit 64 bits".to_owned())
    );
    let mut tree = Tree::default();
    raw(&mut tree, "sg00/def.json", br#"{"src_target_pairs": [[[0, 18446744073709551614]]]}"#);
    let size = NeffInfo::new(&tree.members).get_cc_rank_world_size().unwrap();
    assert_eq!((size.ws_pairs, size.world_size), (u64::MAX, u64::MAX));
}
