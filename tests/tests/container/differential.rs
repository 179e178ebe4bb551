//! The container against an independent reader that shares no code with it: real files, other people's
//! archives, and files damaged in every way.

mod damage;

use damage::{Seeded, damage, damage_archive, inflated, wrapped};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_std::container::{
    Ask, Survey, digest_json, features_json, file_json, header_json, log, survey, table_json,
};
use loader_std::file::Buffers;
use neffload_tests::command::Scratch;
use neffload_tests::container::{File, gzip};
use neffload_tests::{neffpack, neffpack_judge, real_files, shared, skip};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

/// A difference between the two readers that is known: what it is called, why it is none of ours, and how it is
/// recognised from our answer and theirs. At most ten.
type Known = (&'static str, &'static str, fn(&Value, &Value) -> bool);

const KNOWN: [Known; 1] = [(
    "holes",
    "a sparse member whose holes the other reader builds in memory until there is none left; this one counts them",
    |_, theirs| theirs["broken"] == "MemoryError",
)];

/// Settings in which both readers are asked: plain, with verification, for a host with logical cores of 2.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    Plain,
    Verified,
    Lnc2,
}

impl Question {
    const ALL: [Self; 3] = [Self::Plain, Self::Verified, Self::Lnc2];

    const fn flags(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Verified => "--verify-hash",
            Self::Lnc2 => "--runtime-lnc 2",
        }
    }

    fn policy(self) -> Policy {
        let lnc = (self == Self::Lnc2).then_some(2);
        Policy { verify_digest: self == Self::Verified, report_digest: true, lnc, ..Policy::DEFAULT }
    }
}

/// The part of our answer that the other reader gives too. Digests of members are compared in one setting: the
/// members are the same in all.
fn ours(file: &[u8], question: Question) -> Value {
    let ask = Ask { members: true, digests: question == Question::Plain, file_digest: true };
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
            "stage": error.stage().name(),
            "log": log(error, survey.header.as_ref()),
        }),
    }
}

/// The other reader's answers, for each path one to every question.
fn theirs(paths: &[PathBuf]) -> Vec<[Value; 3]> {
    let mut command = neffpack_judge().expect("checked before");
    command.args(Question::ALL.map(Question::flags)).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = thread::scope(|scope| {
        scope.spawn(move || paths.iter().for_each(|path| writeln!(stdin, "{}", path.display()).unwrap()));
        child.wait_with_output().unwrap()
    });
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<_> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), paths.len());
    answers
}

