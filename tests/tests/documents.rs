//! Generated documents are current.

use neffload_tests::errors_page::errors_page;
use neffload_tests::workspace;
use std::collections::BTreeSet;

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
