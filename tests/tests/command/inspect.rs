//! `neffload inspect` against the independent container tool.

use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_std::container::{Ask, survey};
use loader_std::file::Buffers;
use loader_std::pack::{Compression, Options};
use neffload_tests::build::{filler, to_neff};
use neffload_tests::command::{Scratch, document, peak_piped, run, run_piped, status};
use neffload_tests::{fixture, fixture_files, fixtures, neffpack, real_files, skip};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What the independent tool says, a document per file.
fn judged(files: &[PathBuf], options: &[&str]) -> Vec<Value> {
    let output = neffpack().unwrap().arg("inspect").args(options).args(files).output().unwrap();
    serde_json::Deserializer::from_slice(&output.stdout).into_iter().map(Result::unwrap).collect()
}

fn inspected(file: &Path) -> Value {
    let output = run(["inspect".as_ref(), "--json".as_ref(), "--digests".as_ref(), file.as_os_str()]);
    let document = document(&output);
    assert_eq!(status(&output), i32::from(document["verdict"]["accepted"] != true));
    document
}

#[test]
fn inspect_agrees_with_the_independent_tool() {
    if neffpack().is_none() {
        skip!("the independent container tool or Python is not here");
    }
    let files: Vec<PathBuf> = fixture_files().into_iter().chain(real_files()).collect();
    for (file, theirs) in files.iter().zip(judged(&files, &[])) {
        let ours = inspected(file);
        let name = file.display();
        assert_eq!(ours["schema"], "neffload.inspect/1");
        for key in ["file", "header", "features", "digest", "table"] {
            assert_eq!(ours[key], theirs[key], "{name}: {key}");
        }
        for key in ["accepted", "status", "status_name", "stage", "log"] {
            assert_eq!(ours["verdict"][key], theirs["verdict"][key], "{name}: verdict {key}");
        }
    }
}

/// A file cut at every multiple of 97 bytes, and with every header byte changed in three ways.
fn damaged(file: &[u8]) -> Vec<Vec<u8>> {
    let cuts = (0..file.len()).step_by(97).map(|length| file[..length].to_vec());
    let changes = (0..1024).flat_map(|at| [file[at] ^ 0x01, file[at] ^ 0x80, 0xFF].map(|byte| (at, byte)));
    let changed = changes.map(|(at, byte)| {
        let mut copy = file.to_vec();
        copy[at] = byte;
        copy
    });
    cuts.chain(changed).collect()
}

fn verdict(file: &[u8], verify: bool, buffers: &mut Buffers) -> Value {
    let policy = Policy { verify_digest: verify, report_digest: true, ..Policy::DEFAULT };
    let ask = Ask::default();
    let seen = survey(&mut &file[..], buffers, &policy, &Limits::DEFAULT, ask, |_| {}).unwrap();
    let status = seen.error.map_or(0, |error| error.status().number());
    json!({"accepted": seen.accepted(), "status": status})
}

#[test]
fn damaged_files_get_the_verdict_of_the_independent_tool() {
    if neffpack().is_none() {
        skip!("the independent container tool or Python is not here");
    }
    let scratch = Scratch::new("damaged");
    let copies = damaged(&std::fs::read(fixture("inf1-1core")).unwrap());
    let paths: Vec<PathBuf> = (0..copies.len()).map(|n| scratch.join(&format!("{n:05}.neff"))).collect();
    for (path, copy) in paths.iter().zip(&copies) {
        std::fs::write(path, copy).unwrap();
    }
    compare(&paths, &copies, false);
    let cuts = copies.iter().position(|copy| copy.len() == copies[copies.len() - 1].len()).unwrap();
    let hash = cuts + 3 * 0xAC..cuts + 3 * 0xCC;
    compare(&paths[hash.clone()], &copies[hash], true);
    compare(&paths[..cuts], &copies[..cuts], true);
}

