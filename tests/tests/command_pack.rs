//! `neffload pack` as a user runs it.

use neffload_tests::command::{Scratch, document, run, status};
use neffload_tests::fixtures;

#[test]
fn packing_a_tree_gives_the_file_that_the_library_makes() {
    let scratch = Scratch::new("pack-tree");
    let made = fixtures::named("cayman-2core");
    let tree = scratch.write_tree("tree", &made.tree);
    let out = scratch.join("out.neff");
    let arguments = ["pack", "--features", "0xc00", "--lnc", "2", "--last", "neff.json", "--json"];
    let output =
        run(arguments.iter().map(|a| (*a).into()).chain([tree.into_os_string(), out.clone().into()]));
    assert_eq!(status(&output), 0, "{output:?}");
    assert!(std::fs::read(out).unwrap() == made.bytes());
    let document = document(&output);
    assert_eq!(document["schema"], "neffload.pack/1");
    assert_eq!(document["members"], made.tree.len());
    assert_eq!(document["file_bytes"], made.bytes().len());
}

#[test]
fn choices_say_what_they_saved() {
    let scratch = Scratch::new("pack-choices");
    let made = fixtures::named("cayman-2core");
    let tree = scratch.write_tree("tree", &made.tree);
    let debug: Vec<&Vec<u8>> =
        made.tree.iter().filter(|(n, _)| n.ends_with(".dbg")).map(|(_, b)| b).collect();
    let debug_bytes: usize = debug.iter().map(|bytes| bytes.len()).sum();
    let out = scratch.join("out.neff");
    let arguments = ["pack", "--uncompressed", "--no-debug", "--json"];
    let output =
        run(arguments.iter().map(|a| (*a).into()).chain([tree.into_os_string(), out.clone().into()]));
    let document = document(&output);
    assert_eq!(document["saved"]["debug_members"], debug_bytes);
    assert_eq!(document["debug_members_left_out"], debug.len());
    assert_eq!(document["saved"]["compression"], 0);
    let file = std::fs::read(out).unwrap();
    assert_eq!(&file[1024 + 257..1024 + 262], b"ustar");
    assert_eq!(file[0], 2, "package 2 without gzip");
}

#[test]
fn standard_output_takes_the_file_and_nothing_else() {
    let scratch = Scratch::new("pack-stdout");
    let made = fixtures::named("inf1-1core");
    let tree = scratch.write_tree("tree", &made.tree);
    let output =
        run([tree.as_os_str(), "-".as_ref()].into_iter().fold(vec!["pack".as_ref()], |mut all, one| {
            all.push(one);
            all
        }));
    assert_eq!(status(&output), 0);
    assert_eq!(
        u64::from_le_bytes(output.stdout[16..24].try_into().unwrap()) + 1024,
        output.stdout.len() as u64
    );
}

#[test]
fn exit_status_tells_usage_from_refusal() {
    let scratch = Scratch::new("pack-status");
    let missing = scratch.join("missing");
    assert_eq!(status(&run(["pack".as_ref(), missing.as_os_str(), "-".as_ref()])), 2);
    assert_eq!(status(&run(["pack"])), 2);
    assert_eq!(status(&run(["no-such-subcommand"])), 2);
    assert_eq!(status(&run(["--version"])), 0);
    let tree = scratch.join("tree");
    std::fs::create_dir_all(&tree).unwrap();
    std::fs::write(tree.join("info.json"), "[]").unwrap();
    let output = run(["pack".as_ref(), "--json".as_ref(), tree.as_os_str(), scratch.join("out").as_os_str()]);
    assert_eq!(status(&output), 1);
    assert_eq!(document(&output)["error"], "info.json is not a JSON object");
}
