//! The cases that need no sample tree, and what must not matter: key order, white space, pieces, escapes.

use crate::small::*;
use loader_core::arch::{Arch, Engine};
use loader_core::limits::Limits;
use loader_core::manifest::{Detail, dtype};
use loader_core::policy::Policy;
use neffload_tests::payload::{Mode, packed, with_manifest};
use serde_json::{Value, json};

#[test]
fn manifests_z01() {
    let tree = base();
    let size = tree.members[DEF.as_bytes()].len() as u64;
    let limits = Limits { json_bytes: size - 1, ..Limits::DEFAULT };
    let (error, _) = *run(&tree, &Policy::default(), &limits, Mode::Resident).unwrap_err();
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
    let (error, _) = *run(&two_graphs(), &policy, &Limits::DEFAULT, Mode::Resident).unwrap_err();
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
    let expected = load(&tree).unwrap_or_else(|refused| panic!("{}", refused.1));
    let mut other = tree.clone();
    for (name, bytes) in &mut other.members {
        if name.ends_with(b".json") {
            let value: Value = serde_json::from_slice(bytes).unwrap();
            *bytes = serde_json::to_vec_pretty(&reversed(&value)).unwrap();
        }
    }
    for mode in [Mode::Resident, Mode::Chunks(1), Mode::Chunks(7)] {
        let outcome = run(&other, &Policy::default(), &Limits::DEFAULT, mode);
        assert_eq!(outcome.unwrap_or_else(|refused| panic!("{}", refused.1)), expected, "{mode:?}");
    }
}

#[test]
fn names_may_be_spelt_with_escapes() {
    let mut tree = base();
    let spelt = |name: &str| String::from_utf8(tree.members[name.as_bytes()].clone()).unwrap();
    let def = spelt(DEF).replace("\"t\"", "\"\\u0074\"").replace("\"data\"", "\"d\\u0061ta\"");
    let pool = spelt(POOL).replace("\"t\"", "\"\\u0074\"").replace("\"q\"", "\"\\u0071\"");
    let expected = load(&tree).unwrap_or_else(|refused| panic!("{}", refused.1));
    raw(&mut tree, DEF, def.as_bytes());
    raw(&mut tree, POOL, pool.as_bytes());
    assert_eq!(load(&tree).unwrap_or_else(|refused| panic!("{}", refused.1)), expected);
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
    outcome.unwrap_or_else(|refused| panic!("{}", refused.1));
}

#[test]
fn area_classes_are_an_option() {
    let mut tree = base();
    tree.apply(&set(DEF, "/var/v/type", json!("shared")));
    assert_eq!(code(&load(&tree)), "E312");
    let policy = Policy { accept_area_classes: true, ..Policy::default() };
    let report = run(&tree, &policy, &Limits::DEFAULT, Mode::Resident)
        .unwrap_or_else(|refused| panic!("{}", refused.1));
    let variable = &report["subgraphs"][0]["vars"]["v"];
    assert_eq!((variable["type"].as_str(), variable["area"].as_str()), (Some("virtual"), Some("shared")));
}
