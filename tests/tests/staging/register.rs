//! Conformance cases of staging.md §21: what is registered, shared and reported (T72 to T75, T79, T83), and
//! the rules of collective loads.

use loader_core::arch::Arch;
use loader_core::container::{Header, HeaderView};
use loader_core::device::{CoreId, Usage};
use loader_core::limits::Limits;
use loader_core::lower::input::RankStep;
use loader_core::plan::ShowBytes;
use loader_core::plan::record::STATE_READY;
use loader_core::stage::collectives::Membership;
use loader_core::stage::register::{fold_uuid, mac_count};
use loader_std::cache::{Entry, Role, State as SlotState};
use loader_std::loader::{State, parse_key};
use loader_std::{LoadOptions, Loader, Memory};
use neffload_tests::fixtures::named;
use neffload_tests::staging::hooked::Hooked;
use neffload_tests::staging::kbins;
use neffload_tests::staging::model::Hand;
use neffload_tests::{fixture, shared, skip};
use neuron_drivers::sim::{Config, Growing, HostSim, Profile};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const FIXTURE: &str = "cayman-2core";

fn read(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap()
}

fn header(file: &[u8]) -> Header {
    HeaderView::of(file).map(Header::parse).unwrap()
}

fn sim() -> HostSim {
    HostSim::new(Config::flat(Arch::Cayman), Growing::new(false))
}

fn memory() -> Memory {
    Memory::with_arena(4 << 20)
}

#[test]
fn staging_t72() {
    let (file, loader) = (read(FIXTURE), Loader::new(sim()));
    let before = loader.device().hash();
    loader.limit_handles(0);
    let error = loader.load(&file, &mut memory(), &LoadOptions::default()).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.status().number()), ("S606", 4));
    assert!(loader.models().is_empty());
    assert_eq!((loader.device().hash(), loader.datastore().count()), (before, 0));
    loader.limit_handles(1);
    let mut memory = memory();
    let model = loader.load(&file, &mut memory, &LoadOptions::default()).unwrap();
    assert_eq!(model.h_nn(), 2, "the first one was registered already");
}

#[test]
fn staging_t73() {
    let (file, loader) = (read(FIXTURE), Loader::new(sim()));
    let mut memories: Vec<Memory> = (0..33).map(|_| memory()).collect();
    let mut models = Vec::new();
    for memory in &mut memories {
        models.push(loader.load(&file, memory, &LoadOptions::default()).unwrap());
    }
    assert_eq!(loader.datastore().count(), 64);
    let last = models.last().unwrap();
    assert!(loader.acquire(last.h_nn()).unwrap().nodes().is_empty(), "loaded without an object");
    let warned: Vec<_> = last.notes().iter().filter(|note| note.id().to_string() == "W801").collect();
    assert_eq!((warned.len(), warned[0].status().number()), (2, 0), "log only");
    assert!(models[31].notes().iter().all(|note| note.id().to_string() != "W801"));
    models.truncate(1);
    assert_eq!(loader.datastore().count(), 2);
    drop(models);
    assert_eq!(loader.datastore().count(), 0);
}

#[test]
fn staging_t74() {
    let (file, main) = (read(FIXTURE), thread::current().id());
    let second_writes = AtomicBool::new(false);
    // The first load is held in staging until the second one stages, too.
    let before = |_| {
        if thread::current().id() == main {
            second_writes.store(true, Ordering::SeqCst);
        }
        Ok(())
    };
    let first_waits = |call| {
        while thread::current().id() != main && !second_writes.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        before(call)
    };
    let loader = Loader::new(Hooked::new(sim(), |call| match call {
        neffload_tests::staging::hooked::Call::Write => first_waits(call),
        neffload_tests::staging::hooked::Call::Alloc => Ok(()),
    }));
    let options = LoadOptions { threads: 1, ..LoadOptions::default() };
    thread::scope(|scope| {
        let (mut one, mut two) = (memory(), memory());
        let (loader, file, options) = (&loader, &file, &options);
        let first = scope.spawn(move || {
            let model = loader.load(file, &mut one, options).ok().unwrap();
            let found = (model.h_nn(), model.h_model(), model.facts().role);
            std::mem::forget(model);
            found
        });
        while loader.parses().snapshot().state != SlotState::Ready {
            thread::yield_now();
        }
        let second = loader.load(file, &mut two, options).ok().unwrap();
        let first = first.join().unwrap();
        assert_eq!(first.2, Some(Role::Creator));
        assert_eq!(second.facts().role, Some(Role::Reuse { waited: false }), "parsed once");
        assert!(first.0 != second.h_nn() && first.1 != second.h_model());
        let own = second.plan().core(0).unwrap().bytes_of(Usage::Weight);
        let both = loader.usage(CoreId(0)).get(Usage::Weight);
        assert_eq!((both, own > 0), (2 * own, true), "device memory is not shared");
        let (core, pages) = second.plan().scratchpad();
        assert!(pages > 0 && loader.pages(core).iter().all(|&refs| refs == 2), "but scratchpad pages are");
        assert_eq!(loader.parses().snapshot().state, SlotState::Uninit, "released after registration");
        loader.unload(first.0, Duration::ZERO).unwrap();
    });
    assert!(loader.models().is_empty());
    loader.device().sim.audit().unwrap();
}

