//! Processor time of the commands against the number of things in a file, kind by kind: 16 times as many must not take
//! much more than 16 times as long. So every phase is covered: unpacking, manifests, records, plan, staging, unloading,
//! and what the views of a file do with it.

use crate::scale::{BOUND, TIMES};
use loader_core::policy::Policy;
use neffload_tests::build::{Tree, json_bytes, npy};
use neffload_tests::command::{Scratch, neffload};
use neffload_tests::full;
use neffload_tests::lowering::package::Package;
use neffload_tests::staging::model::slot::{operand, plain, request, trigger, with};
use neuron_drivers::harness::children_cpu;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;

/// What there are many of.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Virtual variables.
    Variables,
    /// Constants, each a member of its own.
    Constants,
    /// The same in a format with a head, at a large alignment.
    Aligned,
    /// Blocks of device memory without content.
    Buffers,
    /// DMA blocks, with a trigger each.
    Blocks,
    /// Descriptors of one block.
    Descriptors,
    /// Labels, and a branch to each.
    Labels,
    /// Functions, and a call of each.
    Functions,
    /// Requests that are translated, and such that are not.
    Requests,
    /// Members that nobody names.
    Members,
}

impl Kind {
    const ALL: [Self; 10] = [
        Self::Variables,
        Self::Constants,
        Self::Aligned,
        Self::Buffers,
        Self::Blocks,
        Self::Descriptors,
        Self::Labels,
        Self::Functions,
        Self::Requests,
        Self::Members,
    ];
}

/// A file that is being made.
struct Draft {
    vars: Value,
    queues: Value,
    blocks: Vec<Value>,
    stream: Vec<[u8; 64]>,
    members: Tree,
}

impl Draft {
    fn new() -> Self {
        let vars = json!({
            "SB": {"type": "state-buffer", "var_id": 0},
            "out": {"type": "output", "var_id": 1, "size": 64},
        });
        let stream = vec![plain(0xB1), plain(0xCC)];
        Self { vars, queues: json!({}), blocks: Vec::new(), stream, members: Tree::new() }
    }

    fn var(&mut self, at: u64, mut keys: Value) {
        keys["var_id"] = json!(at + 2);
        self.vars[format!("v{at}")] = keys;
    }

    fn constant(&mut self, at: u64, name: &str, bytes: Vec<u8>, align: u64) {
        let keys = json!({"type": "file", "file_name": name, "size": 64, "alignment": align});
        self.var(at, keys);
        self.members.insert(format!("sg00/{name}"), bytes);
    }

    fn block(&mut self, id: u64, descriptors: u64) {
        let copy = json!({
            "from": "SB", "from_off": 0, "from_sizes": [64, 1], "from_steps": [1, 64], "from_dtype": "uint8", "op": "copy",
            "to": "SB", "to_off": 4096, "to_sizes": [64, 1], "to_steps": [1, 64], "to_dtype": "uint8",
        });
        let all = vec![copy; descriptors as usize];
        self.blocks.push(json!({"id": id, "queue": "q", "semaphore": 3, "desc": all}));
        self.stream.push(trigger("q", id as u32));
    }

    fn file(self) -> Vec<u8> {
        let mut def = json!({"var": self.vars, "runtime_statebuffer_reservation": []});
        if !self.blocks.is_empty() {
            def["dma_queue"] = self.queues;
        }
        let package =
            Package { target: "cayman", defs: vec![def], members: self.members, policy: Policy::DEFAULT };
        package.engine("pool", json!({"dma": self.blocks}), self.stream.as_flattened()).neff()
    }
}

/// A file with `count` things of a kind.
fn file(kind: Kind, count: u64) -> Vec<u8> {
    let mut draft = Draft::new();
    draft.queues = json!({"q": {"type": "data", "owner": "pool", "num_queues": 4, "semaphore_set": [3]}});
    let name = |at: u64| format!("f{at}").into_bytes();
    match kind {
        Kind::Descriptors => draft.block(0, count),
        Kind::Functions => {
            let calls = (0..count).rev().map(|at| with(plain(0xD3), 12, &name(at)));
            draft.stream.extend(calls);
            draft.stream.extend((0..count).flat_map(|at| [with(plain(0xD1), 12, &name(at)), plain(0xA0)]));
        }
        _ => (0..count).for_each(|at| add(kind, &mut draft, at, count)),
    }
    draft.file()
}

