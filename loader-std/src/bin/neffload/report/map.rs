//! The memory map of a core: its blocks in address order, named after what lies in them.

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Blocks that the page draws; of more than that the smallest are left out.
const MOST_BLOCKS: usize = 400;
/// A block with more than this share of what is drawn makes the others hard to see; it is left out of the close-up.
const DOMINANT: (u64, u64) = (1, 5);

/// One block of device memory.
#[derive(Clone, Debug)]
struct Block {
    kind: &'static str,
    name: String,
    address: u64,
    size: u64,
    granted: u64,
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn address(value: &Value) -> Option<u64> {
    u64::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}

/// `map`: the span, the blocks, and which of them the close-up shows.
///
/// The cores of a logical core share a scratchpad, whose pages one of them holds; `cores` are all of them.
pub(super) fn map(core: &Value, cores: &[Value]) -> Value {
    let names = names(core);
    let allocations = core["allocations"].as_array().into_iter().flatten();
    let mut blocks: Vec<Block> = allocations.filter_map(|block| read(block, &names)).collect();
    blocks.sort_by_key(|block| std::cmp::Reverse(block.granted));
    let rest = blocks.split_off(blocks.len().min(MOST_BLOCKS));
    let close: u64 = close_up(&blocks);
    blocks.sort_by_key(|block| block.address);
    let first = blocks.first().map_or(0, |block| block.address);
    let end = blocks.iter().map(|block| block.address.saturating_add(block.granted)).max().unwrap_or(0);
    let shown = |block: &Block| {
        json!({
            "kind": block.kind, "name": block.name, "address": format!("{:#x}", block.address),
            "size": block.size, "granted": block.granted, "offset": block.address - first,
            "close_up": block.granted <= close,
        })
    };
    let small = || blocks.iter().filter(|block| block.granted <= close);
    json!({
        "first": format!("{first:#x}"),
        "end": format!("{end:#x}"),
        "span": end - first,
        "granted": blocks.iter().map(|block| block.granted).sum::<u64>(),
        "kinds": kinds(&blocks),
        "close_up": { "count": small().count(), "bytes": small().map(|block| block.granted).sum::<u64>() },
        "rest": { "count": rest.len(), "bytes": rest.iter().map(|block| block.granted).sum::<u64>() },
        "scratchpad": scratchpad(core, cores),
        "blocks": blocks.iter().map(shown).collect::<Vec<_>>(),
    })
}

/// The scratchpad's pages: the core that holds each, its address, its bytes.
fn pages(cores: &[Value]) -> Vec<(&Value, u64, u64)> {
    let of_core = |core| {
        let blocks = list(core, "allocations").filter(|block| block["tag"] == "scratchpad");
        blocks.filter_map(move |block| {
            let bytes = number(&block["granted"]).max(number(&block["size"]));
            Some((&core["core"], address(&block["address"])?, bytes))
        })
    };
    cores.iter().flat_map(of_core).collect()
}

/// The items of one of a core's lists.
fn list<'a>(core: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    core[key].as_array().into_iter().flatten()
}

/// The variables that lie in the scratchpad's pages, in address order. They may share bytes at different times; of
/// many the smallest are left out. `held_by` names the other core that holds the pages.
fn scratchpad(core: &Value, cores: &[Value]) -> Value {
    let pages = pages(cores);
    let holder = |place: u64| {
        let mut around = pages.iter().filter(|(_, page, bytes)| place >= *page && place - page < *bytes);
        around.next().map(|(core, ..)| *core)
    };
    let inside = |place: u64| holder(place).is_some();
    let variables = core["variables"].as_array().into_iter().flatten();
    let mut found: Vec<(u64, &Value)> = variables
        .filter_map(|variable| Some((address(&variable["address"])?, variable)))
        .filter(|(place, _)| inside(*place))
        .collect();
    let count = found.len();
    found.sort_by_key(|(_, variable)| std::cmp::Reverse(number(&variable["size"])));
    found.truncate(MOST_BLOCKS);
    found.sort_by_key(|(place, _)| *place);
    let first = found.first().map_or(0, |(place, _)| *place);
    let end = found.iter().map(|(place, variable)| place.saturating_add(number(&variable["size"]))).max();
    let shown = |(place, variable): &(u64, &Value)| {
        json!({
            "name": variable["name"], "class": variable["class"], "address": variable["address"],
            "size": variable["size"], "offset": place - first,
        })
    };
    let held_by =
        found.iter().find_map(|(place, _)| holder(*place).filter(|holder| **holder != core["core"]));
    json!({
        "held_by": held_by,
        "count": count,
        "rest": count - found.len(),
        "first": format!("{first:#x}"),
        "end": format!("{:#x}", end.unwrap_or(0)),
        "span": end.unwrap_or(0).saturating_sub(first),
        "variables": found.iter().map(shown).collect::<Vec<_>>(),
    })
}

/// The largest size that the close-up shows: no block in it dominates, unless few are left.
fn close_up(by_size: &[Block]) -> u64 {
    let mut left: u64 = by_size.iter().map(|block| block.granted).sum();
    for (at, block) in by_size.iter().enumerate() {
        let many = by_size.len() - at > 3;
        if !many || block.granted <= left / DOMINANT.1 * DOMINANT.0 {
            return block.granted;
        }
        left -= block.granted;
    }
    0
}

/// Blocks and bytes of each kind.
fn kinds(blocks: &[Block]) -> Vec<Value> {
    KINDS
        .iter()
        .map(|kind| {
            let of_kind = || blocks.iter().filter(|block| block.kind == *kind);
            let bytes: u64 = of_kind().map(|block| block.granted).sum();
            json!({ "kind": kind, "count": of_kind().count(), "bytes": bytes })
        })
        .filter(|kind| kind["count"] != 0)
        .collect()
}

/// The kinds in the order of the legend.
pub(super) const KINDS: [&str; 6] = ["constant", "scratchpad", "code", "ring", "table", "other"];

fn read(block: &Value, names: &BTreeMap<u64, String>) -> Option<Block> {
    let place = address(&block["address"])?;
    let tag = block["tag"].as_str().unwrap_or_default();
    let kind = match (tag, block["usage"].as_str()) {
        ("variable", Some("WEIGHT")) => "constant",
        ("scratchpad", _) => "scratchpad",
        ("image", _) => "code",
        ("ring", _) => "ring",
        ("activation table" | "dve table", _) => "table",
        _ => "other",
    };
    let name = names.get(&place).cloned().unwrap_or_else(|| tag.to_owned());
    let (size, granted) = (number(&block["size"]), number(&block["granted"]));
    Some(Block { kind, name, address: place, size, granted: granted.max(size) })
}

/// What begins at an address: a variable, an engine's image, a ring.
fn names(core: &Value) -> BTreeMap<u64, String> {
    let list = |key: &str| list(core, key);
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut names = BTreeMap::new();
    for variable in list("variables") {
        if let Some(place) = address(&variable["address"]) {
            // Variables of the scratchpad share its first address; the page is named after none of them.
            if variable["class"] != "virtual" {
                names.insert(place, word(&variable["name"]));
            }
        }
    }
    for image in list("images") {
        if let Some(place) = address(&image["address"]) {
            names.insert(place, format!("instructions of {}", word(&image["engine"])));
        }
    }
    for ring in list("rings") {
        if let Some(place) = address(&ring["address"]) {
            let (queue, side) = (word(&ring["queue"]), word(&ring["side"]));
            names.insert(place, format!("{queue} {} {side}", ring["instance"]));
        }
    }
    names
}
