//! `neffload pack` of files: the same model comes out, and what was there stays until it does.

use neffload_tests::command::{Scratch, document, neffload, run, status};
use neffload_tests::container::File;
use neffload_tests::container::tar::Tar;
use neffload_tests::{fixture, fixture_files, real_files};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

fn pack(flags: &[&str], from: &Path, to: &Path) -> std::process::Output {
    let flags = flags.iter().map(OsString::from);
    run([OsString::from("pack")].into_iter().chain(flags).chain([from.into(), to.into()]))
}

fn table(file: &Path) -> serde_json::Value {
    document(&run(["inspect".as_ref(), "--json".as_ref(), file.as_os_str()]))["table"].take()
}

/// Every file there is comes out of every package whole, whichever form its own digest has.
#[test]
fn every_package_holds_what_the_file_held() {
    let scratch = Scratch::new("repack-packages");
    for file in fixture_files().into_iter().chain(real_files()) {
        for package in ["1", "2"] {
            let out = scratch.join("out.neff");
            let output = pack(&["--package", package], &file, &out);
            assert_eq!(status(&output), 0, "{}: {output:?}", file.display());
            let verified = run(["verify".as_ref(), out.as_os_str()]);
            assert_eq!(status(&verified), 0, "{} in package {package}: {verified:?}", file.display());
            assert_eq!(table(&out), table(&file), "{} in package {package}", file.display());
        }
    }
}

#[test]
fn package_1_has_no_swapped_digest() {
    let scratch = Scratch::new("repack-swapped");
    let out = scratch.join("out.neff");
    let output = pack(&["--package", "1", "--digest-order", "swapped"], &fixture_files()[0], &out);
    assert_eq!(status(&output), 2);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("package 1 stores its SHA-256 as computed"),
        "{output:?}"
    );
    assert!(!out.exists());
}

/// A file whose archive has these entries.
fn file_with(scratch: &Scratch, tar: Tar) -> PathBuf {
    let path = scratch.join("made.neff");
    fs::write(&path, File::raw(tar.finish()).bytes()).unwrap();
    path
}

/// Names that tar readers change come out as they went in, or are refused.
#[test]
fn names_survive() {
    let scratch = Scratch::new("repack-names");
    let long = [&[b'd'; 90][..], b"//", &[b'f'; 90]].concat();
    for names in [&[&b"././a"[..], b"a"], &[&b"././x"[..], b"b"], &[&long[..], b"c"]] {
        let mut tar = Tar::new();
        for (name, byte) in names.iter().zip(0..) {
            tar.pax(&[("path", name)]).file("cut", vec![byte; 5]);
        }
        let from = file_with(&scratch, tar);
        for format in ["pax", "gnu"] {
            let out = scratch.join("out.neff");
            let output = pack(&["--tar-format", format], &from, &out);
            assert_eq!(status(&output), 0, "{output:?}");
            assert_eq!(table(&out), table(&from), "{format}");
        }
    }
}

/// Whatever ends the packing, what was in the place of the new file is still there, and nothing else.
#[test]
fn a_failure_leaves_the_old_file() {
    let scratch = Scratch::new("repack-failure");
    let out = scratch.join("out.neff");
    fs::write(&out, "old").unwrap();
    let tree = scratch.join("tree");
    fs::create_dir(&tree).unwrap();
    // The name fits no ustar header, which shows when the first member is written already.
    fs::write(tree.join("a"), "a").unwrap();
    fs::write(tree.join("x".repeat(120)), "b").unwrap();
    let output = pack(&["--tar-format", "ustar"], &tree, &out);
    assert_eq!(status(&output), 1, "{output:?}");
    assert_eq!(fs::read_to_string(&out).unwrap(), "old");
    assert_eq!(fs::read_dir(out.parent().unwrap()).unwrap().count(), 2);
}

/// A new file takes the place of the old one: the same rights, and a link still leads to it.
#[test]
fn what_led_to_the_old_file_leads_to_the_new_one() {
    let scratch = Scratch::new("repack-place");
    let (out, link) = (scratch.join("out.neff"), scratch.join("link.neff"));
    fs::write(&out, "old").unwrap();
    fs::set_permissions(&out, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("out.neff", &link).unwrap();
    assert_eq!(status(&pack(&[], &fixture_files()[0], &link)), 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&out).unwrap().mode() & 0o777, 0o640);
    assert_eq!(status(&run(["verify".as_ref(), out.as_os_str()])), 0);
    // No regular file: it is written to as it is.
    assert_eq!(status(&pack(&[], &fixture_files()[0], Path::new("/dev/full"))), 2);
    assert!(!fs::metadata("/dev/full").unwrap().is_file());
}

/// Runs a command that may write files of two of the shell's blocks, 1 or 2 KiB.
fn cramped(words: &[&str], file: &Path, more: &[&Path]) -> i32 {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 2; exec \"$@\"", "sh"]).arg(neffload().get_program());
    status(&command.args(words).arg(file).args(more).output().unwrap())
}

/// A disk that is full in the middle of a file: what was there stays, and no part of a new file does.
#[test]
fn a_full_disk_leaves_no_part_of_a_file() {
    let scratch = Scratch::new("repack-full");
    let (out, flag) = (scratch.join("out"), Path::new("-o"));
    let file = fixture("cayman-2core");
    fs::write(&out, "old").unwrap();
    assert_eq!(cramped(&["pack"], &file, &[&out]), 2);
    assert_eq!(cramped(&["report"], &file, &[flag, &out]), 2);
    assert_eq!(fs::read_to_string(&out).unwrap(), "old");
    assert_eq!(cramped(&["extract"], &file, &[Path::new("--neff"), &scratch.join("cut.neff")]), 2);
    let members = scratch.join("members");
    assert_eq!(cramped(&["extract"], &file, &[Path::new("-C"), &members]), 2);
    assert!(!members.exists(), "nor the small members before the one that did not fit");
    assert_eq!(fs::read_dir(scratch.join(".")).unwrap().count(), 1);
}
