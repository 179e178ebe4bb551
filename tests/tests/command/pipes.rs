//! Files that can be read once: standard input and named pipes.

use neffload_tests::command::{Scratch, neffload, run, run_piped, status};
use neffload_tests::container::File;
use neffload_tests::container::tar::Tar;
use neffload_tests::{fixture, skip};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A file whose member table is several times as large as the arena that `pack` begins with.
fn many_members() -> Vec<u8> {
    let mut tar = Tar::new();
    for number in 0..24_000 {
        tar.file(format!("folder/of/many/members/with/long/names/{number:08}.json"), b"");
    }
    File::raw(tar.finish()).bytes()
}

#[test]
fn a_large_member_table_is_packed_from_a_pipe_as_from_a_file() {
    let scratch = Scratch::new("pack-pipe");
    let file = many_members();
    let [named, from_file, from_pipe] = ["in.neff", "a.neff", "b.neff"].map(|name| scratch.join(name));
    std::fs::write(&named, &file).unwrap();
    let output = run(["pack".as_ref(), named.as_os_str(), from_file.as_os_str()]);
    assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    let output = run_piped(["pack".as_ref(), "-".as_ref(), from_pipe.as_os_str()], &file);
    assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::read(from_file).unwrap() == std::fs::read(&from_pipe).unwrap());
    let listed = run(["members".as_ref(), "--json".as_ref(), from_pipe.as_os_str()]);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["table"].as_array().unwrap().len(), 24_000);
}

/// A named pipe; `None` where the system cannot make one.
fn named_pipe(scratch: &Scratch) -> Option<PathBuf> {
    let pipe = scratch.join("pipe.neff");
    let made = Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success());
    made.then_some(pipe)
}

/// Runs the command, which opens the pipe, while a thread writes `input` to it. A command that waits for a second
/// writer is ended.
fn fed(words: &[&str], pipe: &Path, more: &[&Path], input: &[u8]) -> Output {
    let mut command = neffload();
    command.args(words).arg(pipe).args(more).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    thread::scope(|scope| {
        // A command that refuses the pipe takes nothing from it.
        scope.spawn(|| drop(std::fs::write(pipe, input)));
        let end = Instant::now() + Duration::from_secs(120);
        while child.try_wait().unwrap().is_none() && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
        drop(child.kill());
        // A writer that still waits for the command to open the pipe goes on.
        const NONBLOCK: i32 = 0o4000;
        drop(OpenOptions::new().read(true).custom_flags(NONBLOCK).open(pipe));
    });
    child.wait_with_output().unwrap()
}

/// A second opening would lose what the first one read, or wait for a writer that never comes.
#[test]
fn a_named_pipe_is_opened_once() {
    let scratch = Scratch::new("named-pipe");
    let Some(pipe) = named_pipe(&scratch) else { skip!("no named pipes") };
    let model = std::fs::read(fixture("cayman-2core")).unwrap();
    let [packed, again, cut] = ["packed.neff", "again.neff", "cut.neff"].map(|name| scratch.join(name));
    for words in [&["verify"][..], &["members"], &["inspect"], &["memory"], &["plan"], &["load"]] {
        let output = fed(words, &pipe, &[], &model);
        assert_eq!(status(&output), 0, "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(status(&fed(&["pack"], &pipe, &[&packed], &model)), 0);
    assert_eq!(status(&run(["pack".as_ref(), fixture("cayman-2core").as_os_str(), again.as_os_str()])), 0);
    assert!(std::fs::read(packed).unwrap() == std::fs::read(again).unwrap());
    for (words, more) in [
        (&["extract", "--neff", cut.to_str().unwrap()][..], &[][..]),
        (&["memory", "--staged"], &[]),
        (&["verify", "--deep"], &[]),
    ] {
        let output = fed(words, &pipe, more, &model);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(status(&output), 2, "{words:?}: {errors}");
        assert!(errors.contains("cannot be"), "{words:?}: {errors}");
    }
    assert!(!cut.exists());
    let output = fed(&["memory", "--staged", "--json"], &pipe, &[], &model);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((status(&output), document["error"]["code"].as_str()), (2, Some("C702")), "{document}");
    let output = run(["find".as_ref(), pipe.as_os_str()]);
    assert_eq!(status(&output), 2, "nothing was looked at: {output:?}");
}
