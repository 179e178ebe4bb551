//! The six real files: every count that is known of them, and a second reading with `serde_json`.

use loader_core::arch::Engine;
use loader_core::container::MemberTable;
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::manifest::{
    self, Block, BlockAt, BlockSink, BlockSource, Detail, Manifest, Transfer, VarClass,
};
use loader_core::policy::Policy;
use loader_std::inspect::manifest_json;
use neffload_tests::payload::{Mode, packed, with_manifest, with_payload};
use neffload_tests::trees::Tree;
use neffload_tests::{shared, skip};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

const FILES: [&str; 6] = [
    "cayman-attention-dge",
    "cayman-lnc2-matmul",
    "cayman-moe",
    "inf1-legacy",
    "mariana-lnc2-remote",
    "sunda-pointer",
];

fn file(name: &str) -> Option<Vec<u8>> {
    let path: PathBuf = shared()?.join("real").join(format!("{name}.neff"));
    std::fs::read(path).ok()
}

/// Analysis of a file that a load may refuse.
fn tooling() -> Policy {
    Policy { tooling: true, ..Policy::default() }
}

fn with<R>(name: &str, look: impl FnOnce(&Manifest<'_>, &MemberTable<'_>, &[Error]) -> R) -> Option<R> {
    let file = file(name)?;
    Some(
        with_manifest(&file, &tooling(), &Limits::DEFAULT, Mode::Resident, look)
            .unwrap_or_else(|(_, text)| panic!("{text}")),
    )
}

fn report(name: &str, mode: Mode) -> Option<Value> {
    let look = |manifest: &Manifest<'_>, table: &MemberTable<'_>, _: &[Error]| {
        Value::Object(manifest_json(manifest, table))
    };
    let outcome = with_manifest(&file(name)?, &tooling(), &Limits::DEFAULT, mode, look);
    Some(outcome.unwrap_or_else(|(_, text)| panic!("{name}: {text}")))
}

#[test]
fn both_modes_give_the_same_report() {
    for name in FILES {
        let Some(resident) = report(name, Mode::Resident) else { skip!("no shared/real") };
        assert_eq!(Some(resident), report(name, Mode::Streamed), "{name}");
    }
}

/// Variables, queue sets, blocks and transfers of every subgraph.
#[test]
fn counts_of_variables_queues_and_blocks() {
    let expected: [(&str, &[[u32; 4]]); 6] = [
        ("cayman-attention-dge", &[[10, 3, 0, 0], [7, 0, 0, 0]]),
        ("cayman-lnc2-matmul", &[[6, 2, 0, 0], [6, 2, 0, 0]]),
        ("cayman-moe", &[[9, 3, 25, 25], [8, 0, 0, 0]]),
        ("inf1-legacy", &[[110, 8, 107, 107]]),
        ("mariana-lnc2-remote", &[[13, 4, 1, 1], [11, 2, 0, 0]]),
        ("sunda-pointer", &[[80, 4, 81, 81]]),
    ];
    for (name, subgraphs) in expected {
        let counts = with(name, |manifest, _, _| {
            let count = |definition: manifest::Definition<'_>| {
                let blocks = BlockSource::ALL.map(|source| definition.block_count(source)).iter().sum();
                let transfers = BlockSource::ALL.map(|source| definition.transfer_count(source)).iter().sum();
                [definition.var_count(), definition.queue_count(), blocks, transfers]
            };
            manifest.definitions().map(count).collect::<Vec<_>>()
        });
        let Some(counts) = counts else { skip!("no shared/real") };
        assert_eq!(counts, subgraphs, "{name}");
    }
}

