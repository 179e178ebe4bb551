//! Variables that stand for others: remote ones and pointers, by every form, and what is wrong with them.

use crate::small::*;
use neffload_tests::trees::Tree;
use serde_json::{Value, json};

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
        let report = load(&tree).unwrap_or_else(|refused| panic!("{}", refused.1));
        let remote = &report["subgraphs"][0]["vars"][name]["remote"];
        assert_eq!(remote["sg"], 1, "{name}");
        assert_eq!(remote["var_id"], if name == "only_there" { 8 } else { 3 }, "{name}");
    }
}

#[test]
fn what_says_whose_a_remote_variable_is_must_agree() {
    let entry = |more: Value| {
        let mut entry = json!({"type": "remote", "var_id": 8});
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    };
    // Variable 3 of the other subgraph is `t`, 4 another one.
    for (name, more) in [
        ("t{1}", json!({"remote_vtpb_rel_sg_id": 1, "remote_var_id": 3})),
        ("t_remote_1", json!({"remote_sg_id": 1, "remote_var_id": 3})),
        ("t{1}", json!({"remote_core": 1})),
        ("t{1}", json!({"remote_var_id": 3})),
        ("t{1}", json!({"remote_var_id": "t", "remote_core": 1, "remote_sg_id": 1})),
        ("any", json!({"remote_core": 1, "remote_name": "t"})),
        ("any", json!({"remote_name": "t"})),
        ("any", json!({"remote_var_id": 3})),
    ] {
        let report = load(&with_remote(name, entry(more.clone())));
        let report = report.unwrap_or_else(|refused| panic!("{name} {more}: {}", refused.1));
        let remote = &report["subgraphs"][0]["vars"][name]["remote"];
        assert_eq!((&remote["sg"], &remote["var_id"]), (&json!(1), &json!(3)), "{name} {more}");
    }
    for (expected, name, more) in [
        ("E386", "t{1}", json!({"remote_vtpb_rel_sg_id": 1, "remote_var_id": 4})),
        ("E386", "t_remote_1", json!({"remote_vtpb_rel_sg_id": 1, "remote_var_id": 4})),
        ("E386", "t{0}", json!({"remote_vtpb_rel_sg_id": 1, "remote_var_id": 3})),
        ("E386", "t{2}", json!({"remote_core": 1})),
        ("E386", "t{1}", json!({"remote_var_id": 4})),
        ("E386", "absent{1}", json!({"remote_var_id": 3})),
        ("E386", "any", json!({"remote_core": 1, "remote_var_id": 4, "remote_name": "t"})),
        ("E383", "t{1}", json!({"remote_vtpb_rel_sg_id": 0, "remote_var_id": 3})),
        ("E386", "t{1}", json!({"remote_var_id": "x"})),
        ("E380", "t{1}", json!({"remote_var_id": "absent"})),
        ("E324", "t{1}", json!({"remote_var_id": -1})),
        ("E324", "t{1}", json!({"remote_core": 1, "remote_sg_id": 0})),
        ("E324", "t{1}", json!({"remote_name": 3})),
        ("E324", "t{1}", json!({"remote_var_id": "t", "remote_name": "x"})),
        ("E385", "t{1}", json!({"remote_core": u32::MAX})),
        ("E380", "t{1}", json!({"remote_var_id": u32::MAX})),
    ] {
        assert_eq!(refused(&with_remote(name, entry(more.clone())), 0).0, expected, "{name} {more}");
    }
    // The same name in the only other subgraph is a name for it, too.
    let mut tree = with_remote("far", entry(json!({"remote_core": 1, "remote_var_id": 3})));
    tree.apply(&set("sg01/def.json", "/var/far", json!({"type": "tmp-buf", "var_id": 8, "size": 4})));
    assert_eq!(refused(&tree, 0).0, "E386");
}

/// Two subgraphs, the first with one more variable.
fn with_remote(name: &str, entry: Value) -> Tree {
    let mut tree = two_graphs();
    tree.apply(&set(DEF, &format!("/var/{name}"), entry));
    tree
}

