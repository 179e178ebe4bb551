//! What is in the place of an output already: another file takes its place, or it is written over, or it is spared.

use neffload_tests::command::{Scratch, neffload, run, status};
use neffload_tests::{fixture, skip};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The page of the fixture, to that file.
fn page(out: &Path) -> Output {
    run([
        OsStr::new("report"),
        "-q".as_ref(),
        fixture("cayman-2core").as_os_str(),
        "-o".as_ref(),
        out.as_os_str(),
    ])
}

fn is_page(bytes: &[u8]) -> bool {
    bytes.starts_with(b"<!doctype html>") && bytes.trim_ascii_end().ends_with(b"</html>")
}

/// True for a user who may do everything.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|facts| facts.uid() == 0)
}

/// The command as a user who owns nothing; `None` if nobody here can become one.
fn as_nobody(words: &[&OsStr]) -> Option<Output> {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    command.arg(neffload().get_program()).args(words);
    let output = if is_root() { command.output().ok()? } else { return None };
    matches!(status(&output), 0..=2).then_some(output)
}

/// A file without a name, as `O_TMPFILE` and Python's `TemporaryFile` make them.
fn deleted(scratch: &Scratch) -> File {
    let path = scratch.join("deleted");
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).unwrap();
    fs::remove_file(path).unwrap();
    file
}

fn content(mut file: &File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

/// A name of the system for standard output means standard output, and stays what it is.
#[test]
fn names_of_standard_output_are_standard_output() {
    let scratch = Scratch::new("names");
    let file = fixture("cayman-2core");
    let file = file.to_str().unwrap();
    for (before, after) in [
        (vec!["report", file, "-o"], vec![]),
        (vec!["plan", file, "-o"], vec![]),
        (vec!["pack", file], vec!["--level", "1"]),
        (vec!["extract", file, "--neff"], vec![]),
    ] {
        let plain = run([&before[..], &["-"], &after].concat());
        assert_eq!(status(&plain), 0, "{before:?}: {}", said(&plain));
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            let link = fs::read_link(name).unwrap();
            let (nameless, named) = (deleted(&scratch), scratch.join("named"));
            let live =
                OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&named).unwrap();
            for target in [&nameless, &live] {
                // Behind what was written before.
                (&*target).write_all(b"before ").unwrap();
                let words = [&before[..], &[name], &after].concat();
                let (mut command, out) = (neffload(), target.try_clone().unwrap());
                let output = command.args(&words).stdout(out).stderr(Stdio::piped()).output().unwrap();
                assert_eq!(status(&output), 0, "{words:?}: {}", said(&output));
                assert!(content(target) == [b"before ", &plain.stdout[..]].concat(), "{words:?}");
            }
            // One of another process may have another number in it.
            assert!(fs::symlink_metadata(name).unwrap().is_symlink(), "{name} was {link:?}");
            let piped = run([&before[..], &[name], &after].concat());
            assert!(piped.stdout == plain.stdout, "{before:?} {name}");
        }
    }
    // The same by the file's own name.
    let named = scratch.join("own.html");
    let own = File::create(&named).unwrap();
    let mut command = neffload();
    let output = command.args(["report", file, "-q", "-o"]).arg(&named).stdout(own.try_clone().unwrap());
    assert_eq!(status(&output.output().unwrap()), 0);
    assert!(is_page(&fs::read(&named).unwrap()));
    assert_eq!(fs::metadata(&named).unwrap().ino(), own.metadata().unwrap().ino());
}

/// Whoever holds a descriptor waits for the content there.
#[test]
fn another_descriptor_is_written_through() {
    let scratch = Scratch::new("descriptor");
    let file = fixture("cayman-2core");
    let live = scratch.join("live");
    let open = |path: &Path| OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path);
    for name in ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"] {
        for target in [deleted(&scratch), open(&live).unwrap()] {
            (&target).write_all(&[b'x'; 200_000]).unwrap();
            let mut command = neffload();
            command.arg("report").arg(&file).args(["-q", "-o", name]).stderr(target.try_clone().unwrap());
            assert_eq!(command.status().unwrap().code(), Some(0), "{name}");
            assert!(is_page(&content(&target)), "{name}: {} bytes", content(&target).len());
            assert!(fs::symlink_metadata(name).unwrap().is_symlink(), "{name}");
        }
    }
}

