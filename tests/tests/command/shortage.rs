//! What a person sees when a device runs out of memory, and the memory log of a load.

use neffload_tests::build::edit_json;
use neffload_tests::command::{Scratch, document, run, status};
use neffload_tests::fixture;
use neffload_tests::fixtures::named;
use std::ffi::OsStr;
use std::fs;

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
