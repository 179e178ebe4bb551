//! Readers that go away, files that are not there, budgets that no machine has.

use neffload_tests::command::{Scratch, document, neffload, run, status};
use neffload_tests::{fixture, skip};
use std::fs;
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

/// Warnings on standard error are read apart from the answer: each says whose it is.
#[test]
fn a_warning_of_verify_names_its_file() {
    let scratch = Scratch::new("whose");
    let good = fixture("cayman-2core");
    let odd = scratch.join("odd.neff");
    // Bytes behind the archive, which is worth a remark.
    fs::write(&odd, [fs::read(&good).unwrap(), vec![7; 9]].concat()).unwrap();
    let output = run(["verify".as_ref(), odd.as_os_str(), good.as_os_str(), odd.as_os_str()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((status(&output), said.lines().count()), (0, 2), "{said}");
    assert!(said.lines().all(|line| line.contains("odd.neff: W710 9 bytes")), "{said}");
}

#[test]
fn standard_input_is_named_once() {
    let file = fixture("cayman-2core");
    for (words, expected) in [
        (&["diff", "-", "-"][..], "cannot be both"),
        (&["verify", "-", "-"], "was named before"),
        (&["memory", "-", "-"], "was named before"),
    ] {
        let output = neffload().args(words).stdin(fs::File::open(&file).unwrap()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(status(&output), 2, "{words:?}: {said}");
        assert!(said.contains(expected), "{words:?}: {said}");
    }
}

/// A file whose length the system gives as 0 may have content, or none that can be read.
#[test]
fn a_file_without_a_length_is_read() {
    let memory = Path::new("/proc/self/mem");
    if !memory.exists() {
        skip!("there is no /proc/self/mem");
    }
    let output = run(["verify".as_ref(), memory.as_os_str()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(status(&output), 2, "{said}");
    assert!(said.contains("Input/output error") || said.contains("errno 5"), "{said}");
    let scratch = Scratch::new("empty");
    let empty = scratch.join("empty.neff");
    fs::write(&empty, []).unwrap();
    assert_eq!(status(&run(["verify".as_ref(), empty.as_os_str()])), 1);
}

#[test]
fn memory_says_the_code_and_what_to_do() {
    let scratch = Scratch::new("code");
    let short = scratch.join("short.neff");
    fs::write(&short, [0; 100]).unwrap();
    let output = run(["memory".as_ref(), short.as_os_str()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(status(&output), 1);
    assert!(said.contains("short.neff: no NEFF header followed by a gzipped tar\n"), "{said}");
    assert!(said.contains("\n  C106 ") && said.contains("fetch it again"), "{said}");
}

/// An interrupted command leaves nothing beside its output.
#[test]
fn what_is_interrupted_leaves_nothing() {
    let scratch = Scratch::new("interrupted");
    let tree = scratch.join("tree");
    fs::create_dir(&tree).unwrap();
    // Random enough to take its time.
    let noise: Vec<u8> = (0u32..24 << 20).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(tree.join("neff.json"), noise).unwrap();
    let folder = scratch.join("out");
    fs::create_dir(&folder).unwrap();
    let mut pack = neffload();
    pack.arg("pack").arg(&tree).arg(folder.join("out.neff")).args(["--level", "9"]);
    let mut pack = pack.spawn().unwrap();
    let open = format!("/proc/{}/fd", pack.id());
    let written = || {
        let links = fs::read_dir(&open).into_iter().flatten().flatten();
        links.filter_map(|link| fs::read_link(link.path()).ok()).find(|path| path.starts_with(&folder))
    };
    let mut file = None;
    while file.is_none() && pack.try_wait().unwrap().is_none() {
        file = written();
    }
    if pack.try_wait().unwrap().is_some() {
        skip!("it was over before it could be interrupted");
    }
    pack.kill().unwrap();
    pack.wait().unwrap();
    if file.is_some_and(|file| file.to_string_lossy().ends_with(".part")) {
        skip!("this file system makes no files without a name");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_budget_larger_than_the_machine_is_no_reason_to_fail() {
    for most in ["100G", "9223372036854775807", "18446744073709551615"] {
        let file = fixture("sunda-1core");
        let output = run(["load".as_ref(), "--max-memory".as_ref(), most.as_ref(), file.as_os_str()]);
        assert_eq!(status(&output), 0, "{most}");
    }
}
