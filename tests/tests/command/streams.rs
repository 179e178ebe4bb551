//! Readers that go away, files that are not there, budgets that no machine has.

use neffload_tests::command::{Scratch, document, neffload, run, status};
use neffload_tests::container::File as Packed;
use neffload_tests::container::tar::Tar;
use neffload_tests::{fixture, skip};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

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
        (&["load", "-", "-"], "was named before"),
        (&["load", "-", "--dump", "nowhere", "-"], "was named before"),
    ] {
        let output = neffload().args(words).stdin(fs::File::open(&file).unwrap()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(status(&output), 2, "{words:?}: {said}");
        assert!(said.contains(expected), "{words:?}: {said}");
    }
    assert!(!Path::new("nowhere").exists());
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

/// The arguments of a process hold what the system says is a file of no bytes.
#[test]
fn what_is_in_a_file_without_a_length_is_found() {
    if !Path::new("/proc/self/cmdline").exists() {
        skip!("there is no /proc");
    }
    let model = fs::read(fixture("cayman-2core")).unwrap();
    // An argument ends with the NUL that is not in it.
    let end = model.len() - usize::from(model.ends_with(&[0]));
    let arguments = model[..end].split(|byte| *byte == 0).map(OsStr::from_bytes);
    let mut shell = Command::new("sh");
    let mut shell =
        shell.args(["-c", "read line; exit"]).args(arguments).stdin(Stdio::piped()).spawn().unwrap();
    let file = format!("/proc/{}/cmdline", shell.id());
    // It is empty until the shell has begun.
    let end = Instant::now() + Duration::from_secs(60);
    while fs::read(&file).unwrap().is_empty() && Instant::now() < end {
        thread::sleep(Duration::from_millis(10));
    }
    let start = "sh\0-c\0read line; exit\0".len();
    let found = run(["find", "--json", &file]);
    let text = run(["find", &file]);
    drop(shell.stdin.take());
    shell.wait().unwrap();
    assert_eq!((status(&found), status(&text)), (0, 0), "{}", String::from_utf8_lossy(&found.stderr));
    let answer = &document(&found)["found"][0];
    assert_eq!((&answer["offset"], &answer["size"]), (&start.into(), &model.len().into()));
    assert_eq!(answer["verdict"]["accepted"], true, "{answer}");
    assert!(String::from_utf8_lossy(&text.stdout).contains(&format!("{file}@{start}")));
    // An empty one holds nothing.
    let scratch = Scratch::new("void");
    fs::write(scratch.join("void"), []).unwrap();
    let output = run(["find".as_ref(), scratch.join("void").as_os_str()]);
    assert_eq!((status(&output), output.stdout.as_slice()), (0, &b"nothing in 1 file\n"[..]));
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

/// The same of members that wait for the end of their file.
#[test]
fn an_interrupted_extract_leaves_nothing() {
    let scratch = Scratch::new("interrupted-extract");
    let (plain, folder) = (scratch.join("plain.neff"), scratch.join("out"));
    let fixture = fixture("cayman-2core");
    assert_eq!(
        status(&run(["pack".as_ref(), "--uncompressed".as_ref(), fixture.as_os_str(), plain.as_os_str()])),
        0
    );
    let bytes = fs::read(&plain).unwrap();
    let mut extract = neffload();
    extract.args(["extract", "-", "-C"]).arg(&folder).stdin(Stdio::piped());
    let mut extract = extract.spawn().unwrap();
    let mut pipe = extract.stdin.take().unwrap();
    pipe.write_all(&bytes[..bytes.len() * 3 / 4]).unwrap();
    let open = format!("/proc/{}/fd", extract.id());
    let files = || {
        let links = fs::read_dir(&open).into_iter().flatten().flatten();
        let paths = links.filter_map(|link| fs::read_link(link.path()).ok());
        paths.filter(|path| path.starts_with(&folder) && path != &folder).count()
    };
    let end = Instant::now() + Duration::from_secs(60);
    while files() < 20 && Instant::now() < end && extract.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(20));
    }
    let waiting = files();
    extract.kill().unwrap();
    extract.wait().unwrap();
    if waiting < 20 {
        skip!("this file system makes no files without a name");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{waiting} members waited");
}

/// Of more members than files may be open, the rest wait in a folder, which is gone afterwards.
#[test]
fn more_members_than_open_files_are_extracted() {
    let scratch = Scratch::new("members");
    let (path, folder) = (scratch.join("many.neff"), scratch.join("out"));
    let mut tar = Tar::new();
    for number in 0..900 {
        tar.file(format!("m{number}"), format!("{number}").into_bytes());
    }
    // The last one of a name counts.
    tar.file("m7", b"again");
    fs::write(&path, Packed::raw(tar.finish()).bytes()).unwrap();
    for most in ["32", "256", "1024"] {
        let mut command = Command::new("sh");
        command
            .args(["-c", "ulimit -n \"$1\"; shift; exec \"$@\"", "sh", most])
            .arg(neffload().get_program());
        let output = command.arg("extract").arg(&path).arg("-C").arg(&folder).output().unwrap();
        assert_eq!(status(&output), 0, "{most}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 900, "{most}");
        for number in 0..900 {
            let expected = if number == 7 { "again".to_owned() } else { number.to_string() };
            assert_eq!(fs::read_to_string(folder.join(format!("m{number}"))).unwrap(), expected);
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn a_budget_larger_than_the_machine_is_no_reason_to_fail() {
    for most in ["100G", "9223372036854775807", "18446744073709551615"] {
        let file = fixture("sunda-1core");
        let output = run(["load".as_ref(), "--max-memory".as_ref(), most.as_ref(), file.as_os_str()]);
        assert_eq!(status(&output), 0, "{most}");
    }
}
