//! Folders that cannot be read in whole, things in them that are no files, and names that a terminal would obey.

use neffload_tests::command::{Scratch, document, neffload, status};
use neffload_tests::container::File;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs the command for at most a minute: one that waits for a pipe would never end.
fn run<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    let mut command = neffload();
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let since = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if since.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("the command hangs");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

/// A tree with two good files and `deep`, a chain of folders that ends in one whose path is longer than the system
/// takes (errno 36).
fn tree(label: &str) -> Scratch {
    let scratch = Scratch::new(label);
    fs::create_dir(scratch.join("z")).unwrap();
    for name in ["a.neff", "z/last.neff"] {
        fs::write(scratch.join(name), File::base().bytes()).unwrap();
    }
    let chain = "mkdir deep && cd deep && i=0 && while [ $i -lt 20 ]; do mkdir $0 && cd -P $0 || exit 1; i=$((i+1)); done";
    let made =
        Command::new("sh").args(["-c", chain, &"d".repeat(240)]).current_dir(scratch.join("")).status();
    assert!(made.unwrap().success());
    scratch
}

/// The library's own removal goes by path and would leave the chain.
fn remove(scratch: &Scratch) {
    assert!(Command::new("rm").arg("-rf").arg(scratch.join("deep")).status().unwrap().success());
}

fn entry<'d>(document: &'d Value, part: &str) -> &'d Value {
    let files = document["files"].as_array().unwrap();
    let path =
        |file: &Value| file.get("path").or(file.get("file")).and_then(Value::as_str).map(str::to_owned);
    let found = files.iter().find(|file| path(file).is_some_and(|path| path.contains(part)));
    found.unwrap_or_else(|| panic!("{part} in {document}"))
}

#[test]
fn a_folder_that_cannot_be_listed_is_named_and_the_rest_is_read() {
    let scratch = tree("unlisted");
    let output = run([OsStr::new("verify"), OsStr::new("--json"), scratch.join("").as_os_str()]);
    let answer = document(&output);
    assert_eq!(status(&output), 2);
    let summary = ["files", "accepted", "refused", "unreadable"].map(|key| answer["summary"][key].as_u64());
    assert_eq!(summary, [Some(3), Some(2), Some(0), Some(1)], "{answer}");
    let unlisted = entry(&answer, "/deep/");
    assert!(unlisted["error"].as_str().unwrap().contains("File name too long (os error 36)"), "{unlisted}");
    assert!(unlisted["path"].as_str().unwrap().len() > 3800);
    assert_eq!(entry(&answer, "z/last.neff")["verdict"]["accepted"], true);
    let complaints = String::from_utf8(output.stderr).unwrap();
    assert!(complaints.contains("1 file could not be read"), "{complaints}");

    let output = run([OsStr::new("memory"), OsStr::new("--json"), scratch.join("").as_os_str()]);
    let answer = document(&output);
    assert_eq!(status(&output), 2);
    assert_eq!(entry(&answer, "/deep/")["error"]["code"], "C701");
    assert!(entry(&answer, "a.neff").get("error").is_some_and(|error| error["code"] != "C701"), "{answer}");
    let output = run([OsStr::new("find"), OsStr::new("--json"), scratch.join("").as_os_str()]);
    assert_eq!((status(&output), document(&output)["found"].as_array().unwrap().len()), (2, 2));
    remove(&scratch);
}

