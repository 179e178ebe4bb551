//! Packages of the conformance cases: JSON written down, packed, unpacked, parsed and lowered.

use super::{Lowered, memory};
use crate::build::{Graph, Tensor, Tree, json_bytes, to_neff};
use loader_core::arch::Arch;
use loader_core::arena::Arena;
use loader_core::container::{Layer, Resident, Store, StoreFull, Workspace, unpack};
use loader_core::error::{Error, NoteList};
use loader_core::limits::Limits;
use loader_core::lower::input::ManifestInput;
use loader_core::lower::record::Blob;
use loader_core::lower::{Dims, lower, measure};
use loader_core::manifest::{Manifest, parse};
use loader_core::policy::Policy;
use loader_core::source::Payload;
use loader_std::pack::Options;
use serde_json::{Value, json};

/// A store that grows.
#[derive(Debug, Default)]
struct Grow(Vec<u8>);

impl Store for Grow {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StoreFull> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A file with its manifests read, before lowering.
#[derive(Debug)]
pub struct Parsed {
    /// Its members.
    pub payload: Resident<'static, 'static>,
    /// Its manifests.
    pub manifest: Manifest<'static>,
    /// The arena, with manifests at the tail.
    pub arena: Arena<'static>,
    /// What was said so far.
    pub notes: NoteList<64>,
}

/// Unpacks and parses a file in an arena of `room` bytes. Its memory is never given back.
///
/// # Errors
/// Those of S1 and S2.
///
/// # Panics
/// If the arena does not even hold its null area.
pub fn parse_neff(neff: &[u8], policy: &Policy, room: usize) -> Result<Parsed, Error> {
    let limits = Limits::DEFAULT;
    let mut arena = Arena::new(memory(room)).expect("the null area fits");
    let mut notes = NoteList::<64>::new();
    let mut store = Grow::default();
    let mut layers: Vec<Layer> = (0..2).map(|_| Layer::default()).collect();
    let (mut names, mut extents) = (vec![0; 3 << 12], vec![Default::default(); 16]);
    let work = Workspace {
        input: &mut [],
        layers: layers.as_mut_slice().first_chunk_mut::<2>().expect("two layers"),
        names: &mut names,
        extents: &mut extents,
    };
    let container = unpack(&mut &*neff, work, &mut store, &mut arena, &limits, policy, &mut notes)?;
    let mut payload = Resident::new(container, store.0.leak());
    let manifest = parse(&mut payload, &mut arena, &limits, policy, &mut notes)?;
    Ok(Parsed { payload, manifest, arena, notes })
}

/// Lowers a file end to end.
///
/// # Errors
/// Those of S1 to S3.
///
/// # Panics
/// If lowering uses more or less than `measure` says.
pub fn lower_neff(neff: &[u8], policy: &Policy) -> Result<(Lowered, Parsed), Error> {
    let limits = Limits::DEFAULT;
    let mut parsed = parse_neff(neff, policy, 16 << 20)?;
    let dims = dims(&parsed, policy)?;
    let mut arena = Arena::new(memory(usize::try_from(dims.needed()).expect("fits") + 16)).expect("fits");
    let Parsed { payload, manifest, notes, .. } = &mut parsed;
    let kbins = lower(payload, manifest, &mut arena, &limits, policy, notes)?;
    let used = arena.head_used() as u64;
    assert_eq!(used, dims.product_bytes(), "emit uses what measure says");
    let high_water = arena.high_water() as u64;
    let notes = parsed.notes.kept().to_vec();
    Ok((Lowered { kbins, notes, measured: dims.product_bytes(), used, high_water }, parsed))
}

/// What lowering a parsed file will take.
///
/// # Errors
/// Those of measuring.
pub fn dims(parsed: &Parsed, policy: &Policy) -> Result<Dims, Error> {
    measure(&ManifestInput::new(parsed.manifest, parsed.payload.table()), &Limits::DEFAULT, policy)
}

/// A package of JSON documents.
#[derive(Clone, Debug)]
pub struct Package {
    /// `target` of the KELF.
    pub target: &'static str,
    /// One `def.json` per core.
    pub defs: Vec<Value>,
    /// All other members.
    pub members: Tree,
    /// What the loader may assume.
    pub policy: Policy,
}

impl Package {
    /// The base package: one subgraph, sunda, a state buffer and an output of 64 bytes.
    #[must_use]
    pub fn base() -> Self {
        let def = json!({"var": {
            "SB": {"type": "state-buffer", "var_id": 0},
            "out": {"type": "output", "var_id": 1, "size": 64},
        }});
        Self { target: "sunda", defs: vec![def], members: Tree::new(), policy: Policy::DEFAULT }
    }

    /// The same for another target. Cayman gets its carve-out.
    #[must_use]
    pub fn target(mut self, target: &'static str) -> Self {
        self.target = target;
        if target == "cayman" {
            for def in &mut self.defs {
                def["runtime_statebuffer_reservation"] = json!([]);
            }
        }
        self
    }

    /// The same with the host's architecture.
    #[must_use]
    pub fn host(mut self, arch: Arch) -> Self {
        self.policy.host_arch = Some(arch);
        self
    }

    /// The same with a second subgraph like the first.
    #[must_use]
    pub fn twice(mut self) -> Self {
        let def = self.defs[0].clone();
        self.defs.push(def);
        let copies: Vec<_> = self
            .members
            .iter()
            .map(|(name, bytes)| (name.replace("sg00/", "sg01/"), bytes.clone()))
            .collect();
        self.members.extend(copies);
        self
    }

    /// The same with a key of the first `def.json`.
    #[must_use]
    pub fn key(mut self, key: &str, value: Value) -> Self {
        self.defs[0][key] = value;
        self
    }

