//! What a person sees when a device runs out of memory, and the memory log of a load.

use neffload_tests::build::edit_json;
use neffload_tests::command::{Scratch, document, neffload, run, status};
use neffload_tests::container::File;
use neffload_tests::container::tar::Tar;
use neffload_tests::fixtures::named;
use neffload_tests::{fixture, skip};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

#[test]
fn the_table_of_who_holds_what_is_printed() {
    let scratch = Scratch::new("shortage");
    let mut huge = named("cayman-2core");
    edit_json(&mut huge.tree, "sg00/def.json", |def| {
        def["var"]["hidden.1_sg0000"]["size"] = (40u64 << 30).into()
    });
    let file = scratch.join("huge.neff");
    fs::write(&file, huge.bytes()).unwrap();
    let output = run([OsStr::new("load"), OsStr::new("--json"), file.as_os_str()]);
    assert_eq!((status(&output), document(&output)["verdict"]["status"].as_u64()), (1, Some(4)));
    let said = String::from_utf8_lossy(&output.stderr);
    let heads: Vec<&str> = said.lines().filter(|line| line.starts_with("[ND ")).collect();
    let wanted = "[ND 0:HBM 0] Failed to allocate 40.000GB (alignment: none, usage: SCRATCHPAD_NOT_SHARED)";
    assert_eq!(heads, [wanted], "once: {said}");
    assert!(said.contains("Profiler Buffers") && said.contains("n/a"), "{said}");
}

#[test]
fn a_traced_load_logs_its_memory() {
    let file = fixture("cayman-2core");
    let output = run([OsStr::new("load"), OsStr::new("--trace"), file.as_os_str()]);
    assert_eq!(status(&output), 0);
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> =
        said.lines().filter(|line| !line.contains('=') && !line.starts_with("free")).collect();
    assert_eq!(
        lines.iter().filter(|line| line.starts_with("Per NEFF memory usage breakdown for [")).count(),
        2
    );
    assert!(lines[0].starts_with("[ND 0:NC 0] Current Usage Total: "), "{said}");
    let items = ["model code", "model constants", "scratchpad", "runtime", "dma rings io", "dma rings spill"];
    for item in items.iter().chain(&["dma rings collectives", "dma rings runtime", "collectives"]) {
        assert_eq!(said.matches(&format!("        * {item}: ")).count(), 2, "{item}: {said}");
    }
}

/// Runs a command that may have only so many KiB of address space.
fn limited(kib: u64, arguments: &[&OsStr]) -> Output {
    let mut command = Command::new("sh");
    let script = "ulimit -v \"$1\"; shift; exec \"$@\"";
    command.args(["-c", script, "sh", &kib.to_string()]).arg(neffload().get_program()).args(arguments);
    command.output().unwrap()
}

/// The least KiB, to a MiB, in which a command works: what the process takes to begin with, if it does little.
fn least(arguments: &[&OsStr]) -> u64 {
    (8..).map(|mib| mib << 10).find(|kib| status(&limited(*kib, arguments)) == 0).unwrap()
}

#[test]
fn little_memory_is_an_answer_and_never_a_signal() {
    let file = fixture("cayman-2core");
    let scratch = Scratch::new("little");
    let page = scratch.join("page.html");
    let file = file.as_os_str();
    let commands: [(&str, Vec<&OsStr>); 6] = [
        ("load", vec![file]),
        ("load", vec![file, OsStr::new("--max-memory"), OsStr::new("1000000")]),
        ("plan", vec![file]),
        ("report", vec![file, OsStr::new("-o"), page.as_os_str()]),
        ("verify", vec![OsStr::new("--deep"), file]),
        ("memory", vec![OsStr::new("--staged"), file]),
    ];
    let begin = least(&[OsStr::new("--version")]);
    for (name, arguments) in commands {
        let arguments: Vec<&OsStr> = [OsStr::new(name)].into_iter().chain(arguments).collect();
        let mut worked = Vec::new();
        for more in [4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256, 512, 976] {
            let output = limited(begin + (more << 10), &arguments);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(status(&output), 0..=2), "{arguments:?} with {more} MiB: {said}");
            if status(&output) != 0 {
                let all = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
                let all = String::from_utf8_lossy(&all);
                assert!(all.contains("memory"), "{arguments:?} with {more} MiB: {all}");
            }
            worked.push(status(&output) == 0);
        }
        assert!(worked[9..].iter().all(|worked| *worked), "{arguments:?}: {worked:?}");
    }
}

/// The bar of a terminal is drawn by one thread more.
#[test]
fn little_memory_is_an_answer_on_a_terminal_too() {
    let begin = least(&[OsStr::new("--version")]);
    let (program, file) = (neffload().get_program().to_owned(), fixture("cayman-2core"));
    for words in ["load", "plan", "memory --staged"] {
        for more in [2, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256] {
            let limit = begin + (more << 10);
            let (program, file) = (program.display(), file.display());
            let line = format!("ulimit -v {limit}; exec {program} {words} {file}");
            let mut terminal = Command::new("script");
            terminal.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").stdin(Stdio::null());
            let Ok(output) = terminal.output() else { skip!("there is no `script`") };
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(matches!(status(&output), 0..=2), "{words} with {more} MiB: {said}");
            assert!(more < 64 || status(&output) == 0, "{words} with {more} MiB: {said}");
        }
    }
}

