//! `neffload load` on the fixtures and, where they are, on the real files; every device image is judged
//! by `check_dump.py`, which shares no code with the loader.

use neffload_tests::command::{Scratch, document, run, status};
use neffload_tests::{fixture, fixture_files, python, real_files, skip, workspace};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files for a NeuronCore that the loader knows.
fn loadable(files: Vec<PathBuf>) -> Vec<PathBuf> {
    files.into_iter().filter(|file| !name(file).starts_with("inf1")).collect()
}

fn name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn load(file: &Path, options: &[&str]) -> (i32, Value) {
    let output = run(["load", "--json"].iter().chain(options).map(AsRef::as_ref).chain([file.as_os_str()]));
    (status(&output), document(&output))
}

fn dump(file: &Path, folder: &Path, options: &[&str]) -> Value {
    let folder = folder.to_string_lossy();
    let all: Vec<&str> = options.iter().copied().chain(["--dump", folder.as_ref()]).collect();
    let (status, document) = load(file, &all);
    assert_eq!(status, 0, "{}: {}", file.display(), document["verdict"]);
    document
}

fn check(files: Vec<PathBuf>, scratch: &Scratch) {
    let script = workspace().join("tests").join("check_dump.py");
    for file in loadable(files) {
        let folder = scratch.join(&name(&file));
        dump(&file, &folder, &[]);
        let output =
            Command::new(python().unwrap()).arg("-B").arg(&script).arg(&file).arg(&folder).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.contains(" checks, 0 faults"), "{said}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn an_independent_checker_finds_no_fault_in_the_fixtures() {
    if python().is_none() {
        skip!("no Python");
    }
    check(fixture_files(), &Scratch::new("check-fixtures"));
}

#[test]
fn an_independent_checker_finds_no_fault_in_the_real_files() {
    if python().is_none() || real_files().is_empty() {
        skip!("no Python or no real files");
    }
    check(real_files(), &Scratch::new("check-real"));
}

/// Sum of a key over the images of a core.
fn sum(core: &Value, key: &str) -> u64 {
    core["images"].as_array().unwrap().iter().map(|image| image[key].as_u64().unwrap()).sum()
}

fn pseudo(core: &Value, opcode: &str) -> u64 {
    let images = core["images"].as_array().unwrap().iter();
    images.map(|image| image["pseudo"][opcode].as_u64().unwrap_or(0)).sum()
}

/// Counts of R7 and of the real files: (opaque, bound at execute) per core, and slots by opcode.
type Counts = (&'static str, &'static [(u64, u64)], &'static [(usize, &'static str, u64)]);

const REAL: [Counts; 5] = [
    ("cayman-attention-dge", &[(0, 4), (0, 0)], &[(0, "0xd4", 14)]),
    ("cayman-lnc2-matmul", &[(0, 4), (0, 4)], &[(0, "0xd4", 5), (1, "0xd4", 5)]),
    ("cayman-moe", &[(313, 16), (0, 0)], &[(0, "0xd4", 160), (0, "0xce", 144), (0, "0xc1", 25)]),
    ("mariana-lnc2-remote", &[(35, 4), (34, 3)], &[(0, "0xd4", 29), (1, "0xd4", 22)]),
    ("sunda-pointer", &[(85, 0)], &[(0, "0xc1", 81), (0, "0xc4", 4)]),
];

#[test]
fn real_files_give_the_counts_that_are_known() {
    let files: BTreeMap<String, PathBuf> = real_files().into_iter().map(|file| (name(&file), file)).collect();
    if files.is_empty() {
        skip!("no real files");
    }
    for (name, per_core, slots) in REAL {
        let (status, document) = load(&files[name], &[]);
        assert_eq!((status, &document["verdict"]["accepted"]), (0, &Value::Bool(true)), "{name}");
        let cores = document["cores"].as_array().unwrap();
        let found: Vec<(u64, u64)> =
            cores.iter().map(|core| (sum(core, "opaque"), sum(core, "bound_at_execute"))).collect();
        assert_eq!(found, per_core, "{name}");
        for (core, opcode, count) in slots {
            assert_eq!(pseudo(&cores[*core], opcode), *count, "{name} core {core} {opcode}");
        }
    }
}

#[test]
fn a_file_for_neuroncore_v1_is_refused_by_its_own_code() {
    let files = fixture_files().into_iter().chain(real_files()).filter(|file| name(file).starts_with("inf1"));
    for file in files {
        let (status, document) = load(&file, &[]);
        assert_eq!(status, 1);
        assert_eq!(document["verdict"]["code"], "E204");
        assert_eq!(document["verdict"]["status"], 2);
    }
}

/// The files of a dump, except the report with its times.
fn files_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = entries.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path));
    named
        .filter(|(name, _)| name != "report.json")
        .map(|(name, path)| (name, std::fs::read(path).unwrap()))
        .collect()
}

