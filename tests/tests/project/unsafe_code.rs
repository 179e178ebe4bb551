//! `unsafe` stands where the design allows it, and each use says why it is sound.

use neffload_tests::workspace;
use std::path::{Path, PathBuf};

/// Folders and files that may use it.
const ALLOWED: [&str; 5] = [
    "drivers/src/neuron/",
    "drivers/src/harness/",
    "loader-std/src/map.rs",
    "loader-std/capi/",
    "memory-layouts/",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && name != "target" && name != ".git" {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The code of a line: no comment, no text in quotes.
fn code(line: &str) -> String {
    let mut parts = line.split('"');
    let outside: String = parts.by_ref().step_by(2).collect();
    outside.split("//").next().unwrap_or("").to_owned()
}

/// An exported name is no operation: its contract is that of the C interface, which the module states.
fn uses_unsafe(code: &str) -> bool {
    code.trim_start() != "#[unsafe(no_mangle)]"
        && code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
}

/// Whether the lines before `at` argue for it: a `SAFETY:` comment, or the `# Safety` section of a function's page.
/// Attributes, comments, and the start of the statement it stands in may lie between.
fn is_argued(lines: &[&str], at: usize) -> bool {
    let above = || lines[..=at].iter().rev();
    let argued = above().take(12).any(|line| line.contains("SAFETY:") || line.contains("# Safety"));
    // A trait's method has its contract where the trait is.
    let of_trait =
        || above().find(|line| line.starts_with("impl")).is_some_and(|line| line.contains(" for "));
    argued || lines[at].starts_with("    unsafe fn ") && of_trait()
}

#[test]
fn unsafe_stands_where_it_may_and_is_argued() {
    let root = workspace();
    let mut files = Vec::new();
    for folder in ["loader-core", "loader-std", "drivers", "xtask", "tests", "memory-layouts"] {
        sources(&root.join(folder), &mut files);
    }
    let (mut places, mut uses) = (0, 0);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        let lines: Vec<&str> = text.lines().collect();
        let found: Vec<usize> = (0..lines.len()).filter(|at| uses_unsafe(&code(lines[*at]))).collect();
        // Lint attributes name `unsafe_code`, which is another word.
        if found.is_empty() {
            continue;
        }
        assert!(ALLOWED.iter().any(|allowed| name.starts_with(allowed)), "{name} uses unsafe code");
        places += 1;
        for at in found {
            assert!(is_argued(&lines, at), "{name}:{}: unsafe without an argument", at + 1);
            uses += 1;
        }
    }
    assert!(places > 10 && uses > 50, "{uses} uses in {places} files");
}

/// The core and the simulated parts forbid it outright.
#[test]
fn the_core_forbids_it() {
    let text = std::fs::read_to_string(workspace().join("loader-core/src/lib.rs")).unwrap();
    assert!(text.contains("#![forbid(unsafe_code)]"));
}
