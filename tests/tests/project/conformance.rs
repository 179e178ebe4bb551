//! Every conformance case of the container's specification is a test that bears its number.

use neffload_tests::{shared, workspace};
use std::collections::BTreeSet;
use std::fs;

/// Cases with a letter, besides 1 to 125.
const LETTERED: [&str; 6] = ["43a", "43b", "43c", "43d", "51a", "51b"];

/// The case numbers in `fn container_c…` of the container's tests that are marked as tests.
fn named() -> BTreeSet<String> {
    let folder = workspace().join("tests/tests/container");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.is_file()).map(|path| fs::read_to_string(path).unwrap());
    files
        .flat_map(|text| text.split("#[test]\nfn container_c").skip(1).map(number).collect::<Vec<_>>())
        .collect()
}

fn number(rest: &str) -> String {
    let end = rest.find(['_', '(']).unwrap();
    let name = rest[..end].trim_start_matches('0');
    name.to_owned()
}

fn expected() -> BTreeSet<String> {
    (1..=125).map(|case| case.to_string()).chain(LETTERED.map(str::to_owned)).collect()
}

#[test]
fn each_of_the_131_cases_is_a_test() {
    let (named, expected) = (named(), expected());
    assert_eq!(expected.len(), 131);
    let missing: Vec<_> = expected.difference(&named).collect();
    assert!(missing.is_empty(), "no test for {missing:?}");
    // Tests of other things bear no number that the specification does not have.
    let unknown: Vec<_> =
        named.difference(&expected).filter(|name| name.starts_with(char::is_numeric)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn the_list_is_the_specifications() {
    let Some(text) = shared().and_then(|folder| fs::read_to_string(folder.join("spec/container.md")).ok())
    else {
        neffload_tests::skip!("no shared data");
    };
    let cases = text.lines().filter_map(|line| line.strip_prefix("| C-")?.split_once(" |"));
    let cases: BTreeSet<String> = cases.map(|(case, _)| case.trim_start_matches('0').to_owned()).collect();
    assert_eq!(cases, expected());
}