#[test]
fn a_dump_does_not_depend_on_threads_or_on_streaming() {
    let scratch = Scratch::new("dump-same");
    for file in ["mariana-gather", "sunda-1core", "cayman-registers"].map(fixture) {
        let ways: [&[&str]; 3] = [&["--threads", "1"], &["--threads", "2"], &["--max-memory", "8M"]];
        let mut seen = ways.iter().enumerate().map(|(number, options)| {
            let folder = scratch.join(&format!("{}-{number}", name(&file)));
            let document = dump(&file, &folder, options);
            let mode = if number == 2 { "streamed" } else { "resident" };
            assert_eq!(document["mode"], mode);
            assert!(document["passes"].as_u64().unwrap() <= 6, "{}", document["passes"]);
            (document["cores"].clone(), files_of(&folder))
        });
        let first = seen.next().unwrap();
        assert!(first.1.len() > 10);
        for (number, other) in seen.enumerate() {
            assert_eq!(first.0, other.0, "{} way {number}: report", file.display());
            for (name, bytes) in &first.1 {
                assert!(other.1.get(name) == Some(bytes), "{} way {number}: {name}", file.display());
            }
        }
    }
}

#[test]
fn rounds_share_one_device() {
    let file = fixture("cayman-2core");
    for options in [&["--repeat", "4"][..], &["--repeat", "4", "--max-memory", "8M"]] {
        let (status, document) = load(&file, options);
        assert_eq!(status, 0);
        let handle = document["model"]["h_nn"].as_u64().unwrap();
        assert!((1..=4).contains(&handle), "{handle}");
        assert_eq!(document["model"]["h_model"], handle);
        assert!(document["timing_ns"]["register"].as_u64().unwrap() > 0);
    }
    let traced =
        run(["load", "--trace", "--repeat", "3"].iter().map(AsRef::as_ref).chain([file.as_os_str()]));
    let once = run(["load", "--trace"].iter().map(AsRef::as_ref).chain([file.as_os_str()]));
    let lines = |output: &std::process::Output| String::from_utf8_lossy(&output.stderr).lines().count();
    assert!(lines(&once) > 10);
    assert_eq!(lines(&traced), 3 * lines(&once));
}

#[test]
fn a_refusal_names_its_member_however_the_file_is_held() {
    let file = fixture("inf1-1core");
    let (_, resident) = load(&file, &[]);
    let (_, streamed) = load(&file, &["--max-memory", "8M"]);
    assert_eq!(resident["verdict"]["member"], "kelf-a.json");
    assert_eq!(resident, streamed);
}

#[test]
fn a_load_that_skips_the_digest_differs_in_its_load_parameters_alone() {
    // Byte 16 of the parameters (`verified`) is part of the model record at 6432 (staging.md §5.3, §5.5).
    const VERIFIED: usize = 6432 + 16;
    let scratch = Scratch::new("dump-no-verify");
    let (with, without) = (scratch.join("with"), scratch.join("without"));
    let file = fixture("cayman-2core");
    dump(&file, &with, &[]);
    dump(&file, &without, &["--no-verify"]);
    let (with, without) = (files_of(&with), files_of(&without));
    assert!(with.keys().eq(without.keys()));
    for (name, bytes) in &with {
        let other = &without[name];
        assert_eq!(bytes.len(), other.len(), "{name}");
        let differ = |at: &usize| bytes[*at] != other[*at];
        let places: Vec<usize> = (0..bytes.len()).filter(differ).collect();
        match name.as_str() {
            "model-0.bin" | "model-1.bin" => {
                assert_eq!(places, [VERIFIED], "{name}");
                assert_eq!((bytes[VERIFIED], other[VERIFIED]), (1, 0));
            }
            "product.bin" => {
                assert_eq!(places.len(), 2, "once per model record");
                assert_eq!(places[1] - places[0], with["model-0.bin"].len());
            }
            "model-0.txt" | "model-1.txt" => assert_eq!(places.len(), 1, "{name}"),
            _ => assert!(places.is_empty(), "{name}"),
        }
    }
}

#[test]
fn counts_of_nothing_are_bad_usage() {
    let file = fixture("cayman-2core");
    for options in [&["--repeat", "0"][..], &["--device", "sim:cayman:0"], &["--device", "sim:cayman:x"]] {
        let arguments = ["load"].iter().chain(options).map(AsRef::as_ref).chain([file.as_os_str()]);
        let output = run(arguments);
        assert_eq!((status(&output), output.stdout.is_empty()), (2, true), "{options:?}");
    }
}

