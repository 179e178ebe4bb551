//! Readers that go away, files that are not there, budgets that no machine has.

use neffload_tests::command::{document, neffload, run, status};
use neffload_tests::fixture;
use std::path::Path;
use std::process::Stdio;

/// Runs with the reading end of standard output closed at once.
fn unread(arguments: &[&str], file: &Path) -> Option<i32> {
    let mut child = neffload().args(arguments).arg(file).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    child.wait().unwrap().code()
}

#[test]
fn a_reader_that_went_away_does_not_change_the_answer() {
    let (good, refused) = (fixture("cayman-2core"), fixture("inf1-1core"));
    for arguments in [&["load"][..], &["load", "--json"], &["verify", "--deep"]] {
        assert_eq!(unread(arguments, &good), Some(0), "{arguments:?}");
        assert_eq!(unread(arguments, &refused), Some(1), "{arguments:?}");
    }
}

#[test]
fn verify_goes_on_after_a_file_that_is_not_there() {
    let (good, absent) = (fixture("cayman-2core"), fixture("absent"));
    let words = ["verify".as_ref(), "--json".as_ref(), absent.as_os_str(), good.as_os_str()];
    let output = run(words);
    assert_eq!(status(&output), 2);
    let answer = document(&output);
    assert!(answer["files"][0]["error"].as_str().unwrap().contains("absent"), "{answer}");
    assert_eq!(answer["files"][1]["verdict"]["accepted"], true);
    assert_eq!((&answer["summary"]["unreadable"], &answer["summary"]["accepted"]), (&1.into(), &1.into()));
}

#[test]
fn a_budget_larger_than_the_machine_is_no_reason_to_fail() {
    for most in ["100G", "9223372036854775807", "18446744073709551615"] {
        let file = fixture("sunda-1core");
        let output = run(["load".as_ref(), "--max-memory".as_ref(), most.as_ref(), file.as_os_str()]);
        assert_eq!(status(&output), 0, "{most}");
    }
}
