//! What a file has much of, or at great length, does not make the page large; what is left out is counted.

use crate::figures::{check, report};
use neffload_tests::build::edit_json;
use neffload_tests::command::{Scratch, document, neffload};
use neffload_tests::fixtures::named;
use neffload_tests::{fixture, fixture_files, real_files};
use serde_json::{Value, json};

/// Adds inputs to a graph that no program reads.
fn add_inputs(graph: &mut Value, names: impl Iterator<Item = String>) {
    for name in names {
        let node = graph["nodes"].as_array().unwrap().len();
        let push = |list: &mut Value, item: Value| list.as_array_mut().unwrap().push(item);
        push(
            &mut graph["nodes"],
            json!({"op": "null", "name": name, "attrs": {"is_param": "0"}, "inputs": []}),
        );
        push(&mut graph["arg_nodes"], node.into());
        let entries = graph["attrs"]["shape"][1].as_array().unwrap().len();
        push(&mut graph["node_row_ptr"], (entries + 1).into());
        push(&mut graph["attrs"]["shape"][1], json!([4, 8]));
        push(&mut graph["attrs"]["dltype"][1], "int32".into());
        push(&mut graph["attrs"]["storage_id"][1], entries.into());
    }
}

#[test]
fn many_inputs_are_counted_and_not_all_listed() {
    let folder = Scratch::new("bounds-many");
    let file = folder.join("many.neff");
    let mut made = named("cayman-2core");
    edit_json(&mut made.tree, "neff.json", |graph| {
        add_inputs(graph, (0..4000).map(|at| format!("layers.<{}>&{at}", "i".repeat(60))));
    });
    std::fs::write(&file, made.bytes()).unwrap();
    check(&file);
    let (page, document) = report(&file, &folder);
    let inputs = document["io"]["inputs"].as_array().unwrap().len();
    assert_eq!(inputs, 4002);
    assert_eq!(document["io_unlisted"], json!({"inputs": 3902, "outputs": 0}));
    let more = "… <data value=\"3902\" data-from=\"/io_unlisted/inputs\">3,902</data> more inputs";
    assert!(page.contains(more) && !page.contains("more outputs"));
    assert!(page.contains("/io/inputs/99/name") && !page.contains("/io/inputs/100/name"));
    // A page without them says nothing of it.
    let (page, _) = report(&fixture("cayman-2core"), &folder);
    assert!(!page.contains("io_unlisted"));
}

#[test]
fn a_long_name_is_cut() {
    let folder = Scratch::new("bounds-long");
    let file = folder.join("long.neff");
    let mut made = named("cayman-2core");
    let long = |at: usize| format!("{at:03}{}", "&".repeat(7_000));
    edit_json(&mut made.tree, "neff.json", |graph| add_inputs(graph, (0..200).map(long)));
    std::fs::write(&file, made.bytes()).unwrap();
    let (page, document) = report(&file, &folder);
    assert_eq!(document["load"]["verdict"]["accepted"], true, "{}", document["load"]["verdict"]);
    assert_eq!(
        document["io"]["inputs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap().len())
            .max(),
        Some(7_003),
        "whole in the document"
    );
    assert!(page.len() < 2 << 20, "{} bytes", page.len());
    assert!(page.contains(&format!("{}…</span>", "&amp;".repeat(100))));
}

/// The scratchpad belongs to both cores of a logical core; the map of each shows what it has there.
#[test]
fn every_core_shows_its_variables_in_the_scratchpad() {
    let mut seconds = 0;
    for file in fixture_files().into_iter().chain(real_files()) {
        let folder = Scratch::new("bounds-scratchpad");
        let (page, shown) = report(&file, &folder);
        let load = document(&neffload().arg("load").arg(&file).arg("--json").output().unwrap());
        let loaded = load["cores"].as_array().map_or(&[][..], Vec::as_slice);
        for (at, core) in loaded.iter().enumerate() {
            let variables = core["variables"].as_array().unwrap().iter();
            let expected = variables.filter(|v| v["class"] == "virtual" && v["address"].is_string()).count();
            let inside = &shown["load"]["cores"][at]["map"]["scratchpad"];
            assert_eq!(inside["count"], expected, "{} core {at}", file.display());
            let own = core["allocations"].as_array().unwrap().iter().any(|a| a["tag"] == "scratchpad");
            if expected > 0 && !own {
                seconds += 1;
                assert_eq!(inside["held_by"], loaded[0]["core"], "{}", file.display());
                assert!(page.contains(&format!("data-from=\"/load/cores/{at}/map/scratchpad/held_by\"")));
            } else {
                assert_eq!(inside["held_by"], Value::Null, "{}", file.display());
            }
        }
    }
    assert!(seconds > 0, "no file has variables of a second core in the scratchpad");
}

/// What was read of a file that does not load is shown all the same.
#[test]
fn a_refused_load_shows_the_declared_queues() {
    let folder = Scratch::new("bounds-declared");
    let file = folder.join("refused.neff");
    let mut bytes = std::fs::read(fixture("cayman-2core")).unwrap();
    bytes[0xAC] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    check(&file);
    let (page, document) = report(&file, &folder);
    assert_eq!(document["load"]["verdict"]["accepted"], false);
    let declared = document["subgraphs"][0]["declared"].as_array().unwrap();
    assert_eq!(declared.len() as u64, document["subgraphs"][0]["queues"].as_u64().unwrap());
    assert!(!declared.is_empty());
    assert!(page.contains("<h2>Queues and blocks</h2>") && page.contains("so there are no rings"));
    for (at, queue) in declared.iter().enumerate() {
        assert!(page.contains(&format!("data-from=\"/subgraphs/0/declared/{at}/queue\"")));
        assert!(queue["type"].is_string() && queue["instances"].is_u64(), "{queue}");
    }
    let (page, _) = report(&fixture("cayman-2core"), &folder);
    assert!(!page.contains("/declared/"));
}
