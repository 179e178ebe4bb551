//! Generated documents are current.

use loader_core::error::{Code, ContainerCode, Error, Stage};
use loader_std::verdict::NoNames;
use neffload_tests::command::neffload;
use neffload_tests::errors_page::{errors_page, place};
use neffload_tests::transcript::{parts, settled, transcript};
use neffload_tests::workspace;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// `NEFFLOAD_WRITE_DOCS` writes the documents anew instead, as the chores do, with what is built for the tests anyway.
fn wants_to_write() -> bool {
    std::env::var_os("NEFFLOAD_WRITE_DOCS").is_some()
}

#[test]
fn the_transcript_in_the_readme_is_what_the_commands_print() {
    let path = workspace().join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let [before, written, after] = parts(&readme);
    let said = transcript(Path::new(neffload().get_program()));
    if wants_to_write() && settled(written) != settled(&said) {
        return std::fs::write(path, format!("{before}{said}{after}")).unwrap();
    }
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

#[test]
fn the_errors_page_is_current() {
    let path = workspace().join("docs").join("ERRORS.md");
    if wants_to_write() {
        std::fs::write(&path, errors_page()).unwrap();
    }
    let present = std::fs::read_to_string(path).unwrap();
    assert!(present == errors_page(), "run `cargo xtask errors`");
}

/// Placeholders of a text.
fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| rest.split('}').next())
}

/// What happened, where, what was expected, what to do: none is missing, and each reads as one.
#[test]
fn every_error_says_what_where_why_and_what_to_do() {
    const KNOWN: [&str; 11] = ["name", "name2", "a", "b", "c", "a:x", "b:x", "c:x", "a:#x", "b:#x", "c:#x"];
    let help = neffload().arg("--help").output().unwrap();
    let commands = String::from_utf8_lossy(&help.stdout).into_owned();
    for code in Code::all() {
        let (info, remedy) = (code.info(), code.remedy());
        let id = info.id;
        assert!(!info.text.is_empty(), "{id} says nothing");
        assert!(!place(id).is_empty(), "{id} is met nowhere");
        assert!(!info.expected.is_empty(), "{id} expects nothing");
        assert!(!info.expected.ends_with('.'), "{id}: what is expected is a clause: {}", info.expected);
        assert!(remedy.ends_with('.') && remedy.len() > 8, "{id}: what to do is a sentence: `{remedy}`");
        let starts = remedy.starts_with(|first: char| first.is_uppercase() || first == '`');
        assert!(starts, "{id}: what to do is a sentence: {remedy}");
        // A command that is to help is one that there is.
        for named in remedy.split("`neffload ").skip(1) {
            let command = named.split([' ', '`']).next().unwrap_or_default();
            assert!(commands.contains(&format!("\n  {command} ")), "{id}: there is no `neffload {command}`");
        }
        let all = [info.text, info.expected, remedy];
        for key in all.into_iter().flat_map(placeholders) {
            assert!(KNOWN.contains(&key), "{id}: {{{key}}} stands for nothing");
        }
    }
}

/// A whole message, and the short one of programs in little memory.
#[test]
fn a_message_says_all_of_it_in_order() {
    let error = Error::new(Stage::Unpack, ContainerCode::Truncated).offset(99);
    let brief = "C402 failure while reading NEFF metadata truncated gzip input (S1, byte 99); expected more compressed data";
    assert_eq!(error.in_brief(&NoNames).to_string(), brief);
    let whole = format!("{brief}. {}", ContainerCode::Truncated.remedy());
    assert_eq!((error.to_string(), error.with_names(&NoNames).to_string()), (whole.clone(), whole));
}

#[test]
fn every_code_is_printed_once() {
    let mut seen = BTreeSet::new();
    for code in Code::all() {
        let info = code.info();
        assert!(seen.insert(info.id.to_string()), "{} twice", info.id);
        assert!(errors_page().contains(&format!("| {} |", info.id)), "{} is missing", info.id);
    }
}