/// Asks both readers everything about every file. Returns how often each known difference occurred.
fn compare(paths: &[PathBuf]) -> [usize; KNOWN.len()] {
    let (mut wrong, mut known) = (Vec::new(), [0; KNOWN.len()]);
    let mine = |path: &PathBuf| {
        let file = std::fs::read(path).unwrap();
        Question::ALL.map(|question| ours(&file, question))
    };
    let (ours, theirs): (Vec<_>, Vec<_>) = thread::scope(|scope| {
        let theirs = scope.spawn(|| theirs(paths));
        (paths.iter().map(mine).collect(), theirs.join().unwrap())
    });
    for ((path, ours), theirs) in paths.iter().zip(&ours).zip(theirs) {
        for (question, (ours, theirs)) in Question::ALL.iter().zip(ours.iter().zip(theirs)) {
            let differences = differences(*question, ours, &theirs);
            if differences.is_empty() {
                continue;
            }
            match KNOWN.iter().position(|(_, _, is)| is(ours, &theirs)) {
                Some(at) => known[at] += 1,
                None => wrong.push(format!("{} {}: {differences}", path.display(), question.flags())),
            }
        }
    }
    if !wrong.is_empty()
        && let Some(kept) = std::env::var_os("NEFFLOAD_KEEP")
    {
        for path in
            paths.iter().filter(|path| wrong.iter().any(|line| line.starts_with(&path.display().to_string())))
        {
            std::fs::copy(path, Path::new(&kept).join(path.file_name().unwrap())).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{} differences, the first: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    known
}

fn differences(question: Question, ours: &Value, theirs: &Value) -> String {
    let names = |table: &Value| -> Vec<Value> {
        table.as_array().into_iter().flatten().map(|row| json!([row["name"], row["size"]])).collect()
    };
    let mut text = String::new();
    for key in ["file", "header", "features", "digest", "table", "verdict"] {
        let same = match key {
            "table" if question != Question::Plain => names(&ours[key]) == names(&theirs[key]),
            _ => ours[key] == theirs[key],
        };
        if !same {
            text += &format!("{key}: {} / {}; ", brief(&ours[key]), brief(&theirs[key]));
        }
    }
    text
}

fn brief(value: &Value) -> String {
    value.to_string().chars().take(300).collect()
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
    assert_eq!(compare(&files), [0; KNOWN.len()]);
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
    name.ends_with(".tar") || name.ends_with(".tar.gz")
}

/// Each as package 1, and as package 2 without and with gzip.
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
    assert_eq!(paths.len(), 57 * 3);
    // The one archive with 12.6 GB of holes, in three forms and three settings, unless a digest refuses it.
    assert_eq!(compare(&paths), [9]);
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

/// Writes files, compares, and removes them.
fn judge_all(label: &str, files: impl Iterator<Item = Vec<u8>>) -> usize {
    let scratch = Scratch::new(label);
    let mut paths = Vec::new();
    for (number, file) in files.enumerate() {
        let path = scratch.join(&format!("{label}-{number:05}.neff"));
        std::fs::write(&path, file).unwrap();
        paths.push(path);
    }
    compare(&paths).iter().sum()
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

/// Damages files in rounds. A round's files are gone before the next one's are written: at most 100 files of at most
/// 2 MiB are on the disk at a time.
fn rounds(label: &str, count: usize, mut file: impl FnMut(usize, &mut Seeded) -> Vec<u8>) {
    const ROUND: usize = 100;
    let mut known = 0;
    for first in (0..count).step_by(ROUND) {
        let mut seeded = Seeded(first as u32 * 2_000);
        known += judge_all(label, (first..count.min(first + ROUND)).map(|number| file(number, &mut seeded)));
    }
    println!("{count} {label} files in {} settings, {known} known differences", Question::ALL.len());
}

/// Bit flips, cuts, splices and length edits of the six real files.
#[test]
fn damaged_real_files_are_judged_alike() {
    let files: Vec<Vec<u8>> = real_files().iter().map(|path| std::fs::read(path).unwrap()).collect();
    if files.is_empty() || neffpack().is_none() {
        skip!("no shared data or no Python");
    }
    rounds("damaged", if full() { 10_000 } else { 250 }, |number, seeded| {
        let mut file = files[number % files.len()].clone();
        (0..=seeded.below(3)).for_each(|_| damage(&mut file, seeded));
        file
    });
}

/// The same of the archives inside them, where most damage does not end in a deflate error.
#[test]
fn damaged_archives_are_judged_alike() {
    let files: Vec<Vec<u8>> = real_files().iter().filter_map(|path| inflated(path)).collect();
    if files.is_empty() || neffpack().is_none() {
        skip!("no shared data or no Python");
    }
    rounds("archive", if full() { 7_500 } else { 150 }, |number, seeded| {
        let mut tar = files[number % files.len()].clone();
        (0..=seeded.below(3)).for_each(|_| damage_archive(&mut tar, seeded));
        wrapped(&tar, number)
    });
}

/// The same of other people's archives, which use what compilers do not: old headers, sparse files, links, devices,
/// nested compression.
#[test]
fn damaged_corpora_are_judged_alike() {
    let (Some(shared), Some(_)) = (shared(), neffpack()) else { skip!("no shared data or no Python") };
    // The one with 12.6 GB of holes is left out: what the other reader cannot build is no answer, and hashing the holes
    // takes longer than all others together.
    let kept = archives(&shared).into_iter().filter(|archive| !archive.ends_with("sparse-large.tar"));
    let archives: Vec<Vec<u8>> = kept.map(|archive| std::fs::read(archive).unwrap()).collect();
    let each = if full() { 134 } else { 3 };
    rounds("damaged-corpora", each * archives.len(), |number, seeded| {
        let mut tar = archives[number % archives.len()].clone();
        (0..=seeded.below(3)).for_each(|_| damage_archive(&mut tar, seeded));
        wrapped(&tar, number)
    });
}