#[test]
fn staging_t75() {
    let (pending, other) = (read(FIXTURE), read("cayman-registers"));
    let loader = Loader::new(sim());
    let options = LoadOptions::default();
    let Entry::Creator(creator) = loader.parses().enter(parse_key(&header(&pending), &options)) else {
        panic!("the slot is free");
    };
    assert_eq!(loader.parses().snapshot().state, SlotState::Pending);
    // The other file does not wait; it would hang here if it did.
    let mut one = memory();
    let model = loader.load(&other, &mut one, &options).unwrap();
    assert_eq!(model.facts().role, Some(Role::Independent { waited: false }));
    // The same file does wait, and parses for itself when the creator fails.
    thread::scope(|scope| {
        let (loader, pending, options) = (&loader, &pending, &options);
        let waiting = scope.spawn(move || {
            let mut two = memory();
            loader.load(pending, &mut two, options).unwrap().facts().role
        });
        while loader.parses().snapshot().waiters == 0 {
            thread::yield_now();
        }
        drop(creator);
        assert_eq!(waiting.join().unwrap(), Some(Role::Independent { waited: true }));
    });
}

#[test]
fn shared_parses_change_nothing() {
    for name in [FIXTURE, "cayman-registers", "mariana-gather", "sunda-1core"] {
        let arch = match &name[..5] {
            "sunda" => Arch::Sunda,
            "maria" => Arch::Mariana,
            _ => Arch::Cayman,
        };
        let file = read(name);
        let product = |through_cache: bool| {
            let loader = Loader::new(HostSim::new(Config::flat(arch), Growing::new(false)));
            let mut memory = memory();
            let options = LoadOptions::default();
            let model = if through_cache {
                loader.load(&file, &mut memory, &options).unwrap()
            } else {
                loader.place(loader_std::loader::prepare(&file, &mut memory, &options).unwrap()).unwrap()
            };
            let plan = model.plan();
            let records = [plan.kbins().head().bytes(), plan.head().bytes()].concat();
            assert_eq!(model.facts().role.is_some(), through_cache);
            (loader.device().hash(), records)
        };
        assert!(product(true) == product(false), "{name}");
    }
}

#[test]
fn staging_t79() {
    let (file, loader) = (read(FIXTURE), Loader::new(sim()));
    let mut memory = memory();
    let model = loader.load(&file, &mut memory, &LoadOptions::default()).unwrap();
    let used = loader.acquire(model.h_nn()).unwrap();
    assert_eq!((used.record().state.get(), used.state()), (STATE_READY, State::Registered));
    assert_eq!(used.state().abi_state(), 4);
    let store = loader.datastore();
    for (index, (&slot, core)) in used.nodes().iter().zip(model.plan().cores()).enumerate() {
        let node = store.get(slot).unwrap();
        assert!(node.is_intact());
        assert_eq!((node.model_id.get(), node.subgraph, node.core), (model.h_nn(), index as u8, index as u8));
        assert_eq!((node.uuid, node.name), (header(&file).uuid, model.handle().name));
        let device: u64 = node.device.iter().map(|kind| kind.bytes.get()).sum();
        assert_eq!(device, core.usage().total());
        assert_eq!(node.device[0].bytes.get(), core.breakdown().model_code);
        assert_eq!((node.device[0].chunks.get(), node.host[0].bytes.get()), (5, 0));
        let mut changed = *node;
        changed.node_id = 99.into();
        assert!(!changed.is_intact());
    }
    assert_eq!((used.nodes().len(), used.record().datastore_count.get()), (2, 2));
    drop(model);
    assert_eq!((used.state(), used.state().abi_state()), (State::Draining, 3));
    assert_eq!(loader.datastore().count(), 2, "listed as long as it is on the device");
    drop(used);
    assert_eq!(loader.datastore().count(), 0);
}

