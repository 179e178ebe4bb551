//! `neffload diff`: what differs, and nothing else.

use neffload_tests::build::{Tree, edit_json};
use neffload_tests::command::{Scratch, document, run, status};
use neffload_tests::fixtures::{self, Fixture};
use neffload_tests::{fixture, fixture_files, real_files, skip};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::PathBuf;

/// The fixture, and the same with an edited tree.
fn pair(name: &str, edit: impl FnOnce(&mut Tree)) -> (Scratch, [PathBuf; 2]) {
    let scratch =
        Scratch::new(&format!("diff-{}", std::thread::current().name().unwrap_or("x").replace(':', "-")));
    let made = fixtures::named(name);
    let mut edited: Fixture = made.clone();
    edit(&mut edited.tree);
    let paths = [scratch.join("a.neff"), scratch.join("b.neff")];
    std::fs::write(&paths[0], made.bytes()).unwrap();
    std::fs::write(&paths[1], edited.bytes()).unwrap();
    (scratch, paths)
}

fn compared(paths: &[PathBuf; 2]) -> Value {
    let output = run(["diff".as_ref(), paths[0].as_os_str(), paths[1].as_os_str(), "--json".as_ref()]);
    assert_eq!(status(&output), 0, "differing files are no refusal");
    let document = document(&output);
    assert_eq!(document["schema"], "neffload.diff/1");
    document
}

/// Without what every change of the payload brings: its digest in the header, and the member itself.
fn apart_from_digests(document: &Value) -> Value {
    let keys = |list: &Value| -> Vec<String> {
        let keys = list.as_array().unwrap().iter().map(|difference| difference["key"].as_str().unwrap());
        keys.filter(|key| !["hash", "uuid", "data_size"].contains(key) && !key.starts_with("digest"))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(keys(&document["header"]), Vec::<String>::new());
    let subgraphs = document["subgraphs"].as_array().unwrap().clone();
    let quiet = |subgraph: &Value| {
        let mut map = subgraph.as_object().unwrap().clone();
        map.retain(|_, section| {
            *section != json!([]) && *section != json!({"added": [], "removed": [], "changed": []})
        });
        Value::Object(map)
    };
    json!({
        "graph": document["graph"], "memory": document["memory"],
        "subgraphs": subgraphs.iter().map(quiet).collect::<Vec<_>>(),
    })
}

/// Only this about `sg00`.
fn only(section: &str, what: Value) -> Value {
    json!({ "graph": [], "memory": [], "subgraphs": [{ "name": "sg00", section: what }, { "name": "sg01" }] })
}

#[test]
fn a_file_does_not_differ_from_itself() {
    for path in fixture_files().into_iter().chain(real_files()) {
        let document = compared(&[path.clone(), path.clone()]);
        assert_eq!(document["equal"], true, "{}", path.display());
        assert_eq!(document["header"], json!([]));
        assert_eq!(document["a"]["file"], document["b"]["file"]);
    }
    let path = fixture("cayman-2core");
    let output = run(["diff".as_ref(), path.as_os_str(), path.as_os_str(), "--exit-code".as_ref()]);
    assert_eq!(status(&output), 0);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.ends_with("same\n") && said.lines().count() == 1, "{said}");
}