#[test]
fn a_neuroncore_v1_file_is_read_but_not_loaded() {
    let Some(file) = file("inf1-legacy") else { skip!("no shared/real") };
    let refusal = with_manifest(&file, &Policy::default(), &Limits::DEFAULT, Mode::Resident, |_, _, _| ())
        .unwrap_err()
        .0;
    assert_eq!(refusal.id().to_string(), "E204");
    assert_eq!(refusal.status().number(), 2);
    assert!(refusal.log().to_string().contains("NeuronCore-v1"));
    let report = report("inf1-legacy", Mode::Resident).unwrap();
    assert_eq!(report["kelf"]["target"], json!({ "text": null, "arch": null }));
    assert_eq!(report["kelf"]["member"], "kelf-a.json");
    let constants = report["subgraphs"][0]["vars"].as_object().unwrap().values();
    let sizes: Vec<u64> =
        constants.filter(|v| v["type"] == "file").map(|v| v["size"].as_u64().unwrap()).collect();
    assert!(!sizes.is_empty() && sizes.iter().all(|&size| size > 0));
}

#[test]
fn outputs_that_both_cores_name_are_listed_once() {
    for name in FILES {
        let Some(report) = report(name, Mode::Resident) else { skip!("no shared/real") };
        let outputs = report["io"]["outputs"].as_array().unwrap();
        let names: Vec<&str> = outputs.iter().map(|output| output["name"].as_str().unwrap()).collect();
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{name}: {names:?}");
    }
}

#[test]
fn sizes_of_inputs_and_outputs_agree_with_the_graph() {
    for name in FILES.into_iter().filter(|name| *name != "inf1-legacy") {
        let found = with(name, |manifest, _, _| {
            let io = manifest.io();
            for tensor in io.inputs().chain(io.outputs()) {
                for definition in manifest.definitions() {
                    if let Some(variable) = definition.var_by_name(tensor.name) {
                        assert_eq!(variable.bytes(), Some(tensor.size), "{name}");
                    }
                }
            }
        });
        if found.is_none() {
            skip!("no shared/real");
        }
    }
}

#[test]
fn constants_are_npy_payloads_of_the_given_size() {
    for name in FILES {
        let found = with(name, |manifest, table, _| {
            for variable in manifest.definitions().flat_map(|definition| definition.vars()) {
                let Detail::File { member, payload_offset, payload_len } = variable.detail else { continue };
                assert_eq!(payload_offset, 128, "{name}");
                assert_eq!(table.get(member).unwrap().size, payload_offset + payload_len);
                if let Some(size) = variable.size {
                    assert_eq!(size, payload_len);
                }
            }
        });
        if found.is_none() {
            skip!("no shared/real");
        }
    }
}

#[test]
fn remote_variables_name_the_other_core() {
    let owners = with("mariana-lnc2-remote", |manifest, _, _| {
        let mut owners = Vec::new();
        for definition in manifest.definitions() {
            for variable in definition.vars().filter(|variable| variable.class == VarClass::Remote) {
                let Detail::Remote { subgraph, var_id } = variable.detail else { panic!() };
                let owner = manifest.definition(subgraph).unwrap().var(var_id).unwrap();
                owners.push((String::from_utf8_lossy(variable.name).into_owned(), subgraph, owner.class));
            }
        }
        owners
    });
    let Some(owners) = owners else { skip!("no shared/real") };
    let sb = |name: &str, subgraph| (name.to_owned(), subgraph, VarClass::StateBuffer);
    assert_eq!(owners, [sb("SB{1}", 1), sb("SB{0}", 0)]);
}

#[test]
fn pointers_and_tables() {
    let pointers = with("sunda-pointer", |manifest, _, _| {
        let definition = manifest.definition(0).unwrap();
        let tables = definition.dve_tables().unwrap();
        assert!(tables.control.is_some() && tables.control_fast.is_none() && tables.control_slow.is_none());
        definition.vars().filter(|variable| variable.class == VarClass::Pointer).count()
    });
    let Some(pointers) = pointers else { skip!("no shared/real") };
    assert_eq!(pointers, 2);
    let sets = with("mariana-lnc2-remote", |manifest, _, _| {
        let definition = manifest.definition(0).unwrap();
        assert_eq!(definition.engine(Engine::Act).act_semaphore, Some(12));
        assert_eq!(definition.carveouts().map(|carveout| carveout.offset).collect::<Vec<_>>(), [262_136]);
        assert_eq!(definition.num_streams(), 0);
        definition.act_sets().count()
    });
    assert_eq!(sets, Some(3));
}

