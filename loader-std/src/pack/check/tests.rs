use super::{Broken, Rule, check};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

type Tree = BTreeMap<Vec<u8>, Vec<u8>>;

/// A tree with these definitions, by member name.
fn tree(definitions: &[(&str, Vec<u8>)]) -> Tree {
    let graphs: Vec<Value> =
        definitions.iter().map(|(name, _)| json!({"name": name, "definition": name})).collect();
    let graph = json!({"nodes": [{"attrs": {"func_name": "__kelf", "kelf": "kelf-0.json"}}]});
    let mut tree: Tree =
        definitions.iter().map(|(name, bytes)| (name.as_bytes().to_vec(), bytes.clone())).collect();
    tree.insert(b"neff.json".to_vec(), graph.to_string().into_bytes());
    tree.insert(b"kelf-0.json".to_vec(), json!({"graphs": graphs}).to_string().into_bytes());
    tree
}

fn one(definition: &Value) -> Vec<Broken> {
    check(&tree(&[("sg00/def.json", definition.to_string().into_bytes())]))
}

fn rules(definition: &Value) -> Vec<Rule> {
    one(definition).into_iter().map(|broken| broken.rule).collect()
}

fn queues(count: usize) -> Value {
    let queues = (0..count).map(|at| (format!("q{at}"), json!({"num_queues": 16, "owner": "sp"})));
    json!({ "dma_queue": queues.collect::<Map<_, _>>() })
}

#[test]
fn queues_are_counted_over_all_subgraphs() {
    assert_eq!(rules(&queues(11)), []);
    assert_eq!(rules(&queues(12)), [Rule::QueueCount]);
    let half = queues(6).to_string().into_bytes();
    let broken = check(&tree(&[("a/def.json", half.clone()), ("b/def.json", half)]));
    assert_eq!(
        broken[0].to_string(),
        "one NEFF can only use up to 11x16 number of DMA queues (there are 192, at most 176 may be)"
    );
    // Every instance has its own.
    let named = |each: usize, instances: usize| {
        let names: Vec<String> = (0..instances).map(|at| format!("i{at}")).collect();
        let queues =
            (0..12).map(|at| (format!("q{at}"), json!({"num_queues": each, "queue_instances": names})));
        json!({ "dma_queue": queues.collect::<Map<_, _>>() })
    };
    assert_eq!(rules(&named(1, 14)), []);
    assert_eq!(rules(&named(1, 16)), [Rule::QueueCount]);
    assert_eq!(rules(&named(2, 7)), []);
    assert_eq!(rules(&named(2, 8)), [Rule::QueueCount]);
    assert_eq!(rules(&named(14, 0)), [], "an empty list leaves one");
    // More than a sum of 64 bits holds.
    let most = json!({"dma_queue": {"a": {"num_queues": u64::MAX}, "b": {"num_queues": u64::MAX}}});
    assert_eq!(rules(&most), [Rule::QueueCount]);
}

#[test]
fn each_rule_names_what_breaks_it() {
    let definition = json!({
        "dma_queue": {
            "weights": {"pinned": true, "semaphore": 3},
            "flagged": {"pinned": 1, "semaphore_set": [3]},
            "fine": {"pinned": true},
            "soft": {"owner": "act", "dynamic_dma": {}},
            "not": {"owner": "act", "dynamic_dma": false},
            "hard": {"owner": "act", "type": "dynamic"},
            "emptied": {"pinned": true, "semaphore_set": []},
        },
        "var": {
            "table": {"type": "dge-table", "var_id": 0, "list": [1, 2]},
            "x": {"type": "input", "var_id": 1},
            "y": {"type": "virtual", "var_id": 2},
        },
    });
    let mut said: Vec<String> = one(&definition).iter().map(ToString::to_string).collect();
    said.sort();
    assert_eq!(
        said,
        [
            "sg00/def.json: Pinned weights queue should have no semaphore id (queue flagged has a semaphore_set)",
            "sg00/def.json: Pinned weights queue should have no semaphore id (queue weights has a semaphore)",
            "sg00/def.json: SW DGE must be on GPSIMD engine (the owner of queue soft is act, must be pool)",
            "sg00/def.json: tensors in Call table must be physical tensors (table lists y, of class virtual)",
        ]
    );
}

#[test]
fn the_definitions_are_those_that_the_descriptor_names() {
    let many = queues(12).to_string().into_bytes();
    let mut other = tree(&[("sg00/other.json", many.clone())]);
    assert_eq!(check(&other).len(), 1, "whatever a definition is called");
    other.insert(b"sg77/def.json".to_vec(), many.clone());
    assert_eq!(check(&other).len(), 1);
    let mut unnamed = tree(&[("sg00/def.json", b"{}".to_vec())]);
    unnamed.insert(b"sg77/def.json".to_vec(), many.clone());
    assert_eq!(check(&unnamed), [], "a definition that nobody names makes no queues");
    let marked = [&b"\xEF\xBB\xBF"[..], &many].concat();
    assert_eq!(check(&tree(&[("sg00/def.json", marked)])).len(), 1, "a byte order mark hides nothing");
    // Without its graph, as the packager may leave it, the descriptor is found by its usual name.
    let mut bare = tree(&[("sg00/def.json", many)]);
    bare.remove(&b"neff.json"[..]);
    assert_eq!(check(&bare).len(), 1);
}

#[test]
fn what_cannot_be_read_holds_nothing() {
    for wrong in [
        json!({"dma_queue": []}),
        json!({"dma_queue": {"q": 5}}),
        json!({"dma_queue": {"q": {"num_queues": "500"}}}),
        json!({"dma_queue": {"q": {"num_queues": -5}}}),
        json!({"dma_queue": {"q": {"num_queues": 1.5}}}),
        json!({"dma_queue": {"q": {"num_queues": [16]}}}),
        json!({"dma_queue": {"q": {"num_queues": null}}}),
        json!({"dma_queue": {"q": {"pinned": "true", "semaphore": 3}}}),
        json!({"dma_queue": {"q": {"owner": 3}}}),
        json!({"dma_queue": {"q": {"queue_instances": 3}}}),
        json!({"dma_queue": {"q": {"semaphore_set": 3}}}),
        json!({"dma_queue": {"q": {"owner": "pool", "dynamic_dma": "yes"}}}),
        json!({"var": 7}),
        json!({"var": {"t": {"type": 4}}}),
        json!({"var": {"t": {"type": "dge-table", "list": 4}}}),
        json!({"var": {"t": {"type": "dge-table", "list": [99]}}}),
        json!({"var": {"t": {"type": "dge-table", "list": ["x"]}}}),
    ] {
        assert_eq!(rules(&wrong), [Rule::Readable], "{wrong}");
    }
    let over = br#"{"dma_queue": {"q": {"num_queues": 18446744073709551616}}}"#;
    assert_eq!(check(&tree(&[("sg00/def.json", over.to_vec())]))[0].rule, Rule::Readable);
    assert_eq!(check(&tree(&[("sg00/def.json", b"{".to_vec())]))[0].rule, Rule::Readable);
    for gone in ["sg00/def.json", "kelf-0.json"] {
        let mut tree = tree(&[("sg00/def.json", b"{}".to_vec())]);
        tree.remove(gone.as_bytes());
        let broken = check(&tree);
        assert_eq!((broken[0].rule, broken[0].member.as_str()), (Rule::Readable, gone));
    }
    assert_eq!(check(&Tree::new())[0].rule, Rule::Readable);
}