#[test]
fn one_byte_of_one_constant_names_that_constant() {
    let (_scratch, paths) = pair("cayman-2core", |tree| {
        let name =
            tree.keys().find(|name| name.starts_with("sg00/") && name.ends_with(".npy")).unwrap().clone();
        *tree.get_mut(&name).unwrap().last_mut().unwrap() ^= 1;
    });
    let document = compared(&paths);
    let mut constants = document["subgraphs"][0]["constants"].clone();
    let found = constants.as_array_mut().unwrap();
    assert_eq!(found.len(), 1);
    let member = found[0]["member"].as_str().unwrap().to_owned();
    assert_ne!(found[0]["a"], found[0]["b"]);
    assert_eq!(
        apart_from_digests(&document),
        only("constants", document["subgraphs"][0]["constants"].clone())
    );
    let members = &document["members"];
    assert_eq!((&members["added"], &members["removed"]), (&json!([]), &json!([])));
    assert_eq!(members["changed"].as_array().unwrap().len(), 1);
    assert_eq!(members["changed"][0]["name"], member);

    let output = run(["diff".as_ref(), paths[0].as_os_str(), paths[1].as_os_str(), "--exit-code".as_ref()]);
    assert_eq!(status(&output), 1);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let name = document["subgraphs"][0]["constants"][0]["name"].as_str().unwrap();
    assert!(said.contains(&format!("`{name}` has another content")), "{said}");
    assert!(said.lines().count() < 24, "one screen: {said}");
}

/// The same on real files: unpacked, one byte of one constant changed, packed again.
#[test]
fn one_byte_of_one_constant_of_a_real_file() {
    let files = real_files();
    if files.is_empty() {
        skip!("no real files");
    }
    for file in files {
        let scratch = Scratch::new("diff-real");
        let (tree, paths) = (scratch.join("tree"), [scratch.join("a.neff"), scratch.join("b.neff")]);
        let done = |arguments: &[&OsStr]| {
            let output = run(arguments);
            assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
        };
        done(&["extract".as_ref(), file.as_os_str(), "-C".as_ref(), tree.as_os_str()]);
        done(&["pack".as_ref(), tree.as_os_str(), paths[0].as_os_str()]);
        let constants = std::fs::read_dir(tree.join("sg00")).unwrap().map(|entry| entry.unwrap().path());
        let mut constants: Vec<_> =
            constants.filter(|path| path.to_string_lossy().ends_with("_CRSM.npy")).collect();
        constants.sort();
        let mut bytes = std::fs::read(&constants[0]).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&constants[0], bytes).unwrap();
        done(&["pack".as_ref(), tree.as_os_str(), paths[1].as_os_str()]);

        let document = compared(&paths);
        let members = &document["members"];
        let name = format!("sg00/{}", constants[0].file_name().unwrap().to_string_lossy());
        assert_eq!((&members["added"], &members["removed"]), (&json!([]), &json!([])));
        assert_eq!(members["changed"].as_array().unwrap().len(), 1, "{}: {members}", file.display());
        assert_eq!(members["changed"][0]["name"], name.as_str());
        let apart = apart_from_digests(&document);
        assert_eq!((&apart["graph"], &apart["memory"]), (&json!([]), &json!([])));
        for subgraph in apart["subgraphs"].as_array().unwrap() {
            let found = subgraph["constants"].as_array().map_or(0, Vec::len);
            assert_eq!(found, usize::from(subgraph["name"] == "sg00"), "{}", file.display());
            assert_eq!(subgraph.as_object().unwrap().len(), 1 + found, "{}: {subgraph}", file.display());
        }
    }
}

/// Adds a variable `new` with id 3 to `sg00`; every id from there on moves, and what refers to it follows.
fn add_variable(tree: &mut Tree) {
    let moved = |id: &Value| json!(id.as_u64().unwrap() + u64::from(id.as_u64().unwrap() >= 3));
    edit_json(tree, "sg00/def.json", |definition| {
        let variables = definition["var"].as_object_mut().unwrap();
        for variable in variables.values_mut() {
            variable["var_id"] = moved(&variable["var_id"]);
            if let Some(list) = variable.get_mut("list").and_then(Value::as_array_mut) {
                list.iter_mut().for_each(|id| *id = moved(id));
            }
        }
        let like = variables.values().find(|variable| variable["type"] == "virtual").unwrap().clone();
        let mut new = like;
        new["var_id"] = json!(3);
        variables.insert("new".to_owned(), new);
    });
}