/// Headers that pass every look at them, each in front of what is no archive.
fn false_headers(count: usize) -> Vec<u8> {
    let mut one = vec![0; 1040];
    (one[0], one[9], one[24], one[16]) = (2, 4, 1, 200);
    one[1024..1027].copy_from_slice(&[0x1F, 0x8B, 8]);
    let mut all = one.repeat(count);
    all.extend([0; 512]);
    all
}

#[test]
fn what_is_found_does_not_fill_the_memory() {
    let scratch = Scratch::new("false");
    let (few, many) = (scratch.join("few"), scratch.join("many"));
    fs::write(&few, false_headers(10)).unwrap();
    fs::write(&many, false_headers(20_000)).unwrap();
    for form in [&["find"][..], &["find", "--json"]] {
        let words = |path| -> Vec<&OsStr> { form.iter().map(OsStr::new).chain([path]).collect() };
        let least = least(&words(few.as_os_str()));
        let output = limited(least + (2 << 10), &words(many.as_os_str()));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(status(&output), 0, "{form:?} in {least} KiB: {said}");
        assert!(output.stdout.len() > 500_000);
    }
}

#[test]
fn a_member_too_many_is_an_answer() {
    let scratch = Scratch::new("many");
    let path = scratch.join("many.neff");
    let mut tar = Tar::new();
    for number in 0..60_000 {
        tar.file(format!("m{number}"), b"");
    }
    fs::write(&path, File::raw(tar.finish()).bytes()).unwrap();
    let begin = least(&[OsStr::new("--version")]);
    for form in [&["members"][..], &["members", "--json"]] {
        let words: Vec<&OsStr> = form.iter().map(OsStr::new).chain([path.as_os_str()]).collect();
        for more in [1, 2, 3, 4, 6, 8, 12, 16, 20, 28, 52] {
            let output = limited(begin + (more << 10), &words);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(status(&output), 0..=2), "{form:?} with {more} MiB: {said}");
        }
    }
}

#[test]
fn a_file_that_may_not_grow_is_an_error_of_the_write() {
    let scratch = Scratch::new("fsize");
    let path = scratch.join("large.neff");
    let mut tar = Tar::new();
    tar.file("neff.json", vec![7; 3 << 20]);
    fs::write(&path, File::raw(tar.finish()).bytes()).unwrap();
    let name = path.to_str().unwrap();
    let (out, cut, packed) = (scratch.join("out"), scratch.join("cut"), scratch.join("packed"));
    for (words, made) in [
        (vec!["extract", name, "-C", out.to_str().unwrap()], &out),
        (vec!["extract", name, "--neff", cut.to_str().unwrap()], &cut),
        (vec!["pack", "--uncompressed", name, packed.to_str().unwrap()], &packed),
    ] {
        let script = "ulimit -f 100; exec \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]).arg(neffload().get_program()).args(&words);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(status(&output), 2, "{words:?}: {said}");
        assert!(said.contains("too large"), "{said}");
        assert!(!made.exists(), "{words:?}");
    }
}

/// Everything below a folder, itself included, in order.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_path_buf()];
    let mut at = 0;
    while let Some(path) = all.get(at).cloned() {
        at += 1;
        all.extend(fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap().path()));
    }
    all.sort();
    all
}

/// Wherever on its way a command may open no further file, it says so and leaves nothing.
#[test]
fn too_few_open_files_leave_nothing_behind() {
    let scratch = Scratch::new("nofile");
    let file = fixture("cayman-2core");
    let name = file.to_str().unwrap();
    let places = scratch.join("places");
    let there = places.join("there");
    let afresh = || {
        let _ = fs::remove_dir_all(&places);
        fs::create_dir_all(&there).unwrap();
    };
    afresh();
    let made = ["new/deep", "there", "cut", "packed", "page.html"].map(|name| places.join(name));
    let [deep, _, cut, packed, page] = made.each_ref().map(|path| path.to_str().unwrap());
    let commands = [
        vec!["extract", name, "-C", deep],
        vec!["extract", name, "-C", there.to_str().unwrap()],
        vec!["extract", name, "--neff", cut],
        vec!["pack", "--uncompressed", name, packed],
        vec!["report", name, "-o", page],
    ];
    for words in commands {
        let (before, mut outcomes) = (below(&places), Vec::new());
        for most in 3..24 {
            let script = "ulimit -n \"$1\"; shift; exec \"$@\"";
            let mut command = Command::new("sh");
            command.args(["-c", script, "sh", &most.to_string()]).arg(neffload().get_program()).args(&words);
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            // 127: the shell or the program's loader had none either.
            let ended = status(&output);
            assert!(matches!(ended, 0 | 2 | 127), "{words:?} with {most} files: {ended} {said}");
            outcomes.push(ended);
            if ended == 0 {
                break;
            }
            assert!(ended == 127 || said.contains("oo many open files"), "{words:?} with {most}: {said}");
            if said.contains("could not be written") {
                // The whole file was read, and every member that has no folder is named; the others are there.
                let named = said.matches("not written: ").count();
                let all = below(&places);
                assert!(
                    named > 0 && !all.iter().any(|path| path.to_string_lossy().contains(".part")),
                    "{all:?}"
                );
                afresh();
            }
            assert_eq!(below(&places), before, "{words:?} with {most} files: {said}");
        }
        assert_eq!(outcomes.last(), Some(&0), "{words:?}: {outcomes:?}");
        // `pack` has one file open at a time, as the program's loader had.
        assert!(words[0] == "pack" || outcomes.contains(&2), "{words:?} was never refused: {outcomes:?}");
        afresh();
    }
}
