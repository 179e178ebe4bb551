//! One subgraph as JSON.

use super::{name, text};
use loader_core::arch::Engine;
use loader_core::container::MemberTable;
use loader_core::manifest::{
    Definition, Detail, DveTables, EngineFile, Manifest, Queue, RankGroup, RankSet, Ranks, Variable, features,
};
use loader_core::source::MemberId;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub(super) fn json(manifest: &Manifest<'_>, definition: &Definition<'_>, table: &MemberTable<'_>) -> Value {
    let mut report = Map::new();
    let mut put = |key: &str, value: Value| drop(report.insert(key.to_owned(), value));
    put("name", text(definition.name()));
    put("dir", text(definition.dir()));
    put("def_version", text(definition.version()));
    put("var", counts(definition));
    put("vars", variables(manifest, definition, table));
    put("dma_queues", queues(definition));
    put("num_streams", json!(definition.num_streams()));
    put("cc", collectives(definition));
    put("sb_carveouts", carveouts(definition));
    put("fp8", fp8(definition));
    put("ucode_libs", libraries(definition));
    let (names, bits, unknown) = feature_names(definition);
    put("neff_features", names);
    put("named_feature_bits", bits);
    if let Some(unknown) = unknown {
        put("unknown_features", unknown);
    }
    put("engines", engines(definition, table));
    Value::Object(report)
}

fn counts(definition: &Definition<'_>) -> Value {
    let mut by_type: BTreeMap<&str, u32> = BTreeMap::new();
    let mut max = 0;
    for variable in definition.vars() {
        *by_type.entry(variable.class.name()).or_default() += 1;
        max = max.max(variable.id);
    }
    json!({
        "count": definition.var_count(),
        "max_var_id": max,
        "num_inputs": definition.num_inputs(),
        "num_outputs": definition.num_outputs(),
        "by_type": by_type,
    })
}

fn variables(manifest: &Manifest<'_>, definition: &Definition<'_>, table: &MemberTable<'_>) -> Value {
    let entry = |variable: Variable<'_>| {
        let key = String::from_utf8_lossy(variable.name).into_owned();
        (key, self::variable(manifest, &variable, table))
    };
    Value::Object(definition.vars_by_name().map(entry).collect())
}

fn variable(manifest: &Manifest<'_>, variable: &Variable<'_>, table: &MemberTable<'_>) -> Value {
    let mut report = Map::new();
    let mut put = |key: &str, value: Value| drop(report.insert(key.to_owned(), value));
    put("var_id", json!(variable.id));
    put("type", json!(variable.class.name()));
    put("mr_type", json!(variable.class.record_type()));
    if let Some(size) = variable.bytes() {
        put("size", json!(size));
    }
    if variable.alignment != 0 {
        put("alignment", json!(variable.alignment));
    }
    match variable.detail {
        Detail::None => {}
        Detail::Virtual { offset } => {
            put("offset", json!(offset));
            put("area", json!(variable.area()));
        }
        Detail::File { member, payload_offset, payload_len } => {
            put("payload", payload(table, member, payload_offset, payload_len));
        }
        Detail::Pointer { referenced } => put("referenced_var_id", json!(referenced)),
        Detail::List { ids } | Detail::DgeTable { ids } => put("list", ids.iter().collect()),
        Detail::Remote { subgraph, var_id } => {
            let owner = manifest.definition(subgraph).and_then(|definition| definition.var(var_id));
            let owner = owner.map_or(Value::Null, |owner| text(owner.name));
            put("remote", json!({ "sg": subgraph, "name": owner, "var_id": var_id }));
        }
    }
    if let Some(print) = variable.print {
        let shape: Vec<u64> = variable.shape.iter().map(|dim| dim.get()).collect();
        let (prefix, dtype) = (text(print.prefix), text(variable.dtype));
        put("print", json!({ "prefix": prefix, "pipe": print.pipe, "dtype": dtype, "shape": shape }));
    }
    Value::Object(report)
}

fn payload(table: &MemberTable<'_>, member: MemberId, offset: u64, bytes: u64) -> Value {
    let npy = table.get(member).is_some_and(|member| member.name.ends_with(b".npy"));
    let format = if npy { "npy" } else { "raw" };
    json!({ "member": name(table, Some(member)), "format": format, "offset": offset, "bytes": bytes })
}

fn queues(definition: &Definition<'_>) -> Value {
    let entry = |queue: Queue<'_>| (String::from_utf8_lossy(queue.name).into_owned(), self::queue(&queue));
    Value::Object(definition.queues().map(entry).collect())
}

fn queue(queue: &Queue<'_>) -> Value {
    let mut report = Map::new();
    let mut put = |key: &str, value: Value| drop(report.insert(key.to_owned(), value));
    put("type", json!(queue.role.name()));
    put("ring_type", json!(queue.ring_type()));
    put("owner", json!(queue.owner.map(Engine::key)));
    put("num_queues", json!(queue.num_queues));
    put("semaphores", queue.semaphores.iter().map(|semaphore| semaphore.get()).collect());
    put("fabric_path", json!(queue.fabric.name()));
    if queue.named_instances {
        let names = (0..queue.instances).filter_map(|at| queue.instance_name(at));
        put("instances", names.map(text).collect());
    }
    if queue.pinned {
        put("pinned", json!(true));
    }
    if queue.dge {
        put("dge", json!(true));
    }
    if let Some(scratch) = queue.dynamic {
        put("dynamic_dma", json!({ "scratch_offset": scratch.offset, "scratch_size": scratch.size }));
    }
    if let Some(semaphore) = queue.embedding_semaphore {
        put("embedding_update_sync_semaphore", json!(semaphore));
    }
    Value::Object(report)
}