/// Adds thing `at` of `count`.
fn add(kind: Kind, draft: &mut Draft, at: u64, count: u64) {
    match kind {
        Kind::Variables => {
            draft.var(at, json!({"type": "virtual", "size": 64, "backing_variable_off": at * 64}))
        }
        Kind::Constants => draft.constant(at, &format!("w{at}.bin"), vec![at as u8; 64], 64),
        Kind::Aligned => {
            draft.constant(at, &format!("w{at}.npy"), npy::npy("<f4", &[16], &[at as u8; 64]), 1 << 16);
        }
        Kind::Buffers => draft.var(at, json!({"type": "tmp-buf", "size": 64})),
        Kind::Blocks => draft.block(at, 1),
        Kind::Labels => {
            let branch = with(plain(0xA9), 48, &(count - at).to_le_bytes());
            draft.stream.extend([with(plain(0xCC), 12, &(at as u32 + 1).to_le_bytes()), branch]);
        }
        Kind::Requests => {
            let known = request(0, operand(0, 0, 0x10), operand(64, 0, 0x10));
            let held = request(0, operand(60, 0, 0x18), operand(64, 0, 0x10));
            draft.stream.extend([known, held, plain(0xDA)]);
        }
        Kind::Members => drop(draft.members.insert(format!("misc/m{at}"), json_bytes(&json!(at)))),
        Kind::Descriptors | Kind::Functions => {}
    }
}

/// What is run; `FILE` stands for the file.
const COMMANDS: [&[&str]; 8] = [
    &["load", "--json", "--device", "sim,store=digest", "FILE"],
    &["plan", "--json", "FILE"],
    &["inspect", "--json", "FILE"],
    &["verify", "--deep", "FILE"],
    &["memory", "--staged", "--json", "FILE"],
    &["disasm", "--json", "FILE"],
    &["report", "FILE", "-o", "PAGE"],
    &["diff", "FILE", "FILE"],
];

/// Seconds of a command.
fn seconds(words: &[&str], file: &Path, page: &Path) -> f64 {
    let before = children_cpu();
    let mut command = neffload();
    for &word in words {
        match word {
            "FILE" => command.arg(file),
            "PAGE" => command.arg(page),
            _ => command.arg(word),
        };
    }
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "{words:?} {}", file.display());
    (children_cpu() - before).as_secs_f64()
}

#[test]
fn no_command_takes_the_square_of_anything() {
    let many = if full() { 64_000 } else { 16_000 };
    let scratch = Scratch::new("growth");
    let page = scratch.join("page.html");
    let mut worst = (0.0, String::new());
    for kind in Kind::ALL {
        let [small, large] = [many / TIMES, many].map(|count| {
            let path = scratch.join(&format!("{count}.neff"));
            std::fs::write(&path, file(kind, count)).unwrap();
            path
        });
        for words in COMMANDS {
            let (few, mut all) = (seconds(words, &small, &page), seconds(words, &large, &page));
            // The start of a process is in both, and its few milliseconds are not exact.
            let most = few.max(0.002) * BOUND;
            if all >= most {
                // Once more: a busy machine takes caches away.
                all = all.min(seconds(words, &large, &page));
            }
            let times = all / few.max(0.002);
            let what = format!("{} of {many} {kind:?}: {all:.3} s, {few:.3} s for a sixteenth", words[0]);
            assert!(all < most, "{what}");
            if times > worst.0 {
                worst = (times, what);
            }
        }
    }
    println!(
        "{} kinds, {} commands; worst: {:.1} times, {}",
        Kind::ALL.len(),
        COMMANDS.len(),
        worst.0,
        worst.1
    );
}
