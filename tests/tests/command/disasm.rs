//! `neffload disasm` beside a reading of the same streams by the test itself.

use loader_core::limits::Limits;
use loader_std::file::Buffers;
use loader_std::members::{Members, Unpacked};
use neffload_tests::build::edit_json;
use neffload_tests::command::{Scratch, document, run, status};
use neffload_tests::{fixture, fixture_files, real_files};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

fn disasm(file: &Path, options: &[&str]) -> (i32, Value) {
    let words = ["disasm", "--json"].iter().chain(options).map(AsRef::<OsStr>::as_ref);
    let output = run(words.chain([file.as_os_str()]));
    (status(&output), document(&output))
}

fn files() -> Vec<PathBuf> {
    fixture_files().into_iter().chain(real_files()).collect()
}

fn members(file: &Path) -> Unpacked {
    let bytes = std::fs::read(file).unwrap();
    Unpacked::read(&mut &bytes[..], &mut Buffers::new(), &Limits::DEFAULT, |_| true).unwrap()
}

fn json(members: &Unpacked, name: &str) -> Value {
    serde_json::from_slice(members.content(name.as_bytes()).unwrap()).unwrap()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Every stream with its engine, and the definition of its subgraph.
fn streams(document: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    let subgraphs = document["subgraphs"].as_array().unwrap().iter();
    subgraphs.flat_map(|subgraph| {
        subgraph["engines"].as_array().unwrap().iter().map(move |engine| (subgraph, engine))
    })
}

/// The definition of the subgraph that a stream's member belongs to.
fn definition(members: &Unpacked, member: &str) -> Value {
    let folder = member.rsplit_once('/').map_or("", |(folder, _)| folder);
    json(members, &if folder.is_empty() { "def.json".to_owned() } else { format!("{folder}/def.json") })
}

#[test]
fn nothing_of_a_stream_is_lost() {
    let mut slots = 0;
    for file in files() {
        let (status, document) = disasm(&file, &[]);
        assert_eq!(
            (status, document["schema"].as_str()),
            (0, Some("neffload.disasm/1")),
            "{}",
            file.display()
        );
        let members = members(&file);
        for (_, engine) in streams(&document) {
            let code = engine["code"].as_array().unwrap();
            let mut bytes: Vec<u8> =
                code.iter().flat_map(|line| unhex(line["bytes"].as_str().unwrap())).collect();
            bytes.extend(unhex(engine["rest"].as_str().unwrap()));
            let member = engine["member"].as_str().unwrap();
            assert_eq!(members.content(member.as_bytes()), Some(&bytes[..]), "{} {member}", file.display());
            assert_eq!(engine["slots"], code.len());
            let sum: u64 = engine["opcodes"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
            assert_eq!(sum, code.len() as u64);
            slots += code.len();
        }
        let listed: usize = streams(&document).count();
        let instr = |name: &&[u8]| name.ends_with(b".json") && is_engine(&members, name);
        assert_eq!(
            listed,
            members.names().filter(instr).count(),
            "{}: every stream is listed",
            file.display()
        );
    }
    println!("{slots} slots of {} files", files().len());
    assert!(slots > 500);
}

/// True for a member that names an instruction stream.
fn is_engine(members: &Unpacked, name: &[u8]) -> bool {
    let content = members.content(name).unwrap();
    let value: Value = serde_json::from_slice(content).unwrap_or_default();
    value["instr"].as_str().is_some_and(|instr| instr.ends_with(".bin"))
}

#[test]
fn every_opcode_of_real_files_has_a_class() {
    for file in files() {
        let (_, document) = disasm(&file, &[]);
        for (_, engine) in streams(&document) {
            for line in engine["code"].as_array().unwrap() {
                let at = format!("{} {} slot {}", file.display(), engine["member"], line["slot"]);
                assert_ne!(line["class"], "unknown", "{at}: {}", line["opcode"]);
            }
        }
    }
}

/// The opcodes that 141 real files hold, engine by engine (real-files.md §5), not only those of the files at hand.
#[test]
fn every_opcode_that_was_ever_seen_has_a_class() {
    use loader_std::disasm::{Class, meaning};
    let seen: [&[u8]; 5] = [
        &[0x01, 0x02, 0xA0, 0xB1, 0xCC, 0x68, 0xC7],
        &[
            0xA0, 0xA4, 0xA7, 0xA8, 0xB1, 0xC1, 0xCC, 0xCE, 0xD4, 0xD8, 0xDA, 0x41, 0x67, 0x68, 0x74, 0x7E,
            0x92, 0xC4, 0xC8, 0x65,
        ],
        &[0x21, 0x23, 0x46, 0x47, 0xA0, 0xA2, 0xB1, 0xC1, 0xCC, 0xD4, 0x65, 0x68, 0xC6],
        &[
            0x46, 0x47, 0x48, 0x49, 0x61, 0x62, 0x69, 0x6A, 0x6B, 0x6C, 0x6D, 0x6E, 0x72, 0xE8, 0xA0, 0xB1,
            0xC1, 0xCC,
        ],
        &[0xA0, 0xB1, 0xC1, 0xC4, 0xCC, 0xD4],
    ];
    for &opcode in seen.into_iter().flatten().chain(&(0x41..=0x53).collect::<Vec<_>>()) {
        assert_ne!(meaning(opcode).class, Class::Unknown, "{opcode:#x}");
    }
    // Every pseudo-instruction has a name too.
    for opcode in (0xC1..=0xDF).chain([0xA9]) {
        assert!(meaning(opcode).name.is_some(), "{opcode:#x}");
    }
}

#[test]
fn triggers_and_operands_name_queues_and_variables() {
    let (mut triggers, mut operands, mut registers) = (0, 0, 0);
    for file in files() {
        let (_, document) = disasm(&file, &[]);
        let members = members(&file);
        for (_, engine) in streams(&document) {
            let definition = definition(&members, engine["member"].as_str().unwrap());
            let ids: BTreeMap<u64, &String> = definition["var"]
                .as_object()
                .unwrap()
                .iter()
                .map(|(name, var)| (var["var_id"].as_u64().unwrap(), name))
                .collect();
            let tables =
                definition["var"].as_object().unwrap().values().find(|var| var["type"] == "dge-table");
            for line in engine["code"].as_array().unwrap() {
                let bytes = unhex(line["bytes"].as_str().unwrap());
                let word = |at: usize| u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()));
                match line["opcode"].as_str().unwrap() {
                    "0xc1" => {
                        let queue = line["queue"].as_str().unwrap();
                        // NeuronCore v1 has it four bytes earlier, and a label behind it.
                        let at = if line["label_text"].is_string() { 8 } else { 12 };
                        assert!(bytes[at..].starts_with(queue.as_bytes()) && line["queue_known"] == true);
                        assert!(definition["dma_queue"].get(queue).is_some(), "{queue}");
                        assert_eq!(line["block"], word(at + 36));
                        triggers += 1;
                    }
                    "0xd4" => {
                        for (at, key) in [(0x10, "from"), (0x28, "to")] {
                            let (low, id, marker) = (word(at), word(at + 4) & 0xFF_FFFF, bytes[at + 7]);
                            let found = &line[key];
                            let var = match marker & 0x20 {
                                0 => id,
                                _ => tables.unwrap()["list"][id as usize].as_u64().unwrap(),
                            };
                            assert_eq!(
                                (&found["var_id"], found["name"].as_str()),
                                (&var.into(), Some(ids[&var].as_str()))
                            );
                            let key = if marker & 8 == 0 { "offset" } else { "offset_register" };
                            assert_eq!(found[key], low);
                            registers += u32::from(marker & 8 != 0);
                            operands += 1;
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    println!("{triggers} triggers, {operands} operands, {registers} of them in registers");
    assert!(triggers > 5 && operands > 10 && registers > 0);
}

/// staging.md §11.7: a trigger names an instance of a queue by its exact name; the set's name stands for itself.
#[test]
fn triggers_name_instances_of_queues_too() {
    let scratch = Scratch::new("instances");
    for (written, known) in [("first", true), ("second", true), ("second ", false), ("third", false)] {
        let file = scratch.changed("cayman-registers", |fixture| {
            edit_json(&mut fixture.tree, "sg00/def.json", |def| {
                for queue in def["dma_queue"].as_object_mut().unwrap().values_mut() {
                    queue["queue_instances"] = serde_json::json!(["first", "second"]);
                }
            });
            let stream = fixture.tree.get_mut("sg00/Pool.bin").unwrap();
            for slot in stream.chunks_mut(64).filter(|slot| slot[0] == 0xC1) {
                slot[12..44].fill(0);
                slot[12..12 + written.len()].copy_from_slice(written.as_bytes());
            }
        });
        let (_, document) = disasm(&file, &["--engine", "pool"]);
        let mut triggers = 0;
        for (_, engine) in streams(&document) {
            for line in engine["code"].as_array().unwrap().iter().filter(|line| line["opcode"] == "0xc1") {
                let said = (line["queue"].as_str(), line["queue_known"].as_bool());
                assert_eq!(said, (Some(written), Some(known)));
                triggers += 1;
            }
        }
        assert!(triggers > 0);
    }
}

#[test]
fn what_is_not_known_is_shown_as_such() {
    use loader_std::disasm::{Address, Detail, Line, Names};
    let mut slot = [0; 64];
    (slot[0], slot[1]) = (0xD4, 0x10);
    slot[0x10..0x18].copy_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0x30]);
    slot[0x28..0x30].copy_from_slice(&[4, 0, 0, 0, 9, 0, 0, 0x10]);
    let line = Line::of(&slot, None, &Names::default());
    let Detail::Request { operands, .. } = &line.detail else { panic!("{line:?}") };
    assert!(matches!(operands[0], Address::Unknown(_)));
    assert_eq!(operands[0].to_string(), "?0x3000000200000001");
    assert_eq!(operands[1].to_string(), "?variable 9+0x4");
    slot[0] = 0xC1;
    slot[12..17].copy_from_slice(b"qNone");
    let line = Line::of(&slot, None, &Names::default());
    assert!(line.detail.to_string().starts_with("?queue qNone block "));
    slot[0] = 0xFF;
    let line = Line::of(&slot, None, &Names::default());
    assert_eq!((line.meaning.class.name(), line.meaning.name), ("unknown", None));
}

#[test]
fn people_and_choices() {
    let file = fixture("cayman-registers");
    let text = |options: &[&str]| {
        let words = ["disasm"].iter().chain(options).map(AsRef::<OsStr>::as_ref);
        String::from_utf8(run(words.chain([file.as_os_str()])).stdout).unwrap()
    };
    let all = text(&[]);
    assert!(all.contains("sg00 pool  ") && all.contains("dma trigger") && all.contains(" -> "), "{all}");
    let (_, document) = disasm(&file, &["--subgraph", "0", "--engine", "pool", "--pseudo"]);
    assert_eq!(streams(&document).count(), 1);
    let code = document["subgraphs"][0]["engines"][0]["code"].as_array().unwrap();
    assert!(
        !code.is_empty() && code.iter().all(|line| line["class"] == "pseudo" || line["class"] == "extension")
    );
    assert!(text(&["--engine", "pe"]).lines().count() < all.lines().count());
    let refused = run(["disasm".as_ref(), Path::new("no-such-file.neff").as_os_str()]);
    assert_eq!(status(&refused), 2, "there is no such file here");
    let (status, document) = disasm(&neffload_tests::workspace().join("Cargo.toml"), &[]);
    assert_eq!((status, document["error"]["code"].is_string()), (1, true));
}