/// Everything a sink is given, as JSON.
#[derive(Default)]
struct Collected {
    blocks: BTreeMap<(u8, BlockSource, u32), (Value, Vec<Value>)>,
    open: Vec<Value>,
}

impl BlockSink for Collected {
    fn transfer(&mut self, at: BlockAt, t: &Transfer<'_>) -> Result<(), Error> {
        assert_eq!(usize::try_from(at.index).unwrap(), self.open.len());
        let end = |access: &manifest::Access| {
            json!([access.var, access.off, access.dtype, access.sizes(), access.steps()])
        };
        let from: Vec<Value> = t.from.iter().map(end).collect();
        self.open.push(json!([t.op.number(), t.cast, end(&t.to), from, t.gather, t.tiling]));
        Ok(())
    }

    fn block_end(&mut self, at: BlockAt, block: &Block<'_>) -> Result<(), Error> {
        let own = json!([block.id, block.queue, block.instance, block.semaphore, block.transfers]);
        let transfers = std::mem::take(&mut self.open);
        assert_eq!(transfers.len(), usize::try_from(block.transfers).unwrap());
        assert!(self.blocks.insert((at.subgraph, at.source, at.block), (own, transfers)).is_none());
        Ok(())
    }
}

/// The same from the members themselves, read with `serde_json`.
fn second_reading(members: &BTreeMap<Vec<u8>, Vec<u8>>) -> Collected {
    let read = |name: &str| -> Value { serde_json::from_slice(&members[name.as_bytes()]).unwrap() };
    let graph = read(if members.contains_key(&b"neff.json"[..]) { "neff.json" } else { "kelp.json" });
    let nodes = graph["nodes"].as_array().unwrap();
    let node = nodes.iter().find(|node| node["attrs"]["func_name"] == "__kelf").unwrap();
    let kelf = read(node["attrs"]["kelf"].as_str().unwrap());
    let mut all = Collected::default();
    for (subgraph, entry) in (0u8..).zip(kelf["graphs"].as_array().unwrap()) {
        let path = entry["definition"].as_str().unwrap();
        let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
        let def = read(path);
        for source in BlockSource::ALL {
            let document = match source {
                BlockSource::Definition => def.clone(),
                BlockSource::Engine(engine) => match def[engine.key()].as_str() {
                    Some(name) => read(&format!("{dir}/{name}")),
                    None => continue,
                },
            };
            for (ordinal, block) in (0u32..).zip(document["dma"].as_array().into_iter().flatten()) {
                all.blocks.insert((subgraph, source, ordinal), second_block(&def, block));
            }
        }
    }
    all
}

fn second_block(def: &Value, block: &Value) -> (Value, Vec<Value>) {
    let mut names: Vec<&String> = def["dma_queue"].as_object().unwrap().keys().collect();
    names.sort();
    let queue = names.iter().position(|name| Some(name.as_str()) == block["queue"].as_str()).unwrap();
    let transfers: Vec<Value> =
        block["desc"].as_array().unwrap().iter().map(|transfer| second_transfer(def, transfer)).collect();
    (json!([block["id"], queue, 0, block["semaphore"], transfers.len()]), transfers)
}

fn second_transfer(def: &Value, t: &Value) -> Value {
    let end = |part: &Value, side: &str| {
        let key = |field: &str| &part[format!("{side}_{field}")];
        let var = &def["var"][part[side].as_str().unwrap()]["var_id"];
        let dtype =
            key("dtype").as_str().map_or(8, |name| manifest::dtype::descriptor(name.as_bytes()).unwrap().0);
        json!([var, key("off").as_u64().unwrap_or(0), dtype, key("sizes"), key("steps")])
    };
    let parts = t["from_arr"].as_array();
    let from: Vec<Value> = match parts {
        Some(parts) => parts.iter().map(|part| end(part, "from")).collect(),
        None => vec![end(t, "from")],
    };
    let op = match t["op"].as_str() {
        None | Some("copy" | "cast") => 0,
        Some("fma") => 1,
        Some("add") => 2,
        Some("min") => 3,
        Some("max") => 4,
        Some("transpose") => 5,
        Some(other) => panic!("{other}"),
    };
    let tiling = t["num_tiling_dimensions"].as_u64().unwrap_or(0);
    json!([op, t["op"] == "cast", end(t, "to"), from, parts.is_some(), tiling])
}

