//! `neffload pack` as a user runs it.

use neffload_tests::build::filler;
use neffload_tests::command::{Scratch, document, run, status};
use neffload_tests::{fixtures, neffpack, skip};
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;

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

/// The size of the file that `pack` writes with these flags, its `choices`, and what it prints.
fn packed(scratch: &Scratch, tree: &Path, flags: &[&str]) -> (i64, Value, String) {
    let out = scratch.join("sized.neff");
    let run_with = |more: &[&str]| {
        let words = ["pack"].iter().chain(flags).chain(more).map(OsString::from);
        run(words.chain([tree.into(), out.clone().into()]))
    };
    let document = document(&run_with(&["--json"]));
    let text = String::from_utf8(run_with(&[]).stdout).unwrap();
    (std::fs::metadata(&out).unwrap().len() as i64, document["choices"].clone(), text)
}

#[test]
fn what_a_choice_saved_is_the_difference_of_two_files() {
    let scratch = Scratch::new("pack-sizes");
    let mut made = fixtures::named("cayman-2core");
    made.tree.insert("debug_info/trace.dbg".to_owned(), filler(3, 40_000));
    let tree = scratch.write_tree("tree", &made.tree);
    let (plain, none, _) = packed(&scratch, &tree, &[]);
    assert!(none["uncompressed"].is_null() && none["no_debug"].is_null());
    let (raw, choices, text) = packed(&scratch, &tree, &["--uncompressed"]);
    assert_eq!(choices["uncompressed"]["saved_bytes"], plain - raw);
    assert_eq!(choices["uncompressed"]["file_bytes_without"], plain);
    assert!(text.contains("--uncompressed  costs ") && text.contains("spared inflating"), "{text}");
    let (lean, choices, text) = packed(&scratch, &tree, &["--no-debug"]);
    assert_eq!(choices["no_debug"]["saved_bytes"], plain - lean);
    assert!(plain - lean >= 30_000 && text.contains("--no-debug  saves "), "{text}");
    let (both, choices, _) = packed(&scratch, &tree, &["--no-debug", "--uncompressed"]);
    assert_eq!(choices["no_debug"]["saved_bytes"], raw - both);
    assert_eq!(choices["uncompressed"]["saved_bytes"], lean - both);
}

