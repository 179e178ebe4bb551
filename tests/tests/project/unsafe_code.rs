//! `unsafe` stands where the design allows it, and each use says why it is sound.

use neffload_tests::unsafety::{self, Use};
use neffload_tests::workspace;
use std::collections::BTreeSet;

/// Folders and files that may use it.
const ALLOWED: [&str; 5] = [
    "drivers/src/neuron/",
    "drivers/src/harness/",
    "drivers/src/host/",
    "loader-std/capi/",
    "memory-layouts/",
];

#[test]
fn unsafe_stands_where_it_may_and_is_argued() {
    let uses = unsafety::uses().unwrap();
    for Use { file, line, explained } in &uses {
        assert!(ALLOWED.iter().any(|allowed| file.starts_with(allowed)), "{file} uses unsafe code");
        assert!(explained, "{file}:{line}: unsafe without an argument");
    }
    let places: BTreeSet<&str> = uses.iter().map(|found| found.file.as_str()).collect();
    assert!(places.len() > 10 && uses.len() > 50, "{} uses in {} files", uses.len(), places.len());
}

/// The core and the simulated parts forbid it outright.
#[test]
fn the_core_forbids_it() {
    let text = std::fs::read_to_string(workspace().join("loader-core/src/lib.rs")).unwrap();
    assert!(text.contains("#![forbid(unsafe_code)]"));
}