fn compare(file: &[u8], members: &BTreeMap<Vec<u8>, Vec<u8>>, label: &str) {
    let collected = with_payload(file, &tooling(), |payload, manifest, limits| {
        let mut sink = Collected::default();
        manifest::visit_blocks(payload, manifest, limits, &mut sink).map(|()| sink)
    });
    let collected = collected.unwrap_or_else(|(_, text)| panic!("{label}: {text}")).unwrap();
    assert_eq!(collected.blocks, second_reading(members).blocks, "{label}");
}

#[test]
fn every_block_equals_a_second_reading() {
    let Some(shared) = shared() else { skip!("no shared data") };
    for name in FILES {
        let Some(file) = file(name) else { skip!("no shared/real") };
        let members = members_of(&file);
        compare(&file, &members, name);
    }
    for name in ["mlp-1core", "lnc2-decode", "cc-allreduce", "legacy-kelp", "alias-must"] {
        let tree = Tree::read(&shared.join("samples").join(name).join("neff"));
        compare(&packed(&tree.members), &tree.members, name);
    }
}

fn members_of(file: &[u8]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let collected = with_payload(file, &tooling(), |payload, _, _| {
        use loader_core::source::Payload;
        let table = payload.table();
        table
            .iter()
            .map(|member| (member.name.to_vec(), payload.borrow(member.id).unwrap().to_vec()))
            .collect()
    });
    collected.unwrap_or_else(|(_, text)| panic!("{text}"))
}

/// `def.json` again with `serde_json`: variables and queues.
#[test]
fn every_variable_and_queue_equals_a_second_reading() {
    for name in FILES {
        let Some(file) = file(name) else { skip!("no shared/real") };
        let members = members_of(&file);
        let report = report(name, Mode::Resident).unwrap();
        for subgraph in report["subgraphs"].as_array().unwrap() {
            let path = format!("{}/def.json", subgraph["dir"].as_str().unwrap());
            let def: Value = serde_json::from_slice(&members[path.as_bytes()]).unwrap();
            assert_eq!(subgraph["vars"].as_object().unwrap().len(), def["var"].as_object().unwrap().len());
            for (key, entry) in def["var"].as_object().unwrap() {
                second_variable(&subgraph["vars"][key], entry, key);
            }
            let empty = Map::new();
            let queues = def["dma_queue"].as_object().unwrap_or(&empty);
            for (key, entry) in queues {
                let found = &subgraph["dma_queues"][key];
                assert_eq!(found["type"], entry["type"], "{key}");
                assert_eq!(found["owner"], entry["owner"], "{key}");
                assert_eq!(found["num_queues"].as_u64(), Some(entry["num_queues"].as_u64().unwrap_or(1)));
            }
        }
    }
}

fn second_variable(found: &Value, entry: &Value, key: &str) {
    assert_eq!(found["type"], entry["type"], "{key}");
    assert_eq!(found["var_id"], entry["var_id"], "{key}");
    if entry["size"].is_u64() {
        assert_eq!(found["size"], entry["size"], "{key}");
    }
    if entry["list"].is_array() {
        assert_eq!(found["list"], entry["list"], "{key}");
    }
    if entry["backing_variable_off"].is_u64() {
        assert_eq!(found["offset"], entry["backing_variable_off"], "{key}");
    }
    if entry["referenced_var_id"].is_u64() {
        assert_eq!(found["referenced_var_id"], entry["referenced_var_id"], "{key}");
    }
    if entry["alignment"].as_u64().unwrap_or(0) != 0 {
        assert_eq!(found["alignment"], entry["alignment"], "{key}");
    }
}