fn collectives(definition: &Definition<'_>) -> Value {
    json!({
        "replica_groups": definition.replica_groups().map(ranks),
        "src_target_pairs": definition.src_target_pairs().map(ranks),
        "rank_world_size": definition.rank_world_size(),
    })
}

/// The nested arrays as the file has them.
fn ranks(ranks: Ranks<'_>) -> Value {
    let group = |group: RankGroup<'_>| -> Value { group.iter().collect() };
    let set = |set: RankSet<'_>| -> Value { set.iter().map(group).collect() };
    ranks.iter().map(set).collect()
}

fn carveouts(definition: &Definition<'_>) -> Value {
    let entry = |carveout: loader_core::manifest::Carveout| {
        json!({
            "type": loader_core::manifest::Carveout::EVTACCEL,
            "offset": carveout.offset,
            "size": carveout.size,
            "start_partition": carveout.start_partition,
            "num_partitions": carveout.num_partitions,
        })
    };
    match definition.carveout_count() {
        Some(_) => definition.carveouts().map(entry).collect(),
        None => Value::Null,
    }
}

fn fp8(definition: &Definition<'_>) -> Value {
    definition.fp8().map_or(Value::Null, |fp8| {
        json!({
            "emax_fp8_e4m3": fp8.emax_fp8_e4m3,
            "emax_fp8_e5m2": fp8.emax_fp8_e5m2,
            "fp8_range_extension": fp8.fp8_range_extension,
            "fp8_sis": fp8.fp8_sis,
            "fp8_sns": fp8.fp8_sns,
            "ocp_sat": fp8.ocp_sat,
        })
    })
}

fn libraries(definition: &Definition<'_>) -> Value {
    let entry = |library: loader_core::manifest::Library<'_>| {
        let functions: Vec<Value> = library
            .functions()
            .map(|function| json!([text(function.name), function.opcode, function.sub_opcode]))
            .collect();
        json!({
            "library": text(library.name),
            "version": text(library.version),
            "flags": library.flags(),
            "total_cpus": library.total_cpus,
            "functions": functions,
        })
    };
    definition.ucode_libs().map(entry).collect()
}

/// The names, the bits that they stand for, and those that stand for none.
fn feature_names(definition: &Definition<'_>) -> (Value, Value, Option<Value>) {
    let bits = definition.features().filter_map(features::bit).fold(0, |all, bit| all | bit);
    let unknown: Vec<Value> =
        definition.features().filter(|name| features::bit(name).is_none()).map(text).collect();
    let names = definition.features().map(text).collect();
    (names, json!(format!("{bits:#x}")), (!unknown.is_empty()).then_some(Value::Array(unknown)))
}

fn engines(definition: &Definition<'_>, table: &MemberTable<'_>) -> Value {
    let entry = |engine: Engine| (engine.key().to_owned(), self::engine(definition, engine, table));
    Value::Object(Engine::ALL.into_iter().map(entry).collect())
}

fn engine(definition: &Definition<'_>, engine: Engine, table: &MemberTable<'_>) -> Value {
    let file: EngineFile<'_> = definition.engine(engine);
    let mut report = Map::new();
    let mut put = |key: &str, value: Value| drop(report.insert(key.to_owned(), value));
    put("member", name(table, file.member));
    if file.present {
        put("instr", name(table, file.blob));
    }
    put("bytes", json!(file.blob_bytes));
    put("ninstr", json!(file.instructions()));
    put("placeholder", json!(file.placeholder));
    put("dma_blocks", json!(file.blocks));
    if file.present {
        put("descs", json!(file.transfers));
    }
    if file.has_act_sets {
        put("function_sets", definition.act_sets().map(|set| text(set.name)).collect());
    }
    if let Some(semaphore) = file.act_semaphore {
        put("act_semaphore", json!(semaphore));
    }
    if let Some(tables) = definition.dve_tables().filter(|_| engine == Engine::Dve) {
        put("dve_tables", dve_tables(definition, &tables, table));
    }
    Value::Object(report)
}

/// The tables' names as the engine file has them: below the subgraph's directory.
fn dve_tables(definition: &Definition<'_>, tables: &DveTables, table: &MemberTable<'_>) -> Value {
    let within = |id: MemberId| {
        let member = table.get(id)?;
        let inside = member.name.strip_prefix(definition.dir())?;
        Some(text(inside.strip_prefix(b"/").unwrap_or(inside)))
    };
    let all = [
        ("control_fast_table", tables.control_fast),
        ("control_slow_table", tables.control_slow),
        ("control_table", tables.control),
        ("datapath_table", tables.datapath),
        ("opcode_table", tables.opcode),
    ];
    let named = all.into_iter().filter_map(|(key, id)| Some((key.to_owned(), within(id?)?)));
    Value::Object(named.collect())
}