#[test]
fn the_handle_and_the_registry_say_what_the_file_says() {
    let (file, loader) = (read(FIXTURE), Loader::new(sim()));
    let header = header(&file);
    let mut memory = memory();
    let options = LoadOptions { core: 2, timeout: 45, ring_cache: 64, ..LoadOptions::default() };
    let model = loader.load(&file, &mut memory, &options).unwrap();
    let handle = model.handle();
    assert_eq!((handle.vcore.get(), handle.h_nn.get(), handle.global_id.get()), (1, 1, 0));
    assert_eq!((handle.uuid, handle.name.as_bytes()), (header.uuid, header.name.as_bytes()));
    let used = loader.acquire(1).unwrap();
    let record = used.record();
    assert_eq!((record.uuid, record.interned.get()), (header.uuid, fold_uuid(&header.uuid)));
    assert_eq!(model.facts().trace_id, fold_uuid(&header.uuid));
    assert_eq!((record.timeout.get(), record.sg_count.get()), (45, 2));
    // Without a stated one it is 30 (driver-abi.md §13.3).
    assert_eq!(LoadOptions::default().timeout, 30);
    let params = used.bridge().params;
    assert_eq!((params.timeout.get(), params.ring_cache.get()), (45, 64));
    assert_eq!((params.verified, params.contiguous, params.page_size.get()), (1, 1, 64 << 20));
    for core in model.plan().cores() {
        assert_eq!((core.model.params, core.model.h_model), (params, used.bridge().h_model));
    }
    let names = |entries: &[loader_std::loader::IoEntry]| -> Vec<String> {
        entries.iter().map(|entry| String::from_utf8_lossy(&entry.name).into_owned()).collect()
    };
    assert_eq!(names(used.inputs()), ["x", "y"]);
    assert_eq!(names(used.outputs()), ["output0"], "listed once per core, kept once");
    assert_eq!((record.inputs.count.get(), record.outputs.count.get()), (2, 1));
    for entry in used.inputs().iter().chain(used.outputs()) {
        let ndim = entry.info.ndim.get() as usize;
        assert!(ndim > 0 && entry.info.dtype.get() > 0);
        let elements: u64 = entry.info.shape[..ndim].iter().map(|extent| u64::from(extent.get())).product();
        assert_eq!(entry.info.size.get() % elements, 0);
        assert!(entry.info.shape[ndim..].iter().all(|extent| extent.get() == 0));
    }
}

#[test]
fn the_uuid_folds_by_halves() {
    let uuid = [1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80];
    assert_eq!(fold_uuid(&uuid), u64::from_le_bytes([0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88]));
}