    /// The same with a variable of the first subgraph.
    #[must_use]
    pub fn var(self, name: &str, keys: Value) -> Self {
        self.var_of(0, name, keys)
    }

    /// The same with a variable of subgraph `core`.
    #[must_use]
    pub fn var_of(mut self, core: usize, name: &str, keys: Value) -> Self {
        self.defs[core]["var"][name] = keys;
        self
    }

    /// The same with a queue of the first subgraph.
    #[must_use]
    pub fn queue(mut self, name: &str, keys: Value) -> Self {
        self.defs[0]["dma_queue"][name] = keys;
        self
    }

    /// The same with a member.
    #[must_use]
    pub fn member(mut self, name: &str, bytes: &[u8]) -> Self {
        self.members.insert(name.to_owned(), bytes.to_vec());
        self
    }

    /// The same with an engine of the first subgraph: its file and its instruction bytes.
    #[must_use]
    pub fn engine(mut self, key: &str, mut file: Value, instructions: &[u8]) -> Self {
        self.defs[0][key] = json!(format!("{key}.json"));
        if file.get("instr").is_none() {
            file["instr"] = json!(format!("{key}.bin"));
        }
        self.members.insert(format!("sg00/{key}.json"), json_bytes(&file));
        self.member(&format!("sg00/{key}.bin"), instructions)
    }

    /// The same with blocks of the pool engine.
    #[must_use]
    pub fn blocks(self, blocks: Value) -> Self {
        self.engine("pool", json!({"dma": blocks}), &[0; 64])
    }

    /// The members.
    #[must_use]
    pub fn tree(&self) -> Tree {
        let graph = Graph {
            inputs: Vec::new(),
            outputs: vec![Tensor::new("out", "float32", &[16])],
            cores: self.defs.len(),
            target: Some(self.target),
            revision: false,
            tool_version: "0",
            name: "case",
        };
        let mut tree = graph.members();
        tree.extend(self.members.clone());
        for (core, def) in self.defs.iter().enumerate() {
            tree.insert(format!("sg{core:02}/def.json"), json_bytes(def));
        }
        tree
    }

    /// The file.
    ///
    /// # Panics
    /// If it cannot be packed.
    #[must_use]
    pub fn neff(&self) -> Vec<u8> {
        to_neff(&self.tree(), &[], &[], &Options::default()).expect("a tree that can be packed")
    }

    /// Lowers the package.
    ///
    /// # Errors
    /// Those of S1 to S3.
    pub fn lower(&self) -> Result<(Lowered, Parsed), Error> {
        lower_neff(&self.neff(), &self.policy)
    }

    /// Lowers the package, which must succeed.
    ///
    /// # Panics
    /// If it does not.
    #[must_use]
    pub fn lowered(&self) -> Lowered {
        match self.lower() {
            Ok((lowered, _)) => lowered,
            Err(error) => panic!("{error}"),
        }
    }

    /// The refusal of the package.
    ///
    /// # Panics
    /// If it is lowered.
    #[must_use]
    pub fn refused(&self) -> Error {
        match self.lower() {
            Ok(_) => panic!("lowered, not refused"),
            Err(error) => error,
        }
    }

    /// The code of the refusal.
    #[must_use]
    pub fn code(&self) -> String {
        self.refused().id().to_string()
    }
}

impl Parsed {
    /// The bytes of a blob.
    ///
    /// # Panics
    /// If it lies in no member.
    #[must_use]
    pub fn bytes(&self, blob: &Blob) -> &'static [u8] {
        let id = blob.member_id().expect("a member");
        let start = usize::try_from(blob.off.get()).expect("an offset");
        let len = usize::try_from(blob.len.get()).expect("a length");
        &self.payload.bytes(id).expect("stored")[start..start + len]
    }
}

/// A package with something of everything.
#[must_use]
pub fn rich() -> Tree {
    let copy = json!({"from": "w", "from_off": 0, "from_sizes": [8, 1], "from_steps": [1, 8], "op": "cast", "from_dtype": "uint8",
                      "to": "SB", "to_off": 0, "to_sizes": [8, 1], "to_steps": [1, 8], "to_dtype": "uint8"});
    let mut package = Package::base()
        .target("cayman")
        .var("w", json!({"type": "file", "file_name": "w.bin", "size": 64, "alignment": 64, "var_id": 2}))
        .var("v", json!({"type": "virtual", "size": 64, "backing_variable_off": 8, "var_id": 3}))
        .var("p", json!({"type": "pointer", "size": 8, "referenced_var_id": 3, "var_id": 4}))
        .var("t", json!({"type": "dge-table", "list": [1, 2], "var_id": 5}))
        .var("d", json!({"type": "tmp-buf", "size": 4, "prefix": "x", "pipe": 1, "dtype": "f", "shape": [1, 2], "var_id": 6}))
        .queue("q", json!({"type": "data", "owner": "pool", "num_queues": 2, "semaphore_set": [1, 2]}))
        .queue("r", json!({"type": "data", "owner": "pool", "queue_instances": ["r0", "r1"]}))
        .key("replica_groups", json!([[[0, 1], [2]]]))
        .key("src_target_pairs", json!([[[0, 1]]]))
        .member("sg00/w.bin", &[7; 64]);
    package = package.blocks(json!([
        {"id": 0, "queue": "q", "semaphore": 1, "function_start": "f", "remote_semaphores": [3], "desc": [copy, copy]},
        {"id": 0, "instance_name": "r1", "event": 2, "desc": [copy]},
    ]));
    package.twice().var_of(1, "w{0}", json!({"type": "remote", "var_id": 7})).tree()
}