#[test]
fn a_refusal_says_what_was_asked() {
    let options =
        ["--device", "sim:mariana:4,profile=driver", "--strict", "--page-size", "512M", "--lnc", "2"];
    let (status, document) = load(&fixture("cayman-2core"), &options);
    assert_eq!((status, document["verdict"]["accepted"].as_bool()), (1, Some(false)));
    assert_eq!(document["device"]["arch"], "mariana");
    assert_eq!((&document["device"]["kind"], &document["device"]["cores"]), (&"sim".into(), &4.into()));
    assert_eq!((&document["profile"], &document["strict"]), (&"DRIVER".into(), &true.into()));
    assert_eq!((&document["page_size"], &document["lnc"]), (&(512 << 20).into(), &2.into()));
    assert_eq!(
        (&document["scratchpad_mode"], &document["model"]["state"]),
        (&"paged".into(), &"refused".into())
    );
    // Nobody has said which device it is.
    let (_, document) = load(&fixture("inf1-1core"), &[]);
    assert!(document["device"]["arch"].is_null() && document["strict"] == false);
}

#[test]
fn a_dump_prints_every_record_with_its_offset() {
    let scratch = Scratch::new("dump-records");
    let folder = scratch.join("dump");
    dump(&fixture("mariana-gather"), &folder, &[]);
    for core in 0..2 {
        let text = std::fs::read_to_string(folder.join(format!("kbin-{core}.txt"))).unwrap();
        let records = ["kbin.", "engine.", "blob.", "queue.", "ring.", "mem_ref.", "desc."];
        let found = records.map(|record| text.contains(&format!("  {record}")));
        // The second core moves nothing of its own.
        assert_eq!(found, [true, true, true, true, true, true, core == 0]);
        let text = text + &std::fs::read_to_string(folder.join(format!("model-{core}.txt"))).unwrap();
        let records = ["model.", "block.", "variable.", "image.", "addrs.", "patch.", "output."];
        let missing: Vec<_> =
            records.iter().filter(|record| !text.contains(&format!("  {record}"))).collect();
        assert!(missing.is_empty(), "core {core}: {missing:?}");
        assert_printed_where_it_lies(&text, &std::fs::read(folder.join("product.bin")).unwrap());
    }
}

/// Every heading's address, and every number behind an offset, agrees with the bytes of the product.
fn assert_printed_where_it_lies(text: &str, product: &[u8]) {
    let (mut base, mut checked) = (0, 0);
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once(" @").filter(|(name, _)| !name.contains(' ')) {
            base = rest.split(' ').next().unwrap().parse::<usize>().unwrap();
            continue;
        }
        let Some((at, rest)) = line.trim_start().split_once("  ") else { continue };
        let (Ok(at), Some((_, value))) = (at.parse::<usize>(), rest.split_once(" = ")) else { continue };
        let number = value.split(' ').next().unwrap();
        if let Ok(number) = number.parse::<u64>() {
            let bytes = number.to_le_bytes();
            let width = [8, 4, 2, 1].into_iter().find(|&width| {
                product.get(base + at..base + at + width).is_some_and(|field| field == &bytes[..width])
            });
            let fits = |width: usize| bytes[width..].iter().all(|&byte| byte == 0);
            assert!(width.is_some_and(fits), "@{base} + {at}: {line}");
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked} numbers");
}

#[test]
fn strict_refuses_what_is_not_understood() {
    let (status, document) = load(&fixture("sunda-1core"), &["--strict"]);
    assert_eq!(status, 1);
    let code = document["verdict"]["code"].as_str().unwrap();
    assert!(code.starts_with('S'), "{code}");
}

#[test]
fn the_device_is_as_the_command_line_says() {
    let file = fixture("cayman-2core");
    let (_, document) = load(&file, &["--device", "sim:cayman:4,store=digest", "--core", "2"]);
    assert_eq!(document["device"]["cores"], 4);
    assert_eq!(document["cores"][0]["core"], 2);
    assert_eq!(document["model"]["state"], "ready");
    assert_eq!((&document["model"]["h_nn"], &document["model"]["h_model"]), (&1.into(), &1.into()));
    let (status, document) = load(&file, &["--device", "sim:mariana"]);
    assert_eq!((status, document["verdict"]["code"].as_str()), (1, Some("E203")));
    let (status, document) = load(&file, &["--lnc", "1"]);
    assert_eq!((status, document["verdict"]["status"].as_u64()), (1, Some(2)));
    let (status, _) = load(&file, &["--core", "7"]);
    assert_eq!(status, 1, "core 8 does not exist");
}

#[test]
fn people_see_one_line_per_core() {
    let output = run(["load".as_ref(), fixture("cayman-2core").as_os_str()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("ready") && text.contains("  0     sg00") && text.contains("  1     sg01"),
        "{text}"
    );
    assert!(!text.contains('\x1b'), "no colour in a pipe");
}