#[test]
fn the_logical_core_follows_the_tree() {
    let scratch = Scratch::new("pack-lnc");
    let header = |name: &str, flags: &[&str]| {
        let tree = scratch.write_tree(name, &fixtures::named(name).tree);
        let out = scratch.join("lnc.neff");
        let words = ["pack"].iter().chain(flags).map(OsString::from);
        assert_eq!(status(&run(words.chain([tree.into(), out.clone().into()]))), 0);
        let seen = document(&run(["inspect".as_ref(), "--json".as_ref(), out.as_os_str()]));
        let loads = status(&run(["load".as_ref(), "--json".as_ref(), out.as_os_str()]));
        let header = &seen["header"];
        (header["lnc_size"].as_u64().unwrap(), header["feature_bits"].as_str().unwrap().to_owned(), loads)
    };
    assert_eq!(header("cayman-2core", &[]), (2, "0x400".to_owned(), 0));
    assert_eq!(header("sunda-1core", &[]), (1, "0x0".to_owned(), 0));
    assert_eq!(header("cayman-2core", &["--features", "0xc00"]), (2, "0xc00".to_owned(), 0));
    // What is asked for is done, and the loader says what to do about it.
    assert_eq!(header("cayman-2core", &["--lnc", "1"]), (1, "0x0".to_owned(), 1));
    let refused = run(["load".as_ref(), scratch.join("lnc.neff").as_os_str()]);
    let text = [refused.stdout, refused.stderr].concat();
    assert!(
        String::from_utf8_lossy(&text).contains("Load it with `--lnc 2`"),
        "{}",
        String::from_utf8_lossy(&text)
    );
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

#[test]
fn a_file_packed_again_keeps_its_header_and_its_table() {
    let scratch = Scratch::new("pack-again");
    for file in neffload_tests::fixture_files().into_iter().chain(neffload_tests::real_files()) {
        let out = scratch.join("again.neff");
        let output = run(["pack".as_ref(), "--uncompressed".as_ref(), file.as_os_str(), out.as_os_str()]);
        assert_eq!(status(&output), 0, "{output:?}");
        let seen = |path: &Path| document(&run(["inspect".as_ref(), "--json".as_ref(), path.as_os_str()]));
        let (mut before, mut after) = (seen(&file), seen(&out));
        assert_eq!(before["table"], after["table"], "{}", file.display());
        assert_eq!(before["digest"]["order"], after["digest"]["order"]);
        for one in [&mut before, &mut after] {
            one["header"]["data_size"].take();
            one["header"]["hash"].take();
        }
        assert_eq!(before["header"], after["header"], "{}", file.display());
        assert_eq!(after["payload"]["layers"], 0);
    }
}

#[test]
fn a_file_that_is_no_neff_is_refused() {
    let scratch = Scratch::new("pack-refused");
    let source = scratch.join("source");
    std::fs::write(&source, b"not a neff").unwrap();
    let output = run(["pack".as_ref(), source.as_os_str(), scratch.join("out").as_os_str()]);
    assert_eq!(status(&output), 1);
}

/// A real file unpacked to a folder and packed from there: the independent tool takes it, with the same table.
#[test]
fn an_unpacked_real_file_is_packed_to_the_same_table() {
    let files = neffload_tests::real_files();
    let Some(_) = neffpack().filter(|_| !files.is_empty()) else { skip!("no shared data or no Python") };
    let scratch = Scratch::new("pack-real");
    let theirs = |path: &Path| -> Value {
        let output = neffpack().unwrap().arg("inspect").arg("--verify-hash").arg(path).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    for (number, file) in files.iter().enumerate() {
        let (folder, out) = (scratch.join(&format!("{number}")), scratch.join("again.neff"));
        let words = ["extract".as_ref(), file.as_os_str(), "-C".as_ref(), folder.as_os_str()];
        assert_eq!(status(&run(words)), 0, "{}", file.display());
        assert_eq!(status(&run(["pack".as_ref(), folder.as_os_str(), out.as_os_str()])), 0);
        let (before, after) = (theirs(file), theirs(&out));
        assert_eq!(after["verdict"]["accepted"], true, "{}", file.display());
        assert_eq!(after["table"], before["table"], "{}", file.display());
    }
}

fn packed_with(
    scratch: &Scratch,
    tree: &neffload_tests::build::Tree,
    options: &[&str],
) -> (std::process::Output, std::path::PathBuf) {
    // What another tree left there is none of this one's.
    let _ = std::fs::remove_dir_all(scratch.join("tree"));
    let folder = scratch.write_tree("tree", tree);
    let out = scratch.join("out.neff");
    let _ = std::fs::remove_file(&out);
    let mut arguments: Vec<OsString> =
        vec!["pack".into(), folder.into(), out.clone().into(), "--json".into()];
    arguments.extend(options.iter().map(|option| (*option).into()));
    (run(arguments), out)
}

#[test]
fn the_producers_asserts_hold_for_fixtures_and_real_files() {
    let scratch = Scratch::new("pack-check");
    for file in neffload_tests::fixture_files().into_iter().chain(neffload_tests::real_files()) {
        let out = scratch.join("out.neff");
        let output = run(["pack".as_ref(), file.as_os_str(), out.as_os_str(), "--check".as_ref()]);
        assert_eq!(status(&output), 0, "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_broken_assert_is_named_and_nothing_is_written() {
    let scratch = Scratch::new("pack-broken");
    let mut tree = fixtures::named("cayman-2core").tree;
    neffload_tests::build::edit_json(&mut tree, "sg00/def.json", |definition| {
        let queues = definition["dma_queue"].as_object_mut().unwrap();
        let queue = queues.values_mut().next().unwrap();
        queue["pinned"] = true.into();
        queue["semaphore"] = 5.into();
        queue["owner"] = "act".into();
        queue["dynamic_dma"] = serde_json::json!({});
    });
    let (output, out) = packed_with(&scratch, &tree, &["--check"]);
    assert_eq!(status(&output), 1);
    assert!(!out.exists());
    let broken = document(&output)["broken"].clone();
    let rules: Vec<&str> =
        broken.as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["pinned-semaphore", "software-generation"]);
    let (output, out) = packed_with(&scratch, &tree, &[]);
    assert!(status(&output) == 0 && out.exists(), "a packer without --check writes what it is given");
}

#[test]
fn equal_constants_share_a_member_and_the_file_still_loads() {
    let scratch = Scratch::new("pack-dedup");
    let mut tree = fixtures::named("cayman-2core").tree;
    let constant =
        tree.keys().find(|name| name.starts_with("sg00/") && name.ends_with(".npy")).unwrap().clone();
    let copy = constant.replace(".npy", "_copy.npy");
    tree.insert(copy.clone(), tree[&constant].clone());
    let (name, copied) =
        (constant.trim_start_matches("sg00/").to_owned(), copy.trim_start_matches("sg00/").to_owned());
    neffload_tests::build::edit_json(&mut tree, "sg00/def.json", |definition| {
        let variables = definition["var"].as_object_mut().unwrap();
        let next = variables.len();
        let mut twin =
            variables.values().find(|variable| variable["file_name"] == name.as_str()).unwrap().clone();
        twin["file_name"] = copied.into();
        twin["var_id"] = next.into();
        variables.insert("twin".to_owned(), twin);
    });
    let options = ["--dedup", "--features", "0xc00", "--lnc", "2"];
    let (output, out) = packed_with(&scratch, &tree, &options);
    let report = document(&output);
    assert_eq!(
        (&report["constants_shared"], report["saved"]["constants"].as_u64()),
        (&1.into(), Some(tree[&copy].len() as u64))
    );
    let loaded = document(&run(["load".as_ref(), out.as_os_str(), "--json".as_ref()]));
    assert_eq!(loaded["verdict"]["accepted"], true, "{}", loaded["verdict"]);
    let members = document(&run(["members".as_ref(), out.as_os_str(), "--json".as_ref()]));
    assert_eq!(members["table"].as_array().unwrap().len(), tree.len() - 1);
}

#[test]
fn the_producers_header_and_graph_rules_are_options() {
    let scratch = Scratch::new("pack-rules");
    let tree = fixtures::named("sunda-1core").tree;
    let (output, out) = packed_with(&scratch, &tree, &["--override-header", "--skip-graph"]);
    assert_eq!(status(&output), 0);
    let file = std::fs::read(&out).unwrap();
    let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
    assert_eq!((word(24), word(32)), (1, 1), "version 1.1");
    assert_eq!(&file[0xDC..0xDC + 10], b"file.neff\0");
    let inspected = document(&run(["inspect".as_ref(), out.as_os_str(), "--json".as_ref()]));
    assert!(inspected["header"]["tpb_per_node"].as_str().unwrap().chars().all(|digit| digit == '0'));
    assert_eq!(inspected["verdict"]["accepted"], false, "no loader takes a file without its graph");
    let members = document(&run(["members".as_ref(), out.as_os_str(), "--json".as_ref()]));
    let names: Vec<&str> =
        members["table"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"kelf-0.json") && !names.contains(&"neff.json"));
}

/// A tree whose descriptor has its definition under another name.
fn renamed(tree: &mut neffload_tests::build::Tree) {
    let definition = tree.remove("sg00/def.json").unwrap();
    tree.insert("sg00/other.json".to_owned(), definition);
    neffload_tests::build::edit_json(tree, "kelf-0.json", |kelf| {
        kelf["graphs"][0]["definition"] = "sg00/other.json".into();
    });
}

#[test]
fn a_check_that_cannot_be_made_is_refused() {
    let scratch = Scratch::new("pack-unread");
    let plain = fixtures::named("sunda-1core").tree;
    let broken = |tree: &neffload_tests::build::Tree| -> Vec<String> {
        let (output, out) = packed_with(&scratch, tree, &["--check"]);
        assert_eq!((status(&output), out.exists()), (1, false));
        assert!(!output.stderr.is_empty());
        let broken = document(&output)["broken"].clone();
        broken.as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap().to_owned()).collect()
    };
    let pinned = |tree: &mut neffload_tests::build::Tree| {
        neffload_tests::build::edit_json(tree, "sg00/def.json", |definition| {
            let queue = definition["dma_queue"].as_object_mut().unwrap().values_mut().next().unwrap();
            queue["pinned"] = 1.into();
            queue["semaphore"] = 5.into();
        });
    };
    let mut tree = plain.clone();
    pinned(&mut tree);
    assert_eq!(broken(&tree), ["pinned-semaphore"], "1 is as good as true");
    let mut marked = tree.clone();
    marked.get_mut("sg00/def.json").unwrap().splice(0..0, *b"\xEF\xBB\xBF");
    assert_eq!(broken(&marked), ["pinned-semaphore"]);
    renamed(&mut tree);
    assert_eq!(broken(&tree), ["pinned-semaphore"]);
    let (output, _) = packed_with(&scratch, &tree, &["--check", "--skip-graph"]);
    assert_eq!(status(&output), 1, "the graph that is left out is still the way to the definitions");

    for gone in ["sg00/def.json", "kelf-0.json"] {
        let mut tree = plain.clone();
        tree.remove(gone);
        assert_eq!(broken(&tree), ["readable"], "{gone}");
    }
    let mut tree = plain.clone();
    tree.insert("sg00/def.json".to_owned(), b"{".to_vec());
    assert_eq!(broken(&tree), ["readable"]);
    let (output, out) = packed_with(&scratch, &tree, &["--dedup"]);
    assert_eq!((status(&output), out.exists()), (1, false));
    assert!(document(&output)["error"].as_str().unwrap().starts_with("sg00/def.json: "));
    let mut tree = plain;
    let unnamed = br#"{"dma_queue": {"q": {"num_queues": 16000}}}"#.to_vec();
    tree.insert("sg77/def.json".to_owned(), unnamed);
    let (output, _) = packed_with(&scratch, &tree, &["--check"]);
    assert_eq!(status(&output), 0, "nobody names that definition");
}

/// The device memory of a variable that `load --dump` writes.
fn dumped(scratch: &Scratch, file: &Path, variable: &str) -> Vec<u8> {
    let folder = scratch.join("dump");
    let _ = std::fs::remove_dir_all(&folder);
    let words = ["load".as_ref(), file.as_os_str(), "--dump".as_ref(), folder.as_os_str(), "--json".as_ref()];
    let loaded = document(&run(words));
    assert_eq!(loaded["verdict"]["accepted"], true, "{}", loaded["verdict"]);
    let variables = loaded["cores"][0]["variables"].as_array().unwrap();
    let address = &variables.iter().find(|one| one["name"] == variable).unwrap()["address"];
    std::fs::read(folder.join(format!("0-{}.bin", address.as_str().unwrap()))).unwrap()
}

#[test]
fn a_raw_constant_and_an_array_with_equal_bytes_stay_two() {
    let scratch = Scratch::new("pack-kinds");
    let mut tree = fixtures::named("sunda-1core").tree;
    let array = tree.keys().find(|name| name.ends_with(".npy")).unwrap().clone();
    let raw = array.replace(".npy", ".raw");
    let bytes = tree[&array].clone();
    tree.insert(raw.clone(), bytes.clone());
    let name = |member: &str| member.trim_start_matches("sg00/").to_owned();
    neffload_tests::build::edit_json(&mut tree, "sg00/def.json", |definition| {
        let variables = definition["var"].as_object_mut().unwrap();
        let next = variables.len();
        let twin = serde_json::json!({
            "type": "file", "file_name": name(&raw), "var_id": next, "size": bytes.len(),
        });
        variables.insert("twin".to_owned(), twin);
    });
    renamed(&mut tree);
    let (output, out) = packed_with(&scratch, &tree, &["--dedup"]);
    assert_eq!(document(&output)["constants_shared"], 0);
    assert!(dumped(&scratch, &out, "twin") == bytes, "all its bytes, which begin like an array's");
    // Two arrays are shared, whatever the definition is called, and a byte order mark is no hindrance.
    let second = array.replace(".npy", "_2.npy");
    tree.insert(second.clone(), bytes.clone());
    neffload_tests::build::edit_json(&mut tree, "sg00/other.json", |definition| {
        let variables = definition["var"].as_object_mut().unwrap();
        let next = variables.len();
        let mut twin =
            variables.values().find(|one| one["file_name"] == name(&array).as_str()).unwrap().clone();
        twin["file_name"] = name(&second).into();
        twin["var_id"] = next.into();
        variables.insert("third".to_owned(), twin);
    });
    tree.get_mut("sg00/other.json").unwrap().splice(0..0, *b"\xEF\xBB\xBF");
    let (output, out) = packed_with(&scratch, &tree, &["--dedup"]);
    assert_eq!(document(&output)["constants_shared"], 1);
    let content = &bytes[bytes.len() - dumped(&scratch, &out, "third").len()..];
    assert!(dumped(&scratch, &out, "third") == content);
}

#[test]
fn options_that_select_nothing_are_refused() {
    let scratch = Scratch::new("pack-nothing");
    let tree = fixtures::named("sunda-1core").tree;
    let (output, out) = packed_with(&scratch, &tree, &["--last", "nope"]);
    assert_eq!((status(&output), out.exists()), (1, false));
    assert_eq!(document(&output)["error"], "no member is named `nope`, as --last has it");
    let (output, _) = packed_with(&scratch, &tree, &["--lnc", "99"]);
    assert_eq!(status(&output), 2);
}