#[test]
fn one_more_variable_is_named_with_the_ids_that_moved() {
    let (_scratch, paths) = pair("cayman-2core", add_variable);
    let document = compared(&paths);
    let subgraph = &document["subgraphs"][0];
    assert_eq!(subgraph["variables"], json!({"added": ["new"], "removed": [], "changed": []}));
    assert_eq!(subgraph["shifted"], json!([{"first": 3, "last": 9, "by": 1}]));
    for quiet in ["settings", "constants", "instructions"] {
        assert_eq!(subgraph[quiet], json!([]), "{quiet}");
    }
    assert_eq!(subgraph["queues"], json!({"added": [], "removed": [], "changed": []}));
    assert_eq!(subgraph["blocks"], json!({"added": [], "removed": [], "changed": []}));
    assert!(document["subgraphs"][1]["variables"]["added"].as_array().unwrap().is_empty());
    let output = run(["diff".as_ref(), paths[0].as_os_str(), paths[1].as_os_str()]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("added: `new`") && said.contains("ids 3 to 9 moved by +1"), "{said}");
}

#[test]
fn one_slot_and_one_descriptor_are_found() {
    let (_scratch, paths) = pair("cayman-2core", |tree| {
        let name = tree.keys().find(|name| name.starts_with("sg00/") && name.ends_with("PE.bin"));
        let name =
            name.or_else(|| tree.keys().find(|name| name.starts_with("sg00/") && name.ends_with(".bin")));
        let name = name.unwrap().clone();
        let stream = tree.get_mut(&name).unwrap();
        stream[64 + 40] ^= 1;
    });
    let document = compared(&paths);
    let streams = document["subgraphs"][0]["instructions"].as_array().unwrap();
    assert_eq!(streams.len(), 1);
    assert_eq!(streams[0]["ranges"], json!([[[1, 2], [1, 2]]]));

    let engine = |tree: &Tree| {
        let has_blocks = |bytes: &Vec<u8>| {
            serde_json::from_slice::<Value>(bytes).is_ok_and(|json| json["dma"][0]["desc"].is_array())
        };
        tree.iter().find(|(name, bytes)| name.starts_with("sg00/") && has_blocks(bytes)).unwrap().0.clone()
    };
    let (_other, paths) = pair("cayman-2core", |tree| {
        let name = engine(tree);
        edit_json(tree, &name, |file| {
            let descriptor = &mut file["dma"][0]["desc"][0];
            let steps = descriptor["to_sizes"].as_array().map_or(0, Vec::len);
            assert!(steps > 0);
            descriptor["num_tiling_dimensions"] = json!(2);
        });
    });
    let document = compared(&paths);
    let blocks = &document["subgraphs"][0]["blocks"];
    assert_eq!((&blocks["added"], &blocks["removed"]), (&json!([]), &json!([])));
    assert_eq!(blocks["changed"].as_array().unwrap().len(), 1, "{blocks}");
    assert_eq!(
        apart_from_digests(&document)["subgraphs"][0].as_object().unwrap().len(),
        2,
        "name and blocks"
    );
}

