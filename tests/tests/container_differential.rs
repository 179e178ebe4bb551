//! The container against an independent reader that shares no code with it: real files, other people's
//! archives, and files damaged in every way.

use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_std::container::{
    Ask, Survey, digest_json, features_json, file_json, header_json, log, survey, table_json,
};
use loader_std::file::Buffers;
use neffload_tests::build::filler;
use neffload_tests::command::Scratch;
use neffload_tests::container::{File, gzip};
use neffload_tests::{neffpack, real_files, shared, skip};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Files that the two readers judge differently, and why.
const KNOWN: [(&str, &str); 1] =
    [("sparse-large", "12.6 GB of holes: the other reader builds them in memory, this one counts them")];

/// What both readers are asked: with or without verification, for a host.
#[derive(Clone, Copy)]
enum Question {
    Plain,
    Verified,
    Lnc2,
}

impl Question {
    const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Plain => &[],
            Self::Verified => &["--verify-hash"],
            Self::Lnc2 => &["--runtime-lnc", "2"],
        }
    }

    fn policy(self) -> Policy {
        let lnc = matches!(self, Self::Lnc2).then_some(2);
        Policy { verify_digest: matches!(self, Self::Verified), report_digest: true, lnc, ..Policy::DEFAULT }
    }
}

/// The part of our answer that the other reader gives too.
fn ours(file: &[u8], question: Question) -> Value {
    let ask = Ask { members: true, digests: true, file_digest: true };
    let policy = question.policy();
    let survey = survey(&mut &file[..], &mut Buffers::new(), &policy, &Limits::DEFAULT, ask, |_| {}).unwrap();
    let mut answer = json!({ "file": file_json(&survey), "verdict": verdict(&survey) });
    if let Some(header) = &survey.header {
        answer["header"] = header_json(header);
        answer["features"] = features_json(header);
    }
    if let Some(digest) = digest_json(&survey) {
        answer["digest"] = digest;
    }
    if survey.accepted() {
        answer["table"] = table_json(&survey);
    }
    answer
}

fn verdict(survey: &Survey) -> Value {
    match &survey.error {
        None => {
            json!({ "accepted": true, "status": 0, "status_name": "NRT_SUCCESS", "stage": null, "log": null })
        }
        Some(error) => json!({
            "accepted": false,
            "status": error.status().number(),
            "status_name": error.status().name(),
            "stage": error.stage.name(),
            "log": log(error, survey.header.as_ref()),
        }),
    }
}

/// The other reader's answers, in the order of `paths`.
fn theirs(paths: &[PathBuf], question: Question) -> Vec<Value> {
    let mut answers = Vec::new();
    for part in paths.chunks(1000) {
        let mut command = neffpack().expect("checked before");
        command.arg("inspect").args(question.flags()).args(part);
        // One file alone is printed in another form; naming one twice keeps the form.
        if let [alone] = part {
            command.arg(alone);
        }
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.len() >= part.len(), "{}", String::from_utf8_lossy(&output.stderr));
        answers.extend(lines.into_iter().take(part.len()));
    }
    answers
}