#[test]
fn a_link_stays_one_wherever_it_leads() {
    let scratch = Scratch::new("links");
    let link = |name: &str, to: &str| {
        let path = scratch.join(name);
        symlink(to, &path).unwrap();
        path
    };
    let (dangling, twice) = (link("dangling", "new.html"), link("twice", "once"));
    link("once", "second.html");
    fs::write(scratch.join("there.html"), "old").unwrap();
    let there = link("there", "there.html");
    for (path, target) in [(dangling, "new.html"), (twice, "second.html"), (there, "there.html")] {
        let output = page(&path);
        assert_eq!(status(&output), 0, "{target}: {}", said(&output));
        assert!(fs::symlink_metadata(&path).unwrap().is_symlink(), "{target}");
        assert!(is_page(&fs::read(scratch.join(target)).unwrap()), "{target}");
    }
    for (path, why) in
        [(link("loop", "loop"), "ymbolic link"), (link("nowhere", "no/folder"), "No such file")]
    {
        let output = page(&path);
        assert_eq!(status(&output), 2, "{why}");
        assert!(said(&output).contains(why), "{}", said(&output));
        assert!(fs::symlink_metadata(&path).unwrap().is_symlink(), "{why}");
    }
    // What is refused in the middle leaves no file at the end of a link.
    let (late, absent) = (link("late", "late.neff"), scratch.join("late.neff"));
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 2; exec \"$@\"", "sh"]).arg(neffload().get_program()).arg("pack");
    let output = command.arg(fixture("cayman-2core")).arg(&late).output().unwrap();
    assert_eq!(status(&output), 2, "{}", said(&output));
    assert!(fs::symlink_metadata(&late).unwrap().is_symlink() && !absent.exists());
}

