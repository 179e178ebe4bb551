//! One entry of `subgraphs`.

use super::engine::engines;
use super::variable::variable;
use super::{Names, text};
use loader_core::manifest::{Carveout, Definition, Library, Queue, Ranks, features};
use loader_core::source::MemberNames;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub(super) fn subgraph(definition: &Definition<'_>, names: &Names<'_, '_, impl MemberNames>) -> Value {
    let vars: Map<String, Value> =
        definition.vars_by_name().map(|var| (text(var.name), variable(&var, names))).collect();
    let queues: Map<String, Value> =
        definition.queues().map(|queue| (text(queue.name), queue_json(&queue))).collect();
    let libraries: Vec<Value> = definition.ucode_libs().map(|library| library_json(&library)).collect();
    let bits = definition.features().filter_map(features::bit).fold(0, |bits, bit| bits | bit);
    json!({
        "name": text(definition.name()),
        "dir": text(definition.dir()),
        "def_version": text(definition.version()),
        "var": counts(definition),
        "vars": vars,
        "dma_queues": queues,
        "num_streams": definition.num_streams(),
        "cc": {
            "replica_groups": definition.replica_groups().map(|ranks| ranks_json(&ranks)),
            "src_target_pairs": definition.src_target_pairs().map(|ranks| ranks_json(&ranks)),
            "rank_world_size": definition.rank_world_size(),
        },
        "sb_carveouts": definition.carveout_count().map(|_| carveouts(definition)),
        "fp8": fp8(definition),
        "ucode_libs": libraries,
        "neff_features": definition.features().map(text).collect::<Vec<_>>(),
        "named_feature_bits": format!("{bits:#x}"),
        "engines": engines(definition, names),
    })
}

fn counts(definition: &Definition<'_>) -> Value {
    let mut by_type: BTreeMap<&str, u32> = BTreeMap::new();
    for var in definition.vars() {
        *by_type.entry(var.class.name()).or_default() += 1;
    }
    json!({
        "count": definition.var_count(),
        "max_var_id": definition.vars().map(|var| var.id).max(),
        "num_inputs": definition.num_inputs(),
        "num_outputs": definition.num_outputs(),
        "by_type": by_type,
    })
}

fn queue_json(queue: &Queue<'_>) -> Value {
    let mut value = json!({
        "type": queue.role.name(),
        "ring_type": queue.ring_type(),
        "owner": queue.owner.map(loader_core::arch::Engine::key),
        "num_queues": queue.num_queues,
        "semaphores": queue.semaphores.iter().map(|semaphore| semaphore.get()).collect::<Vec<_>>(),
        "fabric_path": queue.fabric.name(),
    });
    for (key, set) in
        [("pinned", queue.pinned), ("dge", queue.dge), ("indirect_memcpy", queue.indirect_memcpy)]
    {
        if set {
            value[key] = true.into();
        }
    }
    if let Some(scratch) = queue.dynamic {
        value["dynamic_dma"] = json!({"offset": scratch.offset, "size": scratch.size});
    }
    if queue.named_instances {
        let names = (0..queue.instances).filter_map(|index| queue.instance_name(index));
        value["instances"] = names.map(|name| Value::from(text(name))).collect();
    }
    value
}

/// The arrays as nested as the file has them.
fn ranks_json(ranks: &Ranks<'_>) -> Value {
    let sets: Vec<Value> = ranks
        .iter()
        .map(|set| {
            let groups: Vec<Value> =
                set.iter().map(|group| group.iter().map(Value::from).collect()).collect();
            unwrap_outer(groups, ranks.depth() < 2)
        })
        .collect();
    unwrap_outer(sets, ranks.depth() < 3)
}

/// An array, or its only item where the file left that level out.
fn unwrap_outer(items: Vec<Value>, left_out: bool) -> Value {
    if left_out { items.into_iter().next().unwrap_or(Value::Null) } else { items.into() }
}

fn carveouts(definition: &Definition<'_>) -> Value {
    let row = |carveout: Carveout| {
        json!({
            "type": Carveout::EVTACCEL, "offset": carveout.offset, "size": carveout.size,
            "start_partition": carveout.start_partition, "num_partitions": carveout.num_partitions,
        })
    };
    definition.carveouts().map(row).collect()
}

fn fp8(definition: &Definition<'_>) -> Value {
    definition.fp8().map_or(Value::Null, |fp8| {
        json!({
            "emax_fp8_e4m3": fp8.emax_fp8_e4m3, "emax_fp8_e5m2": fp8.emax_fp8_e5m2,
            "fp8_range_extension": fp8.fp8_range_extension, "fp8_sis": fp8.fp8_sis, "fp8_sns": fp8.fp8_sns,
            "ocp_sat": fp8.ocp_sat,
        })
    })
}

fn library_json(library: &Library<'_>) -> Value {
    let functions: Vec<Value> = library
        .functions()
        .map(|function| json!([text(function.name), function.opcode, function.sub_opcode]))
        .collect();
    json!({
        "library": text(library.name), "version": text(library.version), "flags": library.flags(),
        "total_cpus": library.total_cpus, "functions": functions,
    })
}