fn compare(paths: &[PathBuf], question: Question) {
    let mut wrong = Vec::new();
    for (path, theirs) in paths.iter().zip(theirs(paths, question)) {
        let ours = ours(&std::fs::read(path).unwrap(), question);
        for key in ["file", "header", "features", "digest", "table", "verdict"] {
            if ours.get(key) != theirs.get(key) {
                wrong.push(format!("{} {key}: {:?} / {:?}", path.display(), ours.get(key), theirs.get(key)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences, the first: {:#?}", wrong.len(), &wrong[..wrong.len().min(5)]);
}

fn full() -> bool {
    std::env::var_os("NEFFLOAD_FULL").is_some()
}

#[test]
fn real_files_are_judged_alike() {
    let files = real_files();
    if files.is_empty() || neffpack().is_none() {
        skip!("no shared data or no Python");
    }
    for question in [Question::Plain, Question::Verified, Question::Lnc2] {
        compare(&files, question);
    }
}

/// The tar files of the corpora.
fn archives(shared: &Path) -> Vec<PathBuf> {
    let folders = [shared.join("corpora/libarchive"), shared.join("corpora/tar-rs/archives")];
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_archive(path)).collect();
    files.sort();
    files
}

fn is_archive(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    (name.ends_with(".tar") || name.ends_with(".tar.gz"))
        && !KNOWN.iter().any(|(known, _)| name.starts_with(known))
}

#[test]
fn corpora_are_judged_alike() {
    let (Some(shared), Some(_)) = (shared(), neffpack()) else { skip!("no shared data or no Python") };
    let scratch = Scratch::new("corpora");
    let mut paths = Vec::new();
    for archive in archives(&shared) {
        let tar = std::fs::read(&archive).unwrap();
        let base = archive.file_name().unwrap().to_string_lossy().into_owned();
        let files = [
            ("p1", File::new(1, tar.clone())),
            ("p2", File::raw(tar.clone())),
            ("gz", File::new(2, gzip(&tar))),
        ];
        for (form, file) in files {
            let path = scratch.join(&format!("{base}.{form}.neff"));
            std::fs::write(&path, file.bytes()).unwrap();
            paths.push(path);
        }
    }
    assert_eq!(paths.len(), 56 * 3);
    compare(&paths, Question::Plain);
}

#[test]
fn a_sparse_giant_is_counted_not_built() {
    let Some(shared) = shared() else { skip!("no shared data") };
    let tar = std::fs::read(shared.join("corpora/tar-rs/archives/sparse-large.tar")).unwrap();
    let file = File::raw(tar).bytes();
    let ask = Ask { members: true, ..Ask::default() };
    let survey =
        survey(&mut &file[..], &mut Buffers::new(), &Policy::DEFAULT, &Limits::DEFAULT, ask, |_| {}).unwrap();
    assert_eq!(survey.table[&b"huge"[..]].size, 12_626_929_280);
}

fn base() -> Option<Vec<u8>> {
    let path = real_files().into_iter().find(|path| path.ends_with("cayman-attention-dge.neff"))?;
    neffpack()?;
    std::fs::read(path).ok()
}

fn questions() -> &'static [Question] {
    if full() { &[Question::Plain, Question::Verified, Question::Lnc2] } else { &[Question::Plain] }
}

/// Writes files, compares, and removes them.
fn judge_all(label: &str, files: impl Iterator<Item = Vec<u8>>) {
    let scratch = Scratch::new(label);
    let mut paths = Vec::new();
    for (number, file) in files.enumerate() {
        let path = scratch.join(&format!("{number:05}.neff"));
        std::fs::write(&path, file).unwrap();
        paths.push(path);
    }
    for question in questions() {
        compare(&paths, *question);
    }
}

#[test]
fn cuts_are_judged_alike() {
    let Some(base) = base() else { skip!("no shared data or no Python") };
    judge_all("cuts", (0..=base.len()).step_by(97).map(|cut| base[..cut].to_vec()));
}

#[test]
fn header_bytes_are_judged_alike() {
    let Some(base) = base() else { skip!("no shared data or no Python") };
    let step = if full() { 1 } else { 4 };
    let places = (0..0x230).chain((0x230..0x400).step_by(16 * step));
    let changed = |at: usize| {
        [base[at] ^ 0x01, base[at] ^ 0x80, 0xFF].map(|byte| {
            let mut file = base.clone();
            file[at] = byte;
            file
        })
    };
    judge_all("header", places.step_by(step).flat_map(changed));
}

/// A seeded sequence of numbers.
struct Seeded(u32);

impl Seeded {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(1);
        let bytes = filler(self.0, 4);
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize % end.max(1)
    }
}

/// One damage: bit flip, byte, cut, deletion, splice, or a length in the header.
fn damage(file: &mut Vec<u8>, seeded: &mut Seeded) {
    let whole = seeded.below(10) < 7;
    let end = if whole { file.len() } else { file.len().min(1100) };
    let at = seeded.below(end);
    match seeded.below(20) {
        0..=9 => file[at] ^= 1 << seeded.below(8),
        10 | 11 => file[at] = [0, 0xFF, 0x80, 0x7F, 0x20, 0x30][seeded.below(6)],
        12 | 13 => file.truncate(at),
        14 | 15 => {
            let end = (at + 1 + seeded.below(600)).min(file.len());
            file.drain(at..end);
        }
        16 | 17 => {
            let from = seeded.below(file.len());
            let piece = file[from..(from + 1 + seeded.below(2000)).min(file.len())].to_vec();
            file.splice(at..at, piece);
        }
        _ => {
            let place = [0, 8, 16, 24, 32, 0x220][seeded.below(6)];
            let len = file.len() as u64;
            let values =
                [0, 1, 2, 3, len, len.wrapping_sub(1024), len.wrapping_sub(1025), 1 << 63, u64::MAX, 1 << 27];
            if file.len() > place + 8 {
                file[place..place + 8].copy_from_slice(&values[seeded.below(values.len())].to_le_bytes());
            }
        }
    }
}

#[test]
fn damaged_real_files_are_judged_alike() {
    let files: Vec<Vec<u8>> = real_files().iter().map(|path| std::fs::read(path).unwrap()).collect();
    if files.is_empty() || neffpack().is_none() {
        skip!("no shared data or no Python");
    }
    let (rounds, each) = if full() { (20, 500) } else { (1, 250) };
    for round in 0..rounds {
        let mut seeded = Seeded(round * 1_000_000);
        let mutated = (0..each).map(|number: usize| {
            let mut file = files[number % files.len()].clone();
            for _ in 0..=seeded.below(3) {
                if !file.is_empty() {
                    damage(&mut file, &mut seeded);
                }
            }
            file
        });
        judge_all("damaged", mutated);
    }
}