/// The refusal of the ninth variable of subgraph `graph`.
fn refused(tree: &Tree, graph: u8) -> (String, String) {
    let (error, text) = *load(tree).unwrap_err();
    complete(&error, &text);
    assert_eq!((error.at().subgraph, error.at().element), (Some(graph), Some(8)), "{text}");
    assert!(text.contains(&format!("sg0{graph}/def.json")), "{text}");
    (error.id().to_string(), error.log().to_string())
}

#[test]
fn remote_variables_are_refused_by_kind() {
    let remote = || json!({"type": "remote", "var_id": 8});
    let keys = |subgraph: u32, var_id: u32| {
        let mut entry = remote();
        entry["remote_vtpb_rel_sg_id"] = json!(subgraph);
        entry["remote_var_id"] = json!(var_id);
        entry
    };
    let cases = [
        ("E380", "absent{1}", remote(), ": absent{1}"),
        ("E380", "none", remote(), ": none"),
        ("E380", "any", keys(1, 99), ": any"),
        ("E383", "t{0}", remote(), ": t{0} names its own subgraph"),
        ("E383", "t_remote_0", remote(), ": t_remote_0 names its own subgraph"),
        ("E383", "any", keys(0, 3), ": any names its own subgraph"),
        ("E385", "t{2}", remote(), ": t{2} names subgraph 2"),
        ("E385", "t_remote_4294967295", remote(), ": t_remote_4294967295 names subgraph 4294967295"),
        ("E385", "any", keys(7, 3), ": any names subgraph 7"),
    ];
    for (expected, name, entry, end) in cases {
        let (code, log) = refused(&with_remote(name, entry), 0);
        assert_eq!(code, expected, "{name}");
        assert_eq!(log, format!("Failed to resolve remote variables for subgraphs 0 to 1{end}"));
    }
    for (expected, name) in [("E383", "t{0}"), ("E385", "t{1}"), ("E385", "alone")] {
        let tree = changed(&[set(DEF, &format!("/var/{name}"), remote())]);
        assert_eq!(refused(&tree, 0).0, expected, "{name}");
    }
}

#[test]
fn remote_variables_form_no_chain_and_no_cycle() {
    let remote = json!({"type": "remote", "var_id": 8});
    let mut chain = with_remote("far{1}", remote.clone());
    chain.apply(&set("sg01/def.json", "/var/far", json!({"type": "remote", "var_id": 8})));
    let (code, log) = refused(&chain, 0);
    assert_eq!(code, "E384");
    assert!(log.ends_with(": far{1} refers to the remote variable far"), "{log}");
    let to = |subgraph: u32| json!({"type": "remote", "var_id": 8, "remote_vtpb_rel_sg_id": subgraph, "remote_var_id": 8});
    let mut cycle = with_remote("a", to(1));
    cycle.apply(&set("sg01/def.json", "/var/b", to(0)));
    assert_eq!(refused(&cycle, 0).0, "E384");
}

#[test]
fn pointers_are_refused_by_kind() {
    let pointer =
        |id: u32, to: u32| json!({"type": "pointer", "var_id": id, "size": 8, "referenced_var_id": to});
    let own = changed(&[set(DEF, "/var/p", pointer(6, 6))]);
    let chain = changed(&[set(DEF, "/var/o", pointer(8, 6))]);
    let cycle = changed(&[set(DEF, "/var/p", pointer(6, 8)), set(DEF, "/var/o", pointer(8, 6))]);
    let absent = changed(&[set(DEF, "/var/p", pointer(6, 9))]);
    for (tree, expected, element, log) in [
        (own, "E325", 6, "pointer p refers to itself"),
        (chain, "E326", 8, "pointer o refers to the pointer p"),
        (cycle, "E326", 6, "pointer p refers to the pointer o"),
        (absent, "E323", 6, "p refers to variable 9, which does not exist"),
    ] {
        let (error, text) = *load(&tree).unwrap_err();
        complete(&error, &text);
        let found = (error.id().to_string(), error.at().element, error.log().to_string());
        assert_eq!(found, (expected.to_owned(), Some(element), log.to_owned()));
    }
}
