//! `engines` of a subgraph.

use super::{Names, text};
use loader_core::arch::Engine;
use loader_core::manifest::{BlockSource, Definition, DveTables};
use loader_core::source::{MemberId, MemberNames};
use serde_json::{Map, Value, json};

pub(super) fn engines(definition: &Definition<'_>, names: &Names<'_, '_, impl MemberNames>) -> Value {
    Engine::ALL.iter().map(|engine| (engine.key().to_owned(), one(definition, *engine, names))).collect()
}

fn one(definition: &Definition<'_>, engine: Engine, names: &Names<'_, '_, impl MemberNames>) -> Value {
    let file = definition.engine(engine);
    let name = |member: Option<MemberId>| member.map_or(Value::Null, |id| names.member(id));
    let source = BlockSource::Engine(engine);
    let mut value = json!({
        "member": name(file.member),
        "instr": name(file.blob),
        "bytes": file.blob_bytes,
        "ninstr": file.instructions(),
        "placeholder": file.placeholder,
        "dma_blocks": definition.block_count(source),
        "descs": definition.transfer_count(source),
    });
    if let Some(semaphore) = file.act_semaphore {
        value["act_semaphore"] = semaphore.into();
    }
    if engine == Engine::Act && file.has_act_sets {
        value["function_sets"] = definition.act_sets().map(|set| Value::from(text(set.name))).collect();
    }
    if let (Engine::Dve, Some(tables)) = (engine, definition.dve_tables()) {
        value["dve_tables"] = vector_tables(&tables, definition, names);
    }
    value
}

/// Names as the engine file has them: without the directory.
fn vector_tables(
    tables: &DveTables,
    definition: &Definition<'_>,
    names: &Names<'_, '_, impl MemberNames>,
) -> Value {
    let keys = [
        ("opcode_table", tables.opcode),
        ("datapath_table", tables.datapath),
        ("control_table", tables.control),
        ("control_fast_table", tables.control_fast),
        ("control_slow_table", tables.control_slow),
    ];
    let prefix = text(definition.dir()) + "/";
    let mut map = Map::new();
    for (key, member) in keys.into_iter().filter_map(|(key, member)| member.map(|id| (key, id))) {
        let full = names.member(member);
        let full = full.as_str().unwrap_or_default();
        map.insert(key.to_owned(), full.strip_prefix(&prefix).unwrap_or(full).into());
    }
    Value::Object(map)
}
