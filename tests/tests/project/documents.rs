//! Generated documents are current.

use neffload_tests::command::neffload;
use neffload_tests::errors_page::errors_page;
use neffload_tests::transcript::{parts, settled, transcript};
use neffload_tests::workspace;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

#[test]
fn the_transcript_in_the_readme_is_what_the_commands_print() {
    let readme = std::fs::read_to_string(workspace().join("README.md")).unwrap();
    let [_, written, _] = parts(&readme);
    let said = transcript(Path::new(neffload().get_program()));
    assert_eq!(settled(written), settled(&said), "run `cargo xtask readme`");
}

/// The five verbs as a program, which `cargo test` builds beside the tests.
#[test]
fn the_example_of_the_core_runs() {
    let test = std::env::current_exe().unwrap();
    let example = test.ancestors().nth(2).unwrap().join("examples").join("five_verbs");
    assert!(example.is_file(), "{} is not built; run `cargo test --workspace`", example.display());
    let output = Command::new(example).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("core 0: 10 variables, ") && said.contains("arena: "), "{said}");
}

/// Every file that a page names is there.
#[test]
fn pages_name_files_that_exist() {
    for page in ["docs/LOAD.md", "docs/EMBEDDING.md"] {
        let text = std::fs::read_to_string(workspace().join(page)).unwrap();
        let quoted = text.split('`').skip(1).step_by(2);
        for path in quoted.filter(|word| word.starts_with("loader-") || word.starts_with("drivers/")) {
            assert!(workspace().join(path.trim_end_matches('/')).exists(), "{page} names {path}");
        }
    }
}

#[test]
fn the_errors_page_is_current() {
    let path = workspace().join("docs").join("ERRORS.md");
    let present = std::fs::read_to_string(path).unwrap();
    assert!(present == errors_page(), "run `cargo xtask errors`");
}

#[test]
fn every_code_is_printed_once() {
    let mut seen = BTreeSet::new();
    for code in loader_core::error::Code::all() {
        let info = code.info();
        assert!(seen.insert(info.id.to_string()), "{} twice", info.id);
        assert!(errors_page().contains(&format!("| {} |", info.id)), "{} is missing", info.id);
    }
}
