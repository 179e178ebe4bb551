//! `neffload info` and `neffload memory` over packed sample trees: values, documents, exit status.

use neffload_tests::command::{Scratch, neffload};
use neffload_tests::shared;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

const TREES: [&str; 5] = ["mlp-1core", "lnc2-decode", "cc-allreduce", "legacy-kelp", "alias-must"];

/// A folder of this test's own, with all sample trees packed; `None` without shared data.
fn packed(label: &str) -> Option<Scratch> {
    let samples = shared()?.join("samples");
    let folder = Scratch::new(label);
    fs::create_dir_all(folder.join("inner")).unwrap();
    for tree in TREES {
        let source = samples.join(tree).join("neff");
        let mut command = neffload();
        command.arg("pack").args([&source, &file(&folder, tree)]).arg("--json");
        assert!(command.output().unwrap().status.success());
    }
    Some(folder)
}

fn file(folder: &Scratch, tree: &str) -> PathBuf {
    folder.join("inner").join(format!("{tree}.neff"))
}

fn expected(tree: &str) -> Value {
    let path = shared().unwrap().join("samples").join(tree).join("expected.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The document and the exit status.
fn ask(arguments: &[&str]) -> (Value, i32) {
    let output = neffload().args(arguments).arg("--json").output().unwrap();
    let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (document, output.status.code().unwrap())
}

#[test]
fn info_gives_the_expected_values_and_refusals() {
    let Some(folder) = packed("info") else { return println!("skipped: no shared/samples") };
    for tree in TREES {
        let path = file(&folder, tree);
        let expected = expected(tree);
        let getters = expected["neffinfo"].as_object().unwrap().iter();
        for (getter, value) in getters.filter(|(getter, _)| !getter.contains('.') && *getter != "kelf_nodes")
        {
            let (document, status) = ask(&["info", path.to_str().unwrap(), getter]);
            assert_eq!(document["schema"], "neffload.info/1");
            match value.get("error").or(value.is_null().then_some(value)) {
                Some(text) => {
                    assert_eq!(status, 1, "{tree} {getter}");
                    let found = document["error"].as_str().unwrap();
                    assert!(found.starts_with(text.as_str().unwrap_or("")), "{tree} {getter}: {found}");
                }
                None => assert_eq!((&document["value"], status), (value, 0), "{tree} {getter}"),
            }
        }
    }
}

#[test]
fn info_has_its_own_exit_status_for_each_trouble() {
    let (document, status) = ask(&["info", "/nonexistent/file.neff", "getKelf"]);
    assert_eq!((document["error"].as_str(), status), (Some("NEFF does not exist."), 1));
    assert_eq!(ask(&["info", "/nonexistent/file.neff", "getNothing"]).1, 2);
    assert_eq!(ask(&["info", "/", "getKelf"]).1, 2);
    assert_eq!(ask(&["info", "/nonexistent/file.neff", "findInNeff"]).1, 2);
}

#[test]
fn memory_adds_a_folder_up_and_names_what_it_cannot_read() {
    let Some(folder) = packed("memory") else { return println!("skipped: no shared/samples") };
    for tree in TREES {
        let path = file(&folder, tree);
        let (document, status) = ask(&["memory", path.to_str().unwrap()]);
        let total = &document["memory"]["total_one_graph"];
        assert_eq!((total, status), (&expected(tree)["memory"]["total_one_graph"], 0), "{tree}");
    }
    fs::write(folder.join("short.neff"), [0; 100]).unwrap();
    let (document, status) = ask(&["memory", folder.join("").to_str().unwrap()]);
    assert_eq!(status, 1);
    let files = document["files"].as_array().unwrap();
    let line = files.iter().find_map(|file| file["error"]["line"].as_str()).unwrap();
    assert!(line.ends_with("short.neff: no NEFF header followed by a gzipped tar"), "{line}");
    let figures = TREES.map(|tree| expected(tree)["memory"].clone());
    let sum = figures.iter().map(|memory| memory["persistent_bytes"].as_u64().unwrap()).sum::<u64>();
    let most = figures.iter().map(|memory| memory["scratchpad_rounded"].as_u64().unwrap()).max().unwrap();
    assert_eq!(document["together"]["resident"], sum);
    assert_eq!(document["together"]["scratchpad"], most);
    assert_eq!(document["together"]["runtime"], (72 + 5 * 4) << 20);
}

#[test]
fn memory_takes_the_page_as_a_parameter_and_from_the_environment() {
    let Some(folder) = packed("page") else { return println!("skipped: no shared/samples") };
    let path = file(&folder, "lnc2-decode");
    let path = path.to_str().unwrap();
    let figures = |document: &Value| {
        let memory = &document["memory"];
        [&memory["page_bytes"], &memory["scratchpad_rounded"]].map(|figure| figure.as_u64().unwrap() >> 20)
    };
    assert_eq!(figures(&ask(&["memory", path]).0), [64, 192]);
    assert_eq!(figures(&ask(&["memory", path, "--page-size", "512M"]).0), [512, 1024]);
    let mut command = neffload();
    command.args(["memory", path, "--json"]).env("NEURON_RT_ONE_TMPBUF_PAGE_SIZE_MB", "128");
    let document = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    assert_eq!(figures(&document), [128, 256]);
    for size in ["0", "1", "4097", "67108865", "4096M"] {
        assert_eq!(ask(&["memory", path, "--page-size", size]).1, 2, "{size}");
    }
}
