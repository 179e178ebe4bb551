//! `check_dump.py` looks at every ring entry: dumps with planted faults, and dumps by several threads.

use neffload_tests::command::{Scratch, document, run, status};
use neffload_tests::{fixture, python, real_files, skip, workspace};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn dump(file: &Path, folder: &Path, options: &[&str]) -> Value {
    let words = ["load", "--json", "--dump"].iter().map(AsRef::<OsStr>::as_ref).chain([folder.as_os_str()]);
    let output = run(words.chain(options.iter().map(AsRef::<OsStr>::as_ref)).chain([file.as_os_str()]));
    assert_eq!(status(&output), 0, "{}", file.display());
    document(&output)
}

/// The checker's faults, one a line; `None` for a dump without fault.
fn faults(file: &Path, folder: &Path) -> Option<Vec<String>> {
    let script = workspace().join("tests").join("check_dump.py");
    let output =
        Command::new(python().unwrap()).arg("-B").arg(script).arg(file).arg(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains(" checks, "), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let mut lines: Vec<String> = said.lines().map(str::to_owned).collect();
    lines.pop();
    assert_eq!(output.status.success(), lines.is_empty(), "{said}");
    (!lines.is_empty()).then_some(lines)
}

/// The fixtures with rings, and the real files.
fn files() -> Vec<PathBuf> {
    let fixtures = ["cayman-2core", "sunda-1core", "mariana-gather"].map(fixture);
    let real = real_files().into_iter().filter(|file| !file.to_string_lossy().contains("inf1"));
    fixtures.into_iter().chain(real).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x40;
    fs::write(path, bytes).unwrap();
}

fn block(folder: &Path, core: &Value, address: &Value) -> PathBuf {
    folder.join(format!("{}-{}.bin", core["core"], address.as_str().unwrap()))
}

#[test]
fn a_changed_bit_in_every_ring_entry_is_a_fault_for_every_ring_entry() {
    if python().is_none() {
        skip!("no Python");
    }
    let scratch = Scratch::new("mutant-rings");
    let mut total = 0;
    for file in files() {
        let folder = scratch.join("dump");
        let report = dump(&file, &folder, &[]);
        assert_eq!(faults(&file, &folder), None);
        let mut changed = 0;
        for core in list(&report["cores"]) {
            for ring in list(&core["rings"]).iter().filter(|ring| ring["address"].is_string()) {
                let path = block(&folder, core, &ring["address"]);
                let mut bytes = fs::read(&path).unwrap();
                let entries = ring["entries"].as_u64().unwrap() as usize;
                // Another byte in every entry: length, marks, second word, address.
                (0..entries).for_each(|entry| bytes[entry * 16 + (entry * 5) % 16] ^= 0x40);
                fs::write(&path, bytes).unwrap();
                changed += entries;
            }
        }
        let found = counted(&file, &folder);
        assert_eq!(found, changed, "{}: faults against changed entries", file.display());
        total += changed;
        fs::remove_dir_all(&folder).unwrap();
    }
    println!("{total} changed ring entries, each found");
    assert!(total > 100);
}

/// Number of faults, also beyond the lines that are printed.
fn counted(file: &Path, folder: &Path) -> usize {
    let script = workspace().join("tests").join("check_dump.py");
    let output =
        Command::new(python().unwrap()).arg("-B").arg(script).arg(file).arg(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = said.lines().last().unwrap_or_default();
    last.split_whitespace()
        .rev()
        .nth(1)
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("{said}"))
}

/// A file of the dump, and a byte of it, for every kind of thing.
fn targets(report: &Value, folder: &Path) -> BTreeMap<&'static str, (PathBuf, usize)> {
    let mut found = BTreeMap::new();
    for core in list(&report["cores"]) {
        for allocation in list(&core["allocations"]) {
            let path = block(folder, core, &allocation["address"]);
            let last = allocation["size"].as_u64().unwrap() as usize - 1;
            let kind = match allocation["tag"].as_str().unwrap() {
                "variable" if allocation["usage"] == "WEIGHT" => "constant",
                "pointer cell" => "pointer cell",
                "semaphore one" => "semaphore",
                "activation table" | "dve table" => "table",
                "image" => "image",
                "ring" => "ring, behind its entries",
                _ => continue,
            };
            found.entry(kind).or_insert((path, last));
        }
    }
    found
}