#[test]
fn operations_are_counted_where_the_compiler_says_so() {
    let count = |text: &str| mac_count(text.as_bytes(), &Limits::DEFAULT);
    assert_eq!(count(r#"{"Traffic": 1, "HloMacCount": 9699328}"#), Some(9_699_328));
    assert_eq!(count(r#"{"mac_count": 7}"#), Some(7));
    for bad in [r#"{"HloMacCount": -1}"#, r#"{"HloMacCount": "9"}"#, "{}", "[1]", "{", ""] {
        assert_eq!(count(bad), None, "{bad}");
    }
    let mut with = named(FIXTURE);
    with.tree.insert("hlo_stats.json".into(), br#"{"HloMacCount": 4194304}"#.to_vec());
    let without = read(FIXTURE);
    for (file, expected, warned) in [(with.bytes(), Some(4_194_304), false), (without, None, true)] {
        let loader = Loader::new(sim());
        let mut memory = memory();
        let model = loader.load(&file, &mut memory, &LoadOptions::default()).unwrap();
        assert_eq!(model.facts().mac_count, expected);
        let used = loader.acquire(model.h_nn()).unwrap();
        assert_eq!(used.record().mac_count.get(), expected.unwrap_or(0));
        let found = model.notes().iter().any(|note| note.id().to_string() == "W802");
        assert_eq!(found, warned, "the reference's own warning");
    }
}

#[test]
fn real_files_state_their_operations() {
    let expected = [
        ("cayman-attention-dge", Arch::Cayman, None),
        ("cayman-lnc2-matmul", Arch::Cayman, Some(4_194_304)),
        ("cayman-moe", Arch::Cayman, Some(0)),
        ("mariana-lnc2-remote", Arch::Mariana, Some(9_699_328)),
        ("sunda-pointer", Arch::Sunda, Some(10_140_864)),
    ];
    for (name, arch, count) in expected {
        let Some(folder) = shared() else { skip!("no shared data") };
        let file = std::fs::read(folder.join("real").join(format!("{name}.neff"))).unwrap();
        let loader = Loader::new(HostSim::new(Config::flat(arch), Growing::new(false)));
        let mut memory = Memory::new();
        let model = loader.load(&file, &mut memory, &LoadOptions::default()).unwrap();
        assert_eq!(model.facts().mac_count, count, "{name}");
    }
}

#[test]
fn staging_t83() {
    let file = read(FIXTURE);
    // Room for the one page of the scratchpad and one model, not for two.
    let profile = Profile::Tiny((64 << 20) + (512 << 10));
    let config = Config { profile, ..Config::flat(Arch::Cayman) };
    let loader = Loader::new(HostSim::new(config, Growing::new(false)));
    let (mut one, mut two) = (memory(), memory());
    let first = loader.load(&file, &mut one, &LoadOptions::default()).unwrap();
    let state = loader.device().hash();
    let error = loader.load(&file, &mut two, &LoadOptions::default()).unwrap_err();
    assert_eq!(error.status().number(), 4, "{error}");
    assert_eq!(loader.device().hash(), state);
    let table = error.usage_table().expect("the table of the first shortage");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("[ND 0:HBM 0] Failed to allocate "), "{table}");
    assert!(lines[0].contains("(alignment: ") && lines[0].contains("usage: "), "{table}");
    assert!(lines[1].contains("TOTAL") && lines[1].contains("Profiler Buffers"));
    // Device, then both cores of the channel with the resident model and the failing one.
    let models: Vec<&&str> = lines.iter().filter(|line| line.starts_with("  [")).collect();
    assert_eq!((lines.len(), models.len()), (2 + 1 + 2 + 4, 4), "{table}");
    assert!(models.iter().all(|line| line.matches("n/a").count() == 4), "{table}");
    let own = first.plan().core(0).unwrap().usage();
    assert!(models[0].contains(&ShowBytes(own.total()).to_string()), "{table}");
    assert!(lines[3].starts_with("ND 0:NC 0") && lines[3].contains("64.000MB"), "{table}");
    assert!(!lines[3].contains("n/a") && !lines[2].contains("n/a"));
    // A refusal for another reason has none.
    let options = LoadOptions { core: 99, ..LoadOptions::default() };
    assert_eq!(loader.load(&file, &mut two, &options).unwrap_err().usage_table(), None);
}

#[test]
fn members_of_a_world() {
    let new = |root, rank, world| Membership::new(root, rank, world);
    let code = |outcome: Result<Membership, loader_core::error::Error>| {
        outcome.map_or_else(|error| error.id().to_string(), |_| String::new())
    };
    let root = Some("10.0.0.1:41000");
    assert_eq!(new(root, 1, 2).unwrap().root(), (&b"10.0.0.1"[..], 41000));
    assert_eq!(new(Some("[::1]:2000"), 0, 1).unwrap().root(), (&b"[::1]"[..], 2000));
    for (root, expected) in [
        (None, "S701"),
        (Some(""), "S701"),
        (Some("host"), "S702"),
        (Some(":1"), "S702"),
        (Some("host:"), "S702"),
        (Some("host:0"), "S702"),
        (Some("host:65536"), "S702"),
        (Some("host:+1"), "S702"),
        (Some("a host:1"), "S702"),
    ] {
        assert_eq!(code(new(root, 0, 1)), expected, "{root:?}");
    }
    for (rank, world) in [(0, 0), (2, 2), (0, 65_537)] {
        assert_eq!(code(new(root, rank, world)), "S703");
    }
}

/// Three levels of ranks as lowering takes them.
fn steps(topologies: &[&[&[u32]]]) -> Vec<RankStep> {
    let mut steps = Vec::new();
    for topology in topologies {
        steps.push(RankStep::Group);
        for group in *topology {
            steps.push(RankStep::Subgroup);
            steps.extend(group.iter().map(|&rank| RankStep::Rank(rank)));
        }
    }
    steps
}

#[test]
fn replica_groups_are_checked() {
    let root = Some("host:1");
    let check = |groups: &[&[&[u32]]], pairs: &[&[&[u32]]], rank, world| {
        let mut hand = Hand::cayman().var("out", loader_core::manifest::VarClass::Output, 4);
        (hand.set.groups, hand.set.pairs) = (steps(groups), steps(pairs));
        let kbins = kbins(vec![hand.set]).unwrap();
        let outcome = Membership::new(root, rank, world).unwrap().check(&kbins);
        outcome.map_or_else(|error| error.log().to_string(), |()| String::new())
    };
    let none: &[&[&[u32]]] = &[];
    assert_eq!(check(none, none, 0, 1), "");
    assert_eq!(check(&[&[&[0, 1], &[2, 3]], &[&[0, 1, 2, 3]]], none, 3, 4), "");
    let missing = "replica groups (1/2) does not have myself 3";
    assert_eq!(check(&[&[&[0, 1], &[2, 3]], &[&[0, 1, 2]]], none, 3, 4), missing);
    assert_eq!(check(&[&[&[0, 4]]], none, 0, 4), "rank 4 is outside a world of 4 devices");
    assert_eq!(check(&[&[&[0, 1], &[1, 2]]], none, 0, 4), "rank 1 occurs twice in topology 0");
    let many: Vec<&[&[u32]]> = vec![&[&[0]]; 13];
    assert_eq!(check(&many, none, 0, 1), "a subgraph has 13 topologies of replica groups");
    assert_eq!(check(&many[..12], none, 0, 1), "");
    assert_eq!(check(none, &[&[&[0, 1], &[1, 0]]], 0, 2), "");
    let twice = "Failed to parse replica group generated from source_target_pairs 0";
    assert_eq!(check(none, &[&[&[0, 1], &[0, 2]]], 0, 4), twice);
    assert_eq!(check(none, &[&[&[0, 2], &[1, 2]]], 0, 4), twice);
    assert_eq!(check(none, &[&[&[0, 9]]], 0, 4), "rank 9 is outside a world of 4 devices");
}

#[test]
fn a_collective_load_has_a_global_id() {
    let (file, loader) = (read(FIXTURE), Loader::new(sim()));
    let member = Membership::new(Some("host:1"), 3, 4).unwrap();
    let options = LoadOptions { collective: Some(member), ..LoadOptions::default() };
    let mut memory = memory();
    let model = loader.load(&file, &mut memory, &options).unwrap();
    assert_eq!(model.handle().global_id.get(), 3);
    // A file whose groups lack the rank is refused before any device call.
    let mut alone = named(FIXTURE);
    neffload_tests::build::edit_json(&mut alone.tree, "sg00/def.json", |def| {
        def["replica_groups"] = serde_json::json!([[[0, 1]]]);
    });
    let fresh = Loader::new(sim());
    let error = fresh.load(&alone.bytes(), &mut Memory::with_arena(4 << 20), &options).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), fresh.device().operations()), ("S704", 0));
    let plain = LoadOptions::default();
    let mut memory = Memory::with_arena(4 << 20);
    let model = fresh.load(&alone.bytes(), &mut memory, &plain).unwrap();
    let used = fresh.acquire(model.h_nn()).unwrap();
    assert_eq!(
        (used.replica_groups(), used.record().replica_groups.count.get()),
        (&[vec![vec![0, 1]]][..], 1)
    );
}