/// The same program compiled twice: another identity and name, the same content.
#[test]
fn two_compilations_differ_in_their_identity_alone() {
    let scratch = Scratch::new("diff-twice");
    let made = fixtures::named("mariana-gather");
    let mut again = made.clone();
    again.options.header.uuid = Some([7; 16]);
    again.options.header.name = b"again.neff".to_vec();
    let paths = [scratch.join("a.neff"), scratch.join("b.neff")];
    std::fs::write(&paths[0], made.bytes()).unwrap();
    std::fs::write(&paths[1], again.bytes()).unwrap();
    let document = compared(&paths);
    let header = document["header"].as_array().unwrap();
    let keys: Vec<&str> = header.iter().map(|difference| difference["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["name", "uuid"]);
    assert_eq!((&document["graph"], &document["memory"]), (&json!([]), &json!([])));
    assert_eq!(document["members"], json!({"added": [], "removed": [], "changed": []}));
    assert_eq!(document["equal"], false);
}

fn text_of(paths: &[PathBuf; 2]) -> String {
    let output = run(["diff".as_ref(), paths[0].as_os_str(), paths[1].as_os_str()]);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Two files whose manifests one is refused for: the descriptor still names its subgraphs.
#[test]
fn a_refused_definition_takes_no_subgraph_away() {
    let (_scratch, paths) = pair("cayman-2core", |tree| {
        tree.insert("sg01/def.json".to_owned(), b"{".to_vec());
    });
    let output = run(["diff".as_ref(), paths[0].as_os_str(), paths[1].as_os_str(), "--json".as_ref()]);
    assert_eq!(status(&output), 1);
    let document = document(&output);
    assert_eq!(document["b"]["verdict"]["accepted"], false);
    assert_eq!(document["unknown"], json!(["graph", "memory", "subgraphs"]));
    assert_eq!((&document["subgraphs_added"], &document["subgraphs_removed"]), (&json!([]), &json!([])));
    assert_eq!(document["members"]["changed"].as_array().unwrap().len(), 1);
}

/// An archive that is damaged in its middle: the members before that are compared, those behind are unknown.
#[test]
fn of_a_damaged_archive_nothing_is_said_to_be_gone() {
    let scratch = Scratch::new("diff-damaged");
    let made = fixtures::named("cayman-2core").bytes();
    let paths = [scratch.join("a.neff"), scratch.join("b.neff")];
    std::fs::write(&paths[0], &made).unwrap();
    std::fs::write(&paths[1], neffload_tests::container::damaged(&made)).unwrap();
    for (paths, word) in [(paths.clone(), "removed"), ([paths[1].clone(), paths[0].clone()], "added")] {
        let output = run(["diff".as_ref(), paths[0].as_os_str(), paths[1].as_os_str(), "--json".as_ref()]);
        let document = document(&output);
        assert_eq!(document["members"][word], json!([]), "{document}");
        assert_eq!(document["unknown"][0], "members");
    }
}

/// Every byte of a file counts, and the place of the difference has a name.
#[test]
fn files_are_the_same_only_if_all_their_bytes_are() {
    let scratch = Scratch::new("diff-bytes");
    let made = fixtures::named("cayman-2core").bytes();
    let paths = [scratch.join("a.neff"), scratch.join("b.neff")];
    std::fs::write(&paths[0], &made).unwrap();
    let differ = |bytes: &[u8], section: &str, keys: &[&str]| {
        std::fs::write(&paths[1], bytes).unwrap();
        let document = compared(&paths);
        assert_eq!(document["equal"], false, "{keys:?}");
        let found = document[section].as_array().unwrap().iter();
        let found: Vec<&str> = found.map(|difference| difference["key"].as_str().unwrap()).collect();
        assert_eq!(found, keys);
        let words = ["diff".as_ref(), paths[0].as_os_str(), paths[1].as_os_str(), "--exit-code".as_ref()];
        assert_eq!(status(&run(words)), 1, "{keys:?}");
        assert!(text_of(&paths).contains(keys[0]), "{}", text_of(&paths));
    };
    let longer = [&made[..], b"trailing"].concat();
    differ(&longer, "container", &["trailing_bytes", "trailing_sha256"]);
    let set = |at: usize| {
        let mut bytes = made.clone();
        assert_eq!(bytes[at], 0);
        bytes[at] = 7;
        bytes
    };
    differ(&set(0x028 + 100), "header", &["neff_build_version_after_nul"]);
    assert!(text_of(&paths).contains("nothing → 0x8c: 07"), "{}", text_of(&paths));
    differ(&set(0x0DC + 200), "header", &["name_after_nul"]);
    differ(&set(0x0AC + 31), "header", &["digest.unused_tail", "hash"]);
    differ(&set(900), "header", &["pad", "pad_is_zero"]);
    // Other bytes in the pad than the other file's, where neither is zero.
    std::fs::write(&paths[0], set(900)).unwrap();
    differ(&set(901), "header", &["pad"]);
    std::fs::write(&paths[0], &longer).unwrap();
    differ(&[&made[..], b"TRAILING"].concat(), "container", &["trailing_sha256"]);
}

/// What a constant is on the device follows from its member's kind: equal members are not yet equal constants, and
/// other members can be the same constant.
#[test]
fn constants_are_compared_as_they_are_on_the_device() {
    let array =
        |tree: &Tree| tree.keys().find(|name| name.starts_with("sg00/") && name.ends_with(".npy")).cloned();
    let moved = |tree: &mut Tree, to: &str, header: bool| {
        let from = array(tree).unwrap();
        let bytes = tree.remove(&from).unwrap();
        let start = if header { 0 } else { 10 + usize::from(bytes[8]) + 256 * usize::from(bytes[9]) };
        tree.insert(format!("sg00/{to}"), bytes[start..].to_vec());
        let from = from.trim_start_matches("sg00/").to_owned();
        edit_json(tree, "sg00/def.json", |definition| {
            let variables = definition["var"].as_object_mut().unwrap();
            let constant = variables.values_mut().find(|one| one["file_name"] == from.as_str()).unwrap();
            constant["file_name"] = json!(to);
            constant.as_object_mut().unwrap().remove("size");
        });
    };
    let (_scratch, paths) = pair("cayman-2core", |tree| moved(tree, "moved.raw", true));
    let document = compared(&paths);
    let constants = document["subgraphs"][0]["constants"].as_array().unwrap();
    assert_eq!(constants.len(), 1, "{document}");
    assert_eq!(constants[0]["member_b"], "sg00/moved.raw");
    assert_ne!(constants[0]["a"], constants[0]["b"]);
    drop(_scratch);
    let (_scratch, paths) = pair("cayman-2core", |tree| moved(tree, "moved.raw", false));
    let document = compared(&paths);
    assert_eq!(document["subgraphs"][0]["constants"], json!([]), "the same content from another member");
    assert_eq!(document["members"]["added"], json!(["sg00/moved.raw"]));
    assert_eq!(document["equal"], false);
}

#[test]
fn a_refused_file_is_compared_as_far_as_it_goes() {
    let scratch = Scratch::new("diff-refused");
    let made = fixtures::named("cayman-2core").bytes();
    let paths = [scratch.join("a.neff"), scratch.join("b.neff")];
    std::fs::write(&paths[0], &made).unwrap();
    std::fs::write(&paths[1], &made[..made.len() / 2]).unwrap();
    let output = run(["diff".as_ref(), paths[0].as_os_str(), paths[1].as_os_str(), "--json".as_ref()]);
    assert_eq!(status(&output), 1);
    let document = document(&output);
    assert_eq!(document["a"]["verdict"]["accepted"], true);
    assert_eq!(document["b"]["verdict"]["accepted"], false);
    // What was not read is not known to be gone.
    assert_eq!(document["unknown"], json!(["members", "graph", "memory", "digest", "subgraphs"]));
    assert_eq!(document["subgraphs_removed"], json!([]));
    assert_eq!(document["members"], json!({"added": [], "removed": [], "changed": []}));
    for section in ["header", "graph", "memory"] {
        assert_eq!(document[section], json!([]), "{section}");
    }
    assert_eq!(document["equal"], false);
    assert_ne!(document["container"], json!([]));
    let said = text_of(&paths);
    assert!(said.contains("not compared  members, graph, memory, digest, subgraphs"), "{said}");
    assert!(!said.contains("removed"), "{said}");
    let itself = [paths[1].clone(), paths[1].clone()];
    let output = run(["diff".as_ref(), itself[0].as_os_str(), itself[1].as_os_str(), "--json".as_ref()]);
    assert_eq!((status(&output), &self::document(&output)["equal"]), (1, &json!(true)));
    let absent = run(["diff", "/nonexistent/a", "/nonexistent/b"]);
    assert_eq!(status(&absent), 2);
}
