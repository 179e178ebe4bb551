//! Several files on one device: `neffload load A B …` and `neffload memory --staged`.

use neffload_tests::command::{Scratch, document, grow_scratchpad, run, status};
use neffload_tests::{fixture, fixture_files};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

fn ask(words: &[&str], files: &[PathBuf]) -> (i32, Value) {
    let files = files.iter().map(|file| file.as_os_str());
    let output = run(words.iter().map(AsRef::<OsStr>::as_ref).chain(files));
    (status(&output), document(&output))
}

fn addresses(document: &Value) -> Vec<String> {
    let cores = document["cores"].as_array().unwrap().iter();
    let blocks = cores.flat_map(|core| core["allocations"].as_array().unwrap());
    blocks.map(|block| block["address"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn files_are_loaded_into_one_device_together() {
    let files = [fixture("cayman-2core"), fixture("cayman-registers")];
    let (status, both) = ask(&["load", "--json"], &files);
    assert_eq!((status, &both["verdict"]["accepted"]), (0, &Value::Bool(true)));
    assert_eq!(both["schema"], "neffload.load/1");
    let entries = both["files"].as_array().unwrap();
    let names: Vec<_> = entries.iter().map(|entry| entry["file"].as_str().unwrap()).collect();
    assert_eq!(names, files.each_ref().map(|file| file.to_str().unwrap()));
    let handles: Vec<_> = entries.iter().map(|entry| entry["model"]["h_nn"].as_u64().unwrap()).collect();
    assert_eq!(handles, [1, 2]);
    // The second file lies elsewhere than when it is alone, and nowhere on the first.
    let (_, alone) = ask(&["load", "--json"], &files[1..]);
    let (first, second) = (addresses(&entries[0]), addresses(&entries[1]));
    assert_ne!(addresses(&alone), second);
    assert!(second.iter().all(|address| !first.contains(address)));
    // An entry has the keys of the document of one file, and its name.
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&entries[1]), [keys(&alone), vec!["file".to_owned()]].concat());
}

#[test]
fn one_refused_file_does_not_stop_the_others() {
    let files = [fixture("inf1-1core"), fixture("cayman-2core")];
    let (status, both) = ask(&["load", "--json"], &files);
    assert_eq!((status, both["verdict"]["code"].as_str()), (1, Some("E204")));
    assert_eq!(both["files"][0]["verdict"]["code"], "E204");
    assert_eq!(both["files"][1]["model"]["state"], "ready");
    // A file for another architecture than the device has.
    let (status, both) = ask(&["load", "--json"], &[fixture("cayman-2core"), fixture("mariana-gather")]);
    assert_eq!((status, both["files"][1]["verdict"]["accepted"].as_bool()), (1, Some(false)));
}

#[test]
fn rounds_and_dumps_of_several_files() {
    let scratch = Scratch::new("together");
    let folder = scratch.join("dump");
    let files = [fixture("cayman-2core"), fixture("cayman-2core")];
    let words = ["load", "--json", "--repeat", "3", "--dump", folder.to_str().unwrap()];
    let (status, both) = ask(&words, &files);
    assert_eq!(status, 0);
    for (index, entry) in both["files"].as_array().unwrap().iter().enumerate() {
        let own = folder.join(index.to_string());
        let report: Value = serde_json::from_slice(&std::fs::read(own.join("report.json")).unwrap()).unwrap();
        assert_eq!(report["cores"], entry["cores"]);
        let images = report["cores"][0]["images"].as_array().unwrap();
        let image = images[0]["address"].as_str().unwrap();
        assert!(own.join(format!("0-{image}.bin")).is_file());
    }
    let text =
        run(["load"].iter().map(AsRef::<OsStr>::as_ref).chain(files.iter().map(|file| file.as_os_str())));
    let text = String::from_utf8(text.stdout).unwrap();
    assert_eq!(text.matches("ready").count(), 2, "{text}");
}

/// The nine categories with their sum, and the shared scratchpad.
const CATEGORIES: [&str; 11] = [
    "model_code",
    "model_constants",
    "scratchpad",
    "runtime",
    "dma_rings_io",
    "dma_rings_spill",
    "dma_rings_collectives",
    "dma_rings_runtime",
    "collectives",
    "total",
    "shared_scratchpad",
];

#[test]
fn staged_figures_are_those_of_a_load() {
    for file in fixture_files() {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let (status, memory) = ask(&["memory", "--json", "--staged"], std::slice::from_ref(&file));
        if name.starts_with("inf1") {
            assert_eq!((status, memory["verdict"]["code"].as_str()), (1, Some("E204")));
            assert!(memory["memory"]["total_one_graph"].is_u64(), "the estimate is there all the same");
            continue;
        }
        assert_eq!(status, 0, "{name}");
        let (_, loaded) = ask(&["load", "--json"], &[file]);
        let cores = loaded["cores"].as_array().unwrap();
        let breakdown = memory["breakdown"].as_array().unwrap();
        assert_eq!(breakdown.len(), cores.len());
        for (staged, core) in breakdown.iter().zip(cores) {
            assert_eq!((&staged["core"], &staged["subgraph"]), (&core["core"], &core["subgraph"]));
            for category in CATEGORIES {
                assert!(
                    staged[category].is_u64() && staged[category] == core["breakdown"][category],
                    "{name} {category}"
                );
            }
            let sum: u64 = CATEGORIES[..9].iter().map(|category| staged[*category].as_u64().unwrap()).sum();
            assert_eq!(staged["total"], sum);
        }
    }
}

/// staging.md §17.2: the scratchpad of the core, whichever file needs how much of it.
#[test]
fn the_shared_scratchpad_is_the_cores_and_not_the_files() {
    let scratch = Scratch::new("shared-scratchpad");
    let large = scratch.changed("cayman-2core", |fixture| grow_scratchpad(fixture, 100 << 20));
    let files = [large, fixture("cayman-2core")];
    let words = ["load", "--json", "--trace"].map(AsRef::<OsStr>::as_ref);
    let output = run(words.into_iter().chain(files.iter().map(|file| file.as_os_str())));
    let log = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(log.matches("shared scratchpad: 128.000MB").count(), 2, "{log}");
    let (_, memory) = ask(&["memory", "--json", "--staged"], &files);
    for (entry, staged) in document(&output)["files"].as_array().unwrap().iter().zip(0..) {
        assert_eq!(entry["cores"][0]["breakdown"]["shared_scratchpad"], 128 << 20);
        assert_eq!(memory["files"][staged]["breakdown"][0]["shared_scratchpad"], 128 << 20);
    }
    // What a file uses of it its allocations say.
    let pages = |file: usize| {
        let blocks = document(&output)["files"][file]["cores"][0]["allocations"].clone();
        blocks.as_array().unwrap().iter().filter(|block| block["usage"] == "SCRATCHPAD").count()
    };
    assert_eq!((pages(0), pages(1)), (2, 1));
}

#[test]
fn staged_files_share_the_scratchpad() {
    let files = [fixture("cayman-2core"), fixture("cayman-2core")];
    let (status, memory) = ask(&["memory", "--json", "--staged"], &files);
    assert_eq!(status, 0);
    let shared = |file: usize| memory["files"][file]["breakdown"][0]["shared_scratchpad"].as_u64().unwrap();
    assert!(shared(0) > 0);
    assert_eq!(shared(0), shared(1), "the same pages");
    let output = run(["memory".as_ref(), "--staged".as_ref(), Path::new(&files[0]).as_os_str()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("[ND 0:NC 1] Current Usage Total: "), "{text}");
    assert!(text.contains("        * dma rings spill: "), "{text}");
}
