//! The members of one subgraph.

use super::slot::{self, Slot};
use super::{Descriptor, Tree, filler, json_bytes, npy};
use loader_core::arch::Engine;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What one engine of a subgraph has.
#[derive(Clone, Debug, Default)]
struct EngineFile {
    stem: String,
    slots: Vec<Slot>,
    blocks: Vec<Value>,
    keys: Map<String, Value>,
}

/// Builds one subgraph: variables and queues in the order of the calls, ids dense.
#[derive(Clone, Debug)]
pub struct Core {
    dir: String,
    keys: Map<String, Value>,
    vars: Map<String, Value>,
    queues: Map<String, Value>,
    engines: BTreeMap<Engine, EngineFile>,
    blocks: BTreeMap<String, u32>,
    members: Tree,
}

impl Core {
    /// An empty subgraph in folder `sgNN`.
    #[must_use]
    pub fn new(index: usize) -> Self {
        let keys = json!({"name": "definition", "version": "0.6"});
        Self {
            dir: format!("sg{index:02}"),
            keys: keys.as_object().cloned().unwrap_or_default(),
            vars: Map::new(),
            queues: Map::new(),
            engines: BTreeMap::new(),
            blocks: BTreeMap::new(),
            members: Tree::new(),
        }
    }

    /// Folder and subgraph name.
    #[must_use]
    pub fn dir(&self) -> &str {
        &self.dir
    }

    /// Sets a top-level key of `def.json`.
    pub fn key(&mut self, key: &str, value: Value) -> &mut Self {
        self.keys.insert(key.to_owned(), value);
        self
    }

    /// Adds a member to the subgraph's folder.
    pub fn member(&mut self, name: &str, bytes: Vec<u8>) -> &mut Self {
        self.members.insert(format!("{}/{name}", self.dir), bytes);
        self
    }

    /// Adds a variable; `keys` without `var_id`. Returns its id.
    pub fn var(&mut self, name: &str, mut keys: Value) -> u32 {
        let id = self.vars.len() as u32;
        keys["var_id"] = json!(id);
        self.vars.insert(name.to_owned(), keys);
        id
    }

    /// Adds the state buffer, an `input`, an `output` or another variable of a fixed size.
    pub fn sized(&mut self, kind: &str, name: &str, size: u64) -> u32 {
        self.var(name, json!({"ops": [], "size": size, "type": kind}))
    }

    /// Adds the state buffer, named `SB`.
    pub fn state_buffer(&mut self) -> u32 {
        self.var("SB", json!({"type": "state-buffer"}))
    }

    /// Adds a scratchpad variable.
    pub fn scratch(&mut self, name: &str, offset: u64, size: u64) -> u32 {
        let keys = json!({"backing_variable_off": offset, "fabric_path": "main", "ops": [], "size": size, "type": "virtual"});
        self.var(name, keys)
    }

    /// Adds a constant and its `.npy` member.
    pub fn constant(&mut self, name: &str, descr: &str, shape: &[u64], payload: &[u8], path: &str) -> u32 {
        let file = format!("value_{name}_CRSM.npy");
        let size = payload.len() as u64;
        self.member(&file, npy::npy(descr, shape, payload));
        let keys = json!({
            "alignment": size.next_power_of_two(), "fabric_path": path, "file_name": file, "ops": [],
            "size": size, "type": "file",
        });
        self.var(name, keys)
    }

    /// Adds a queue set with `count` hardware queues and semaphores from `semaphore` on.
    pub fn queue(&mut self, name: &str, kind: &str, owner: Engine, semaphore: u32, count: u32) {
        let semaphores: Vec<u32> = (semaphore..semaphore + count).collect();
        let keys = json!({
            "fabric_path": "main", "num_queues": count, "owner": owner.key(), "semaphore_set": semaphores,
            "type": kind,
        });
        self.queues.insert(name.to_owned(), keys);
    }

