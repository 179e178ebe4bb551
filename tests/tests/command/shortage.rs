//! What a person sees when a device runs out of memory, and the memory log of a load.

use neffload_tests::build::edit_json;
use neffload_tests::command::{Scratch, document, neffload, run, status};
use neffload_tests::fixture;
use neffload_tests::fixtures::named;
use std::ffi::OsStr;
use std::fs;
use std::process::{Command, Output};

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
    // What the process takes to begin with, and then a little more each time.
    let begin =
        (8..).map(|mib| mib << 10).find(|kib| status(&limited(*kib, &[OsStr::new("--version")])) == 0);
    let begin = begin.unwrap();
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
