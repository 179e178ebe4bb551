//! The memory layouts: each is enough for what it says.

use neffload_tests::command::{document, run, status};
use neffload_tests::{fixture_files, real_files, workspace};
use std::fs;
use std::path::PathBuf;
use toml::Table;

fn layouts() -> Vec<(PathBuf, Table)> {
    let folder = fs::read_dir(workspace().join("memory-layouts")).unwrap();
    let paths = folder.map(|entry| entry.unwrap().path());
    let tables = paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    tables.map(|path| (path.clone(), fs::read_to_string(path).unwrap().parse().unwrap())).collect()
}

#[test]
fn every_host_layout_holds_every_loadable_file() {
    // Those of images say what each of them is for; the images' own tests load that.
    let host = |(_, layout): &(PathBuf, Table)| layout["memory"].get("total").is_some();
    let layouts: Vec<_> = layouts().into_iter().filter(host).collect();
    assert!(!layouts.is_empty());
    for (path, layout) in &layouts {
        let total = layout["memory"]["total"].as_integer().unwrap().to_string();
        for file in fixture_files().iter().chain(&real_files()) {
            let output = run(["load", "--json", "--max-memory", &total]
                .map(AsRef::as_ref)
                .into_iter()
                .chain([file.as_os_str()]));
            let answer = document(&output);
            let legacy = answer["verdict"]["code"] == "E204";
            assert_eq!(
                status(&output),
                i32::from(legacy),
                "{}: {}: {answer}",
                path.display(),
                file.display()
            );
            if !legacy {
                assert!(answer["peak"]["arena_bytes"].as_i64() < layout["memory"]["total"].as_integer());
            }
        }
    }
}

#[test]
fn a_plan_is_a_layout() {
    for file in fixture_files() {
        let output = run(["plan".as_ref(), file.as_os_str(), "-o".as_ref(), "-".as_ref()]);
        if status(&output) == 0 {
            let plan: Table = String::from_utf8(output.stdout).unwrap().parse().unwrap();
            assert!(plan["memory"]["total"].as_integer() > plan["memory"]["arena"].as_integer());
        }
    }
}
