//! The file on a simulated device: where everything lies.

use super::map;
use crate::output::verdict;
use loader_core::device::Usage;
use loader_std::container::Survey;
use loader_std::inspect::warnings_json;
use loader_std::loader::prepare_surveyed;
use loader_std::members::Whole;
use loader_std::report::cores_json;
use loader_std::{LoadOptions, Loader, Memory, environment};
use neuron_drivers::sim::{Config, Content, Growing, HostSim};
use serde_json::{Map, Value, json};

/// Variables that the page lists for a core.
const MOST_VARIABLES: usize = 150;

/// Loads the file onto a device that keeps no bytes, judged as `load` judges it: what came of it, and the texts of
/// what the load remarked.
pub(super) fn load(seen: &Survey, whole: &Whole, subgraphs: &Value) -> (Value, Value) {
    let options = LoadOptions { policy: environment::policy(), ..LoadOptions::default() };
    let loaded = Memory::enough(|memory| {
        let prepared = prepare_surveyed(seen, whole, memory, &options)?;
        let config = Config { cores: 8, content: Content::Discard, ..Config::flat(prepared.arch()) };
        let loader = Loader::new(HostSim::new(config, Growing::new(false)));
        let lnc = prepared.lnc();
        let model = loader.place(prepared)?;
        let device = json!({ "kind": "sim", "arch": config.arch.name(), "cores": config.cores });
        let cores = cores_json(model.plan(), |core| loader.usage(core).get(Usage::Scratchpad));
        Ok((device, lnc, cores, warnings_json(&model.facts().notes)))
    });
    match loaded {
        Ok((device, lnc, cores, warnings)) => {
            let cores = cores.as_array().map_or(&[][..], Vec::as_slice);
            let each = cores.iter().enumerate();
            let cores: Vec<Value> = each.map(|(at, core)| summary(core, cores, &subgraphs[at])).collect();
            let loaded =
                json!({ "verdict": verdict::accepted(), "device": device, "lnc": lnc, "cores": cores });
            (loaded, warnings)
        }
        Err(refused) => {
            let loaded = json!({ "verdict": verdict::refused(&refused, &refused), "cores": [] });
            (loaded, warnings_json(refused.notes()))
        }
    }
}

/// What the page says about a core.
fn summary(core: &Value, cores: &[Value], subgraph: &Value) -> Value {
    json!({
        "core": core["core"],
        "subgraph": core["subgraph"],
        "approximate": core["approximate"],
        "breakdown": core["breakdown"],
        "map": map::map(core, cores),
        "variables": variables(&core["variables"]),
        "queues": queues(core, &subgraph["dma_queues"]),
        "images": core["images"].as_array().into_iter().flatten().map(image).collect::<Vec<_>>(),
    })
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// The largest variables, and how many there are.
fn variables(all: &Value) -> Value {
    let mut shown: Vec<&Value> = all.as_array().into_iter().flatten().collect();
    let count = shown.len();
    shown.sort_by_key(|variable| (std::cmp::Reverse(number(&variable["size"])), number(&variable["var_id"])));
    shown.truncate(MOST_VARIABLES);
    json!({ "count": count, "rest": count - shown.len(), "largest": shown })
}

/// Slots of an engine's image, and what the loader did with them.
fn image(image: &Value) -> Value {
    let slots: u64 =
        image["slots"].as_object().into_iter().flat_map(|slots| slots.values()).map(number).sum();
    json!({
        "engine": image["engine"], "address": image["address"], "slots": slots, "patched": image["patched"],
        "bound_at_execute": image["bound_at_execute"], "opaque": image["opaque"],
    })
}

/// One line per queue: its rings and blocks together.
fn queues(core: &Value, declared: &Value) -> Value {
    let mut lines: Map<String, Value> = Map::new();
    for (name, queue) in declared.as_object().into_iter().flatten() {
        let line = json!({
            "queue": name, "type": queue["type"], "owner": queue["owner"], "instances": queue["num_queues"],
            "ring_entries": 0, "blocks": 0, "descriptors": 0, "bytes": 0,
        });
        lines.insert(name.clone(), line);
    }
    let add = |lines: &mut Map<String, Value>, item: &Value, key: &str, count: u64| {
        if let Some(line) = item["queue"].as_str().and_then(|name| lines.get_mut(name)) {
            line[key] = number(&line[key]).saturating_add(count).into();
        }
    };
    for ring in core["rings"].as_array().into_iter().flatten() {
        add(&mut lines, ring, "ring_entries", number(&ring["entries"]));
    }
    for block in core["blocks"].as_array().into_iter().flatten() {
        add(&mut lines, block, "blocks", 1);
        add(&mut lines, block, "descriptors", number(&block["descriptors"]));
        add(&mut lines, block, "bytes", number(&block["bytes"]));
    }
    lines.into_iter().map(|(_, line)| line).collect()
}
