//! The figures of the page: the document of `report --json`.

use super::load;
use super::sections::unlisted;
use crate::output::{Document, shown, total};
use crate::trouble::Trouble;
use loader_core::arch::Engine;
use loader_core::container::MemberTable;
use loader_core::manifest::Definition;
use loader_core::policy::Policy;
use loader_std::container::{Survey, table_json};
use loader_std::environment;
use loader_std::file::Input;
use loader_std::inspect::{Question, document_beside as inspect};
use loader_std::members::{Members, Unpacked, Whole};
use loader_std::memory::Estimate;
use serde_json::{Value, json};
use std::path::Path;

/// Bytes of an instruction slot.
const SLOT: usize = 64;
/// Members that the page shows one by one.
const MOST_MEMBERS: usize = 20;
/// Warnings that the page shows.
const MOST_WARNINGS: usize = 100;

/// Everything that the page says about a file, which is read once. `told` hears the bytes done so far.
pub(super) fn gather(path: &Path, input: &mut Input, told: impl FnMut(u64)) -> Result<Document, Trouble> {
    let policy = Policy { verify_digest: false, report_digest: true, tooling: true, ..environment::policy() };
    let question = Question { wanted: |name| name.ends_with(b".bin"), ..Question::new(&policy) };
    let mut mixes = Vec::new();
    let mut memory = Value::Null;
    let mut whole = Whole::default();
    let inspected = inspect(input, question, &mut whole, told, |manifest, table, members| {
        mixes = manifest.definitions().map(|definition| mix(&definition, table, members)).collect();
        let page = environment::page().unwrap_or_default();
        memory = Estimate::of(members, page).map_or(Value::Null, |estimate| json!(estimate));
    });
    let (inspected, seen) = inspected.map_err(|error| Trouble::Usage(error.to_string()))?;
    let inspected = Document::of("inspect", inspected);
    let mut document = Document::new("report");
    document.set("name", shown::name(path));
    document.set(
        "title",
        path.file_name().map_or_else(|| "NEFF".to_owned(), |name| shown::name(Path::new(name))),
    );
    for key in ["file", "header", "features", "digest", "payload", "verdict", "kelf", "io"] {
        document.set(key, inspected.get(key).clone());
    }
    document.set("io_unlisted", unlisted(inspected.get("io")));
    document.set("members", members(&seen));
    document.set("subgraphs", subgraphs(inspected.get("subgraphs"), mixes));
    document.set("memory", memory);
    let (loaded, remarks) = load::load(&seen, &whole, inspected.get("subgraphs"));
    document.set("load", loaded);
    let warnings = warnings([&remarks, inspected.get("warnings"), inspected.get("remarks")]);
    let more = warnings.len().saturating_sub(MOST_WARNINGS);
    document.set("warnings", warnings.into_iter().take(MOST_WARNINGS).collect::<Vec<_>>());
    document.set("more_warnings", more);
    Ok(document)
}

/// The texts of these lists: those of the load first, then what only a look at the file remarks on.
fn warnings(lists: [&Value; 3]) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for list in lists {
        let before = all.len();
        for text in list.as_array().into_iter().flatten() {
            if !all[..before].contains(text) {
                all.push(text.clone());
            }
        }
    }
    all
}

/// The largest members, and the rest together; of a damaged archive those before the damage. Null if the archive was
/// not looked into.
fn members(seen: &Survey) -> Value {
    if !seen.gates_passed() {
        return Value::Null;
    }
    let table = table_json(seen);
    let bytes = |member: &Value| member["size"].as_u64().unwrap_or(0);
    let mut all: Vec<&Value> = table.as_array().into_iter().flatten().collect();
    let all_bytes = total(all.iter().map(|member| bytes(member)));
    all.sort_by_key(|member| std::cmp::Reverse(bytes(member)));
    let rest = all.split_off(all.len().min(MOST_MEMBERS));
    let shown: Vec<Value> =
        all.iter().map(|member| json!({ "name": member["name"], "bytes": member["size"] })).collect();
    let rest_bytes = total(rest.iter().map(|member| bytes(member)));
    json!({
        "complete": seen.accepted(),
        "count": shown.len() + rest.len(),
        "bytes": all_bytes,
        "largest": shown,
        "rest": { "count": rest.len(), "bytes": rest_bytes },
    })
}

/// What the page says about a subgraph, and its instruction mix.
fn subgraphs(all: &Value, mixes: Vec<Value>) -> Value {
    let list = all.as_array().into_iter().flatten().zip(mixes);
    list.map(|(subgraph, mix)| {
        json!({
            "name": subgraph["name"],
            "def_version": subgraph["def_version"],
            "variables": subgraph["var"]["count"],
            "by_type": subgraph["var"]["by_type"],
            "queues": subgraph["dma_queues"].as_object().map_or(0, serde_json::Map::len),
            "declared": declared(&subgraph["dma_queues"]),
            "engines": mix,
        })
    })
    .collect()
}

/// The queues as the file declares them: known also of a file that does not load.
fn declared(queues: &Value) -> Value {
    let queues = queues.as_object().into_iter().flatten();
    queues
        .map(|(name, queue)| {
            json!({
                "queue": name, "type": queue["type"], "owner": queue["owner"], "instances": queue["num_queues"],
            })
        })
        .collect()
}

/// Slots per opcode, the most frequent first, for every engine with instructions.
fn mix(definition: &Definition<'_>, table: &MemberTable<'_>, members: &Unpacked) -> Value {
    let engines = Engine::ALL.into_iter().filter_map(|engine| {
        let stream = members.content(table.get(definition.engine(engine).blob?)?.name)?;
        let mut counts = [0u64; 256];
        for opcode in stream.chunks(SLOT).filter_map(|slot| slot.first()) {
            counts[usize::from(*opcode)] += 1;
        }
        let mut opcodes: Vec<(usize, u64)> =
            counts.into_iter().enumerate().filter(|(_, count)| *count > 0).collect();
        opcodes.sort_by_key(|(opcode, count)| (std::cmp::Reverse(*count), *opcode));
        let opcodes: Vec<Value> = opcodes
            .into_iter()
            .map(|(opcode, count)| json!({ "opcode": format!("{opcode:#04x}"), "slots": count }))
            .collect();
        let slots = stream.len().div_ceil(SLOT);
        (slots > 0).then(|| json!({ "engine": engine.key(), "slots": slots, "opcodes": opcodes }))
    });
    engines.collect()
}