#[test]
fn a_changed_byte_of_anything_is_found() {
    if python().is_none() {
        skip!("no Python");
    }
    let scratch = Scratch::new("mutant-bytes");
    let mut kinds = BTreeMap::new();
    for file in ["cayman-2core", "sunda-1core"].map(fixture) {
        let folder = scratch.join("dump");
        let report = dump(&file, &folder, &[]);
        for (kind, (path, at)) in targets(&report, &folder) {
            flip(&path, at);
            let found = faults(&file, &folder).unwrap_or_else(|| panic!("{kind}: no fault"));
            flip(&path, at);
            *kinds.entry(kind).or_insert(0) += found.len();
        }
        // The report, against the file.
        let path = folder.join("report.json");
        let text = fs::read_to_string(&path).unwrap();
        let wrong = text.replacen(
            "\"relocations\": {\n        \"variables\": ",
            "\"relocations\": {\n        \"variables\": 1",
            1,
        );
        assert_ne!(text, wrong);
        fs::write(&path, wrong).unwrap();
        assert!(faults(&file, &folder).is_some(), "a wrong count");
        fs::remove_dir_all(&folder).unwrap();
    }
    let names: Vec<_> = kinds.keys().copied().collect();
    assert_eq!(
        names,
        ["constant", "image", "pointer cell", "ring, behind its entries", "semaphore", "table"]
    );
}

/// Everything in a dump but the report with its times.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = paths.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path));
    named
        .filter(|(name, _)| name != "report.json")
        .map(|(name, path)| (name, fs::read(path).unwrap()))
        .collect()
}

#[test]
fn one_and_two_threads_dump_the_same() {
    let scratch = Scratch::new("threads-same");
    for file in files() {
        let dumped = ["1", "2"].map(|threads| {
            let folder = scratch.join(threads);
            let report = dump(&file, &folder, &["--threads", threads]);
            let files = contents(&folder);
            fs::remove_dir_all(&folder).unwrap();
            (report["cores"].clone(), files)
        });
        assert!(dumped[0].0 == dumped[1].0, "{}: reports", file.display());
        assert_eq!(dumped[0].1.len(), dumped[1].1.len());
        for (name, bytes) in &dumped[0].1 {
            assert!(dumped[1].1.get(name) == Some(bytes), "{}: {name}", file.display());
        }
    }
}

#[test]
fn another_number_of_files_leaves_nothing_of_an_earlier_dump() {
    let scratch = Scratch::new("dump-counts");
    let file = fixture("cayman-2core").to_string_lossy().into_owned();
    let folder = scratch.join("out");
    let kept = ["2/mine.txt", "note.bin", "01/report.json", "x/report.json"];
    for path in kept {
        fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
        fs::write(folder.join(path), "mine").unwrap();
    }
    for count in [1, 3, 2, 1, 2] {
        let mut arguments = vec!["load"];
        arguments.extend(std::iter::repeat_n(file.as_str(), count));
        let out = folder.to_string_lossy();
        arguments.extend(["--dump", &out]);
        assert_eq!(status(&run(&arguments)), 0);
        let mut reports: Vec<String> = Vec::new();
        for (place, inside) in [("", folder.clone())]
            .into_iter()
            .chain(["0", "1", "2", "3"].map(|index| (index, folder.join(index))))
        {
            if inside.join("report.json").is_file() {
                reports.push(place.to_owned());
                assert!(inside.join("product.bin").is_file());
            } else if let Ok(entries) = fs::read_dir(&inside) {
                let files = entries.map(|entry| entry.unwrap()).filter(|entry| entry.path().is_file());
                let files: Vec<_> = files.map(|entry| entry.file_name()).collect();
                let own: &[&str] = match place {
                    "" => &["note.bin"],
                    "2" => &["mine.txt"],
                    _ => &[],
                };
                assert_eq!(files, own, "{count} files, {place:?}");
            }
        }
        let expected: &[&str] = match count {
            1 => &[""],
            2 => &["0", "1"],
            _ => &["0", "1", "2"],
        };
        assert_eq!(reports, expected);
        assert!(kept.iter().all(|path| fs::read(folder.join(path)).unwrap() == b"mine"));
    }
}

/// Nothing is made for a file that is not there, nor on a device that cannot be read; an earlier dump stays.
#[test]
fn nothing_is_dumped_before_there_is_something() {
    let scratch = Scratch::new("dump-early");
    let (file, absent) = (fixture("cayman-2core"), fixture("absent"));
    let (folder, kept) = (scratch.join("new/dump"), scratch.join("kept"));
    dump(&file, &kept, &[]);
    let files = |folder: &Path| {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = files(&kept);
    for into in [&folder, &kept] {
        for (input, device, why) in [
            (&absent, "sim", "absent"),
            (&file, "sim,store=digest", "D107 "),
            (&file, "sim,store=discard", "D107 "),
        ] {
            let words = ["load".as_ref(), input.as_os_str(), "--device".as_ref(), device.as_ref()];
            let output = run([&words[..], &["--dump".as_ref(), into.as_os_str()]].concat());
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(status(&output) == 2 && said.contains(why), "{device}: {said}");
        }
    }
    assert!(!scratch.join("new").exists());
    assert_eq!(files(&kept), before);
    // A file that is refused has a report, in place of an earlier dump.
    let refused =
        run(["load".as_ref(), fixture("inf1-1core").as_os_str(), "--dump".as_ref(), kept.as_os_str()]);
    assert_eq!((status(&refused), files(&kept)), (1, vec!["report.json".into()]));
}