fn compare(paths: &[PathBuf], copies: &[Vec<u8>], verify: bool) {
    let theirs = judged(paths, if verify { &["--verify-hash"] } else { &[] });
    assert_eq!(theirs.len(), copies.len());
    let mut buffers = Buffers::new();
    for ((path, copy), theirs) in paths.iter().zip(copies).zip(&theirs) {
        let (accepted, status) = (&theirs["verdict"]["accepted"], &theirs["verdict"]["status"]);
        let ours = verdict(copy, verify, &mut buffers);
        assert_eq!(
            ours,
            json!({"accepted": accepted, "status": status}),
            "{}, verify {verify}",
            path.display()
        );
    }
}

#[test]
fn a_refused_file_still_shows_what_was_established() {
    let scratch = Scratch::new("inspect-refused");
    let mut file = std::fs::read(fixture("cayman-2core")).unwrap();
    file[1024 + 2000] ^= 0x40;
    let path = scratch.join("broken.neff");
    std::fs::write(&path, &file).unwrap();
    let output = run(["inspect".as_ref(), "--json".as_ref(), "--verify-hash".as_ref(), path.as_os_str()]);
    assert_eq!(status(&output), 1);
    let document = document(&output);
    assert_eq!(document["header"]["name"], "cayman-2core.neff");
    assert_eq!(document["digest"]["match"], false);
    assert_eq!(document["verdict"]["log"], "MD5 mismatch!");
    assert_eq!(document["verdict"]["status"], 2);
    let text = run(["inspect".as_ref(), path.as_os_str()]);
    assert!(String::from_utf8(text.stdout).unwrap().contains("refused"), "people see it too");
}

#[test]
fn standard_input_is_a_file_too() {
    let file = fixture("sunda-1core");
    let mut direct = inspected(&file);
    let mut piped = document(&run_piped(["inspect", "--json", "-"], &std::fs::read(&file).unwrap()));
    for one in [&mut direct, &mut piped] {
        one["table"].take();
    }
    assert_eq!(direct, piped);
}

/// A model of 48 MiB with its manifests at the end, read from a pipe, costs no more memory than one of 20 KB.
#[test]
fn blobs_are_not_kept() {
    let made = fixtures::named("cayman-2core");
    let mut tree = made.tree.clone();
    tree.insert("sg00/weights.npy".to_owned(), filler(7, 48 << 20));
    let options = Options { compression: Some(Compression::None), ..made.options.clone() };
    let last = ["kelf-0.json", "sg00/def.json", "sg01/def.json", "neff.json"];
    let (small, large) = (made.bytes(), to_neff(&tree, &[], &last, &options).unwrap());
    for words in [
        &["inspect", "-"][..],
        &["inspect", "--json", "-"],
        &["info", "-", "getKelf"],
        &["info", "-", "getNumNc"],
        &["info", "-", "findInNeff", "neff"],
        &["verify", "-"],
    ] {
        let (output, more) = peak_piped(words, &large);
        let (before, less) = peak_piped(words, &small);
        assert_eq!((status(&output), status(&before)), (0, 0), "{words:?}");
        let (Some(more), Some(less)) = (more, less) else { skip!("no /proc") };
        assert!(more < less + 2048, "{words:?}: {more} KiB, {less} KiB");
        if words[0] == "info" {
            assert_eq!(output.stdout, before.stdout, "{words:?}");
        }
    }
}

#[test]
fn outputs_of_two_cores_are_listed_once() {
    let ours = inspected(&fixture("cayman-2core"));
    let outputs = ours["io"]["outputs"].as_array().unwrap();
    assert_eq!(outputs.len(), 1);
    assert_eq!(outputs[0]["size"], 32768);
    assert_eq!(ours["subgraphs"].as_array().unwrap().len(), 2);
    assert_eq!(ours["subgraphs"][0]["engines"]["pool"]["dma_blocks"], 2);
    assert_eq!(ours["kelf"]["target"]["arch"], 3);
}