#[test]
fn a_folder_without_a_file_is_no_answer() {
    let scratch = Scratch::new("nothing");
    for command in ["verify", "memory", "find"] {
        let output = run([OsStr::new(command), scratch.join("").as_os_str()]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(status(&output), 2, "{command}: {said}");
        assert!(said.contains("file below it"), "{command}: {said}");
    }
}

#[test]
fn a_folder_of_somebody_else_is_named() {
    let scratch = Scratch::new("somebody");
    let closed = scratch.join("closed");
    fs::create_dir(&closed).unwrap();
    fs::write(scratch.join("a.neff"), File::base().bytes()).unwrap();
    assert!(Command::new("chmod").arg("0").arg(&closed).status().unwrap().success());
    // Root may list every folder; somebody else may not, where the system lets root become somebody else.
    let mut command = if fs::read_dir(&closed).is_err() {
        neffload()
    } else {
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(neffload().get_program());
        if !setpriv.arg("--version").output().is_ok_and(|output| output.status.success()) {
            return println!("skipped: no setpriv, or the command is out of another user's reach");
        }
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(neffload().get_program());
        setpriv
    };
    let output = command.args(["verify", "--json"]).arg(scratch.join("")).output().unwrap();
    let answer = document(&output);
    assert_eq!(status(&output), 2);
    let error = entry(&answer, "/closed")["error"].as_str().unwrap();
    assert!(error.contains("closed: Permission denied (os error 13)"), "{error}");
    assert_eq!(answer["summary"]["accepted"], 1, "{answer}");
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn what_is_no_file_is_named_and_never_waited_for() {
    let scratch = Scratch::new("specials");
    fs::write(scratch.join("a.neff"), File::base().bytes()).unwrap();
    pipe(&scratch.join("p.neff"));
    let _socket = UnixListener::bind(scratch.join("s.neff")).unwrap();
    std::os::unix::fs::symlink(scratch.join("p.neff"), scratch.join("link.neff")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", scratch.join("zero.neff")).unwrap();
    std::os::unix::fs::symlink(scratch.join("gone"), scratch.join("dangling.neff")).unwrap();
    // Not asked for: no ending of ours, and a folder behind a link.
    pipe(&scratch.join("p.log"));
    std::os::unix::fs::symlink(scratch.join(""), scratch.join("round.neff")).unwrap();
    for command in ["verify", "memory"] {
        let output = run([OsStr::new(command), OsStr::new("--json"), scratch.join("").as_os_str()]);
        let answer = document(&output);
        assert_eq!((status(&output), answer["files"].as_array().unwrap().len()), (2, 6), "{answer}");
        let complaints = String::from_utf8(output.stderr).unwrap();
        for (name, what) in [
            ("p.neff", "a pipe, not a regular file"),
            ("link.neff", "a pipe, not a regular file"),
            ("s.neff", "a socket, not a regular file"),
            ("zero.neff", "a device, not a regular file"),
            ("dangling.neff", "No such file or directory"),
        ] {
            assert!(complaints.contains(&format!("{name}: {what}")), "{command} {name}: {complaints}");
            assert!(!entry(&answer, name)["error"].is_null());
        }
    }
}

#[test]
fn a_pipe_that_is_named_is_read_like_one() {
    let scratch = Scratch::new("named-pipe");
    let path = scratch.join("p.neff");
    pipe(&path);
    let writer = std::thread::spawn({
        let path = path.clone();
        move || fs::write(path, File::base().bytes())
    });
    let output = run([OsStr::new("verify"), path.as_os_str()]);
    assert_eq!(status(&output), 0, "{output:?}");
    writer.join().unwrap().unwrap();
}

#[test]
fn a_failure_of_the_system_has_its_status_in_every_command() {
    let scratch = Scratch::new("failures");
    std::os::unix::fs::symlink(scratch.join("gone"), scratch.join("x.neff")).unwrap();
    for command in ["verify", "memory"] {
        let folder = run([OsStr::new(command), scratch.join("").as_os_str()]);
        assert_eq!(status(&folder), 2, "{command}");
        let named = run([OsStr::new(command), OsStr::new("--json"), scratch.join("none.neff").as_os_str()]);
        assert_eq!(status(&named), 2, "{command}");
        assert!(String::from_utf8_lossy(&named.stderr).contains("No such file or directory"), "{command}");
    }
    // Of several files, the others are answered for.
    fs::write(scratch.join("a.neff"), b"short").unwrap();
    let both = [scratch.join("none.neff"), scratch.join("a.neff")];
    let output = run([OsStr::new("memory"), OsStr::new("--json"), both[0].as_os_str(), both[1].as_os_str()]);
    assert_eq!((status(&output), document(&output)["files"].as_array().unwrap().len()), (2, 2));
}

#[test]
fn names_do_not_command_the_terminal() {
    let scratch = Scratch::new("names");
    let name = "x\x1b[31mEVIL\x1b]0;title\x07\n\u{202e}y.neff";
    let shown = "x\\u{1b}[31mEVIL\\u{1b}]0;title\\u{7}\\n\\u{202e}y.neff";
    let (path, missing) = (scratch.join(name), scratch.join(&format!("no-{name}")));
    let mut bad = File::base();
    bad.header.hash[0] ^= 1;
    fs::write(&path, bad.bytes()).unwrap();
    let getter = ["info", "@", "getKelf"];
    let commands: [&[&str]; 16] = [
        &["verify", "@"],
        &["verify", "--deep", "@"],
        &["memory", "@"],
        &["memory", "@", "@"],
        &["inspect", "@"],
        &["inspect", "--members", "@"],
        &getter,
        &["load", "@"],
        &["plan", "@"],
        &["members", "@"],
        &["cat", "@", "none"],
        &["find", "@"],
        &["diff", "@", "@"],
        &["disasm", "@"],
        &["extract", "@", "none", "-C", "@"],
        &["pack", "@", "@"],
    ];
    let mut seen = 0;
    for words in commands {
        for path in [&path, &missing] {
            let arguments =
                words.iter().map(|word| if *word == "@" { path.as_os_str() } else { OsStr::new(word) });
            let output = run(arguments);
            for bytes in [&output.stdout, &output.stderr] {
                let text = String::from_utf8_lossy(bytes);
                let bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
                assert!(!text.contains(bad) && !text.contains("title\n"), "{words:?}: {text:?}");
                seen += usize::from(text.contains(shown));
            }
        }
    }
    assert!(seen >= 20, "the name was seen {seen} times");
}

/// What the command draws on a terminal of that kind and width, made by `script`.
fn drawn(folder: &Path, term: &str, columns: u16) -> Option<String> {
    let program = neffload().get_program().to_owned();
    let line =
        format!("stty rows 24 cols {columns}; {} verify {} >/dev/null", program.to_str()?, folder.to_str()?);
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .env("TERM", term)
        .stdin(Stdio::null())
        .output();
    output.ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn one_bar_counts_all_files_and_fits_the_terminal() {
    let scratch = Scratch::new("bar");
    // Enough work to outlast the bar's patience.
    let member = vec![0u8; 24 << 20];
    let tree = std::collections::BTreeMap::from([("blob".to_owned(), member)]);
    let options = loader_std::pack::Options {
        compression: Some(loader_std::pack::Compression::None),
        ..loader_std::pack::Options::default()
    };
    let bytes = neffload_tests::build::to_neff(&tree, &[], &[], &options).unwrap();
    for number in 0..6 {
        fs::write(scratch.join(&format!("{number:02}.neff")), &bytes).unwrap();
    }
    let Some(wide) = drawn(&scratch.join(""), "xterm", 100) else {
        return println!("skipped: no `script` to make a terminal with");
    };
    let bars = |text: &str| -> Vec<String> {
        text.split("\r\u{1b}[2K").filter(|bar| bar.contains("verifying")).map(str::to_owned).collect()
    };
    let all = bars(&wide);
    if all.is_empty() {
        return println!("skipped: the machine was done before a bar was due");
    }
    assert!(all.iter().all(|bar| bar.contains("/6 ") && bar.contains("/144.0 MiB")), "{all:?}");
    assert!(all.iter().all(|bar| bar.trim().chars().count() < 100), "{all:?}");
    let narrow = drawn(&scratch.join(""), "xterm", 30).unwrap_or_default();
    assert!(bars(&narrow).iter().all(|bar| bar.trim().chars().count() < 30), "{narrow:?}");
    let dumb = drawn(&scratch.join(""), "dumb", 100).unwrap_or_default();
    assert!(!dumb.contains("verifying") && !dumb.contains('\u{1b}'), "{dumb:?}");
}