#[test]
fn what_may_not_be_written_to_is_refused() {
    let scratch = Scratch::new("readonly");
    let folder = scratch.join("own");
    fs::create_dir(&folder).unwrap();
    let file = fixture("cayman-2core");
    let (out, file) = (folder.join("keep"), file.as_os_str());
    fs::write(&out, "keep").unwrap();
    fs::set_permissions(&out, Permissions::from_mode(0o444)).unwrap();
    for words in [
        vec!["report".as_ref(), file, "-o".as_ref(), out.as_os_str()],
        vec!["pack".as_ref(), file, out.as_os_str()],
    ] {
        let output = if is_root() {
            chown(&folder, Some(65534), Some(65534)).unwrap();
            chown(&out, Some(65534), Some(65534)).unwrap();
            let Some(output) = as_nobody(&words) else { skip!("nobody here can become another user") };
            output
        } else {
            run(&words)
        };
        assert_eq!(status(&output), 2, "{words:?}: {}", said(&output));
        assert!(said(&output).contains("ermission denied"), "{words:?}: {}", said(&output));
        assert_eq!(fs::read(&out).unwrap(), b"keep", "{words:?}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "{words:?}");
    }
}

#[test]
fn a_long_name_is_a_name() {
    let scratch = Scratch::new("long");
    let file = fixture("cayman-2core");
    let (file, out) = (file.as_os_str(), scratch.join(&"n".repeat(255)));
    let out = out.as_os_str();
    for words in [
        vec!["report".as_ref(), file, "-o".as_ref(), out],
        vec!["plan".as_ref(), file, "-o".as_ref(), out],
        vec!["pack".as_ref(), file, out],
        vec!["extract".as_ref(), file, "--neff".as_ref(), out],
    ] {
        for again in [false, true] {
            // `extract` writes over nothing.
            if again && words[0] == OsStr::new("extract") {
                continue;
            }
            let output = run(&words);
            assert_eq!(status(&output), 0, "{words:?} again: {again}: {}", said(&output));
        }
        assert_eq!(fs::read_dir(scratch.join("")).unwrap().count(), 1);
        fs::remove_file(out).unwrap();
    }
}

/// A file with another name, or of another owner, stays the file that it is; what another one would be, it keeps.
#[test]
fn all_but_the_content_stays() {
    let scratch = Scratch::new("stays");
    let [out, hard] = ["out", "hard"].map(|name| scratch.join(name));
    fs::write(&out, vec![b'x'; 300_000]).unwrap();
    fs::hard_link(&out, &hard).unwrap();
    let before = fs::metadata(&out).unwrap();
    assert_eq!(status(&page(&out)), 0);
    assert_eq!(fs::metadata(&out).unwrap().ino(), before.ino());
    assert!(is_page(&fs::read(&hard).unwrap()), "the other name has the same content");
    fs::remove_file(&hard).unwrap();
    // A new file has the old one's mode, and runs as nobody else.
    fs::set_permissions(&out, Permissions::from_mode(0o4710)).unwrap();
    assert_eq!(status(&page(&out)), 0);
    assert_eq!(fs::metadata(&out).unwrap().mode() & 0o7777, 0o710);
    assert!(is_page(&fs::read(&out).unwrap()));
    if !is_root() {
        skip!("only root gives files away");
    }
    fs::write(&out, vec![b'x'; 300_000]).unwrap();
    chown(&out, Some(1234), Some(2345)).unwrap();
    assert_eq!(status(&page(&out)), 0);
    let after = fs::metadata(&out).unwrap();
    assert_eq!((after.uid(), after.gid()), (1234, 2345));
    assert!(is_page(&fs::read(&out).unwrap()));
    assert_eq!(fs::read_dir(scratch.join("")).unwrap().count(), 1, "nothing is beside it");
}

/// A file whose name may not be taken away: somebody else's in a sticky folder, one that something is mounted on.
#[test]
fn what_cannot_be_replaced_is_written_over() {
    let scratch = Scratch::new("over");
    if !is_root() {
        skip!("only root makes files of others, and mounts");
    }
    let folder = scratch.join("sticky");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o1777)).unwrap();
    let out = folder.join("out");
    fs::write(&out, vec![b'x'; 300_000]).unwrap();
    fs::set_permissions(&out, Permissions::from_mode(0o666)).unwrap();
    let file = fixture("cayman-2core");
    let words = [OsStr::new("report"), file.as_os_str(), "-o".as_ref(), out.as_os_str()];
    let Some(output) = as_nobody(&words) else { skip!("nobody here can become another user") };
    assert_eq!(status(&output), 0, "{}", said(&output));
    assert!(is_page(&fs::read(&out).unwrap()));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);

    let [source, place] = ["source", "place"].map(|name| scratch.join(name));
    fs::write(&source, vec![b'x'; 300_000]).unwrap();
    fs::write(&place, "").unwrap();
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", "mount --bind \"$1\" \"$2\" || exit 77; shift 2; exec \"$@\"", "sh"]);
    command
        .args([&source, &place])
        .arg(neffload().get_program())
        .arg("report")
        .arg(&file)
        .arg("-o")
        .arg(&place);
    let Ok(output) = command.output() else { skip!("there is no `unshare`") };
    if !matches!(status(&output), 0 | 2) {
        skip!("nothing can be mounted here: {}", said(&output));
    }
    assert_eq!(status(&output), 0, "{}", said(&output));
    assert!(is_page(&fs::read(&source).unwrap()) && fs::read(&place).unwrap().is_empty());
}

/// A pipe takes a file once, from its start to its end.
#[test]
fn a_pipe_takes_every_output() {
    let scratch = Scratch::new("outpipe");
    let pipe = scratch.join("pipe");
    if !Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        skip!("no named pipes");
    }
    let file = fixture("cayman-2core");
    let (file, name) = (file.to_str().unwrap(), pipe.to_str().unwrap());
    for (before, after) in [
        (vec!["report", file, "-o"], vec![]),
        (vec!["pack", file], vec!["--level", "1"]),
        (vec!["extract", file, "--neff"], vec![]),
    ] {
        let plain = run([&before[..], &["-"], &after].concat());
        let reader = {
            let pipe = pipe.clone();
            thread::spawn(move || fs::read(pipe).unwrap())
        };
        let output = run([&before[..], &[name], &after].concat());
        assert_eq!(status(&output), 0, "{before:?}: {}", said(&output));
        let read = reader.join().unwrap();
        assert!(read.trim_ascii_end() == plain.stdout.trim_ascii_end(), "{before:?}: {} bytes", read.len());
    }
}