    /// Adds a queue with exactly these keys.
    pub fn raw_queue(&mut self, name: &str, keys: Value) {
        self.queues.insert(name.to_owned(), keys);
    }

    /// Sets a key of a queue.
    pub fn queue_key(&mut self, name: &str, key: &str, value: Value) {
        self.queues[name][key] = value;
    }

    /// Names an engine's members (`PE` gives `PE.json` and `PE.bin`) and starts its stream.
    pub fn engine(&mut self, engine: Engine, stem: &str, start: &[Slot]) {
        let file = self.engines.entry(engine).or_default();
        stem.clone_into(&mut file.stem);
        file.slots.extend_from_slice(start);
    }

    /// Appends slots to an engine's stream.
    pub fn slots(&mut self, engine: Engine, slots: &[Slot]) {
        self.engines.entry(engine).or_default().slots.extend_from_slice(slots);
    }

    /// Sets a key of an engine's file.
    pub fn engine_key(&mut self, engine: Engine, key: &str, value: Value) {
        self.engines.entry(engine).or_default().keys.insert(key.to_owned(), value);
    }

    /// Adds a block to a queue, in an engine's file. Returns its id: dense per queue.
    pub fn block(&mut self, engine: Engine, queue: &str, descriptors: Vec<Descriptor>) -> u32 {
        let next = self.blocks.entry(queue.to_owned()).or_default();
        let id = *next;
        *next += 1;
        let desc: Vec<Value> = descriptors.into_iter().map(Descriptor::json).collect();
        let mut block = json!({"#comment": format!("{queue}-{id}"), "desc": desc, "id": id, "queue": queue});
        if let Some(semaphore) = self.semaphore(queue, id) {
            block["semaphore"] = semaphore;
        }
        self.engines.entry(engine).or_default().blocks.push(block);
        id
    }

    /// Sets keys of the engine's last block.
    pub fn annotate(&mut self, engine: Engine, keys: Value) {
        let block = self.engines.entry(engine).or_default().blocks.last_mut();
        if let (Some(Value::Object(block)), Value::Object(keys)) = (block, keys) {
            block.extend(keys);
        }
    }

    /// The semaphores of a queue take turns.
    fn semaphore(&self, queue: &str, id: u32) -> Option<Value> {
        let keys = self.queues.get(queue)?;
        if let Some(set) = keys.get("semaphore_set").and_then(Value::as_array) {
            return set.get(id as usize % set.len()).cloned();
        }
        keys.get("semaphore").cloned()
    }

    /// Adds a block and the slot that starts it.
    pub fn run(&mut self, engine: Engine, queue: &str, descriptors: Vec<Descriptor>) {
        let id = self.block(engine, queue, descriptors);
        self.slots(engine, &[slot::trigger(queue, id)]);
    }

    /// Names activation sets, adds their members and the roster.
    pub fn activation_sets(&mut self, names: &[&str]) {
        let mut roster = Vec::new();
        for (name, present) in names.iter().map(|n| (*n, true)).chain([("unused_and_others", false)]) {
            roster.push(json!({
                "act": {"identity": 1, "relu": 1}, "bkt_bin": format!("{name}_bkt.bin"),
                "ctrl_bin": format!("{name}_ctrl.bin"), "name": name, "profile_json": format!("{name}.json"),
            }));
            if present {
                self.activation_members(name);
            }
        }
        let info = json!({"act_func_sets": roster, "pwp_file_keys": ["bkt_bin", "ctrl_bin", "profile_json"]});
        self.member("act_info.json", json_bytes(&info));
        self.engine_key(Engine::Act, "act_info", json!("act_info.json"));
        self.engine_key(Engine::Act, "act_semaphore", json!(12));
        self.engine_key(Engine::Act, "activation_function_sets", json!(names));
    }

