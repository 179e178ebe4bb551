//! A second reader, `serde_json` and forty lines of arithmetic, over every sample tree and every
//! real file: raw forms and memory figures must be the same.

use loader_core::json::Element;
use loader_core::limits::Limits;
use loader_std::NeffInfo;
use loader_std::file::{Buffers, Input};
use loader_std::members::{Members, Unpacked};
use loader_std::memory::{Estimate, Page};
use neffload_tests::trees::{MemberMap, Tree};
use neffload_tests::{real_files, shared};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Every sample tree and real file, by name.
fn all() -> BTreeMap<String, MemberMap> {
    let Some(shared) = shared() else {
        println!("skipped: no shared data");
        return BTreeMap::new();
    };
    let trees = ["mlp-1core", "lnc2-decode", "cc-allreduce", "legacy-kelp", "alias-must"];
    let tree = |name: &str| Tree::read(&shared.join("samples").join(name).join("neff")).members;
    let samples = trees.map(|name| (name.to_owned(), tree(name)));
    let real = real_files().into_iter().map(|path| {
        let mut input = Input::open(&path).unwrap();
        let members = Unpacked::read(&mut input, &mut Buffers::new(), &Limits::DEFAULT, |_| true).unwrap();
        let copy = |name: &[u8]| (name.to_vec(), members.content(name).unwrap().to_vec());
        (path.display().to_string(), members.names().map(copy).collect())
    });
    samples.into_iter().chain(real).collect()
}

fn parsed(members: &MemberMap, name: &str) -> Value {
    serde_json::from_slice(&members[name.as_bytes()]).unwrap()
}

#[test]
fn raw_forms_are_those_of_serde_json() {
    for (file, members) in all() {
        let info = NeffInfo::new(&members);
        for name in members.keys().filter(|name| name.ends_with(b".json")) {
            let name = String::from_utf8(name.clone()).unwrap();
            let theirs = parsed(&members, &name);
            let ours = Element::parse(&members[name.as_bytes()], &Limits::DEFAULT).unwrap();
            assert_eq!(ours.kind() == loader_core::json::Kind::Object, theirs.is_object());
        }
        if members.contains_key(b"info.json".as_slice()) {
            assert_eq!(info.get_info_json().unwrap(), parsed(&members, "info.json"), "{file}");
        }
        assert_eq!(info.get_def_json().unwrap(), parsed(&members, "sg00/def.json"), "{file}");
        if let Ok(map) = info.get("getTensorMapJson", None) {
            assert_eq!(map.value, parsed(&members, &map.member.unwrap()), "{file}");
        }
    }
}

/// The product of all sizes but the first.
fn runs(sizes: Option<&Value>) -> u64 {
    let sizes = sizes.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    sizes.iter().skip(1).map(|size| size.as_u64().unwrap()).product()
}

fn descriptors(transfer: &Value) -> u64 {
    if transfer.get("from").is_some() {
        return runs(transfer.get("from_sizes")) + runs(transfer.get("to_sizes")) + 32;
    }
    let parts = transfer["from_arr"].as_array().into_iter().flatten();
    let to = |part: &Value| runs(part.get("to_sizes").or_else(|| transfer.get("to_sizes")));
    parts.map(|part| runs(part.get("from_sizes")) + to(part) + 32).sum()
}

fn rings(engine: &Value) -> u64 {
    let blocks = engine["dma"].as_array().into_iter().flatten();
    let transfers = blocks.flat_map(|block| block["desc"].as_array().unwrap());
    transfers.map(descriptors).sum::<u64>() * 16
}

fn core(members: &MemberMap, graph: &Value) -> Value {
    let definition = graph["definition"].as_str().unwrap();
    let folder = definition.rsplit_once('/').unwrap().0;
    let def = parsed(members, definition);
    let mut areas = BTreeMap::<String, u64>::new();
    let mut constants = 0;
    for var in def["var"].as_object().unwrap().values() {
        let text = |key: &str| var.get(key).and_then(Value::as_str);
        match text("type").unwrap() {
            "virtual" => {
                let end = var["backing_variable_off"].as_u64().unwrap() + var["size"].as_u64().unwrap();
                let area = text("fabric_path").or(text("backing_buf")).unwrap_or("main");
                let mark = areas.entry(area.to_owned()).or_default();
                *mark = end.max(*mark);
            }
            "file" => {
                let raw = &members[format!("{folder}/{}", text("file_name").unwrap()).as_bytes()];
                let header = || u64::from(raw[8]) + 256 * u64::from(raw[9]) + 10;
                constants += var["size"].as_u64().unwrap_or_else(|| raw.len() as u64 - header());
            }
            _ => {}
        }
    }
    let engines = ["pe", "act", "pool", "dve", "sp"].iter().filter_map(|key| def[*key].as_str());
    let ring = engines.map(|file| rings(&parsed(members, &format!("{folder}/{file}")))).sum::<u64>();
    let inside = |name: &&Vec<u8>| name.starts_with(format!("{folder}/").as_bytes());
    let blobs = members.keys().filter(inside).filter(|name| name.ends_with(b".bin"));
    let code = blobs.map(|name| members[name].len() as u64).sum::<u64>();
    json!({ "areas": areas, "constants": constants, "rings": ring, "code": code })
}

#[test]
fn memory_figures_are_those_of_the_second_reader() {
    for (file, members) in all() {
        let estimate = Estimate::of(&members, Page::default()).unwrap();
        let manifest = ["neff.json", "kelp.json"].into_iter().find(|n| members.contains_key(n.as_bytes()));
        let nodes = parsed(&members, manifest.unwrap())["nodes"].clone();
        let kernel = nodes.as_array().unwrap().iter().find(|node| node["attrs"]["func_name"] == "__kelf");
        let kelf = parsed(&members, kernel.unwrap()["attrs"]["kelf"].as_str().unwrap());
        let graphs = kelf["graphs"].as_array().unwrap();
        assert_eq!(graphs.len(), estimate.cores.len());
        for (graph, ours) in graphs.iter().zip(&estimate.cores) {
            let found = json!({
                "areas": ours.areas,
                "constants": ours.constant_bytes,
                "rings": ours.dma_ring_bytes,
                "code": ours.code_bytes,
            });
            assert_eq!(found, core(&members, graph), "{file} {}", ours.name);
            assert_eq!(ours.dma_ring_io_bytes + ours.dma_ring_spill_bytes, ours.dma_ring_bytes);
        }
    }
}