    fn activation_members(&mut self, name: &str) {
        let seed = name.bytes().map(u32::from).sum();
        let (buckets, controls) = (12, 40);
        self.member(&format!("{name}_bkt.bin"), filler(seed, buckets * 32));
        self.member(&format!("{name}_ctrl.bin"), filler(seed + 1, controls * 4));
        let profile = json!({
            "bkt_bin": format!("{name}_bkt.bin"), "bkt_entry_cnt": buckets, "ctl_bin": format!("{name}_ctrl.bin"),
            "ctl_entry_cnt": controls, "func_exp_to_bkt_start_idx": {}, "func_exp_to_ctl_start_idx": {},
            "func_to_bkt_start_idx": {"identity": 0, "relu": 6}, "func_to_ctl_start_idx": {"identity": 0, "relu": 20},
            "profile_meta_data": [],
        });
        self.member(&format!("{name}.json"), json_bytes(&profile));
    }

    /// Names the vector engine's tables, given as (key, bytes), and adds their members.
    pub fn vector_tables(&mut self, tables: &[(&str, usize)]) {
        let mut named = Map::new();
        for (seed, (key, bytes)) in tables.iter().enumerate() {
            let file = format!("default_{key}.bin");
            self.member(&file, filler(900 + seed as u32, *bytes));
            named.insert((*key).to_owned(), json!(file));
        }
        self.engine_key(Engine::Dve, "dve_tables", json!([named]));
    }

    /// Names the debug members that current compilers add for each engine so far, and adds them.
    pub fn debug_members(&mut self) {
        let engines: Vec<(Engine, String)> =
            self.engines.iter().map(|(engine, file)| (*engine, file.stem.replace('0', ""))).collect();
        for (engine, stem) in engines {
            for (key, kind) in [("asm_dbg", "asm"), ("dbg", "backend")] {
                let file = format!("debug_info_{kind}_{stem}.dbg");
                self.member(&file, filler(file.bytes().map(u32::from).sum(), 24));
                self.key(&format!("{}_{key}", engine.key()), json!([file]));
            }
        }
        self.member("debug_info_backend_DMA.dbg", filler(7, 24));
        self.key("dma_dbg", json!(["debug_info_backend_DMA.dbg"]));
    }

    /// Adds `tensor_map.json` with what tools need of the inputs and outputs so far.
    pub fn tensor_map(&mut self) {
        let mut map = Map::new();
        for (name, var) in &self.vars {
            let kind = var["type"].as_str().unwrap_or_default();
            if kind == "input" || kind == "output" {
                let elements = var["size"].as_u64().unwrap_or_default() / 2;
                map.insert(
                    name.clone(),
                    json!({
                        "dtype": "bfloat16", "is_const": false, "kind": kind, "layer_name": name, "sim_format": "NC",
                        "sim_shape": [1, elements], "tf_file": format!("value_{name}.npy"), "tf_format": "NC",
                        "tf_shape": [1, elements],
                    }),
                );
            }
        }
        self.member("tensor_map.json", json_bytes(&Value::Object(map)));
    }

    /// All members of the subgraph.
    #[must_use]
    pub fn finish(self) -> Tree {
        let mut tree = self.members;
        let mut definition = self.keys;
        for (engine, file) in self.engines {
            let (json_name, blob) = (format!("{}.json", file.stem), format!("{}.bin", file.stem));
            definition.insert(engine.key().to_owned(), json!(json_name));
            definition.insert(format!("{}_instr", engine.key()), json!(blob));
            let mut keys = file.keys;
            keys.insert("dma".to_owned(), json!(file.blocks));
            keys.insert("instr".to_owned(), json!(blob));
            keys.insert("name".to_owned(), json!(json_name));
            tree.insert(format!("{}/{json_name}", self.dir), json_bytes(&Value::Object(keys)));
            tree.insert(format!("{}/{blob}", self.dir), file.slots.concat());
        }
        definition.insert("dma_queue".to_owned(), Value::Object(self.queues));
        definition.insert("var".to_owned(), Value::Object(self.vars));
        tree.insert(format!("{}/def.json", self.dir), json_bytes(&Value::Object(definition)));
        tree
    }
}
