//! What an execution does to the device, seen from the inside.

use crate::execute;
use crate::library::Library;
use crate::model::{Bind, load};
use crate::session::Session;
use crate::settings::Settings;
use loader_core::device::Device;
use neffload_tests::build::edit_json;
use neffload_tests::fixtures::named;

/// A library on the default device, initialised.
fn library() -> Library {
    let library = Library::new(Settings::read(|_| None).unwrap());
    library.init(1).unwrap();
    library
}

fn fixture() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/cayman-2core.neff");
    std::fs::read(path).unwrap()
}

fn word(session: &Session, bind: &Bind) -> u64 {
    let mut bytes = [0; 8];
    session.device.read(bind.block, bind.at, &mut bytes).unwrap();
    u64::from_le_bytes(bytes)
}

#[test]
fn an_execution_writes_addresses_over_every_template() {
    let library = library();
    let session = library.session().unwrap();
    let before = session.device.hash();
    let handle = load(&library, Some(&fixture()), -1, -1, None).unwrap();
    let model = session.model(handle).unwrap();
    let binds = || model.cores.iter().flat_map(|core| &core.binds);
    assert_eq!(binds().count(), 6, "three operands at each core");
    assert!(binds().all(|bind| word(&session, bind) >> 61 == 1), "templates");

    let [inputs, outputs] = [(); 2].map(|()| session.set(session.new_set()).unwrap());
    let mut tensors = Vec::new();
    for tensor in &model.io {
        let handle = session.allocate(&library.settings, 0, 1, tensor.size).unwrap();
        tensors.push(handle);
        if tensor.output { &outputs } else { &inputs }.add(&tensor.name, handle);
    }
    let loaded = session.device.hash();
    assert!(execute::bind(&session, &model, &outputs, &inputs).is_err(), "the sets are swapped");
    assert_eq!(session.device.hash(), loaded, "a refused execution writes nothing");

    execute::bind(&session, &model, &inputs, &outputs).unwrap();
    for core in &model.cores {
        for bind in &core.binds {
            let mut features = core.inputs.iter().chain(&core.outputs);
            let feature = features.find(|feature| feature.var == bind.var).unwrap();
            let of_set = inputs.get(&feature.name).or(outputs.get(&feature.name)).unwrap();
            let address = session.tensor(of_set).unwrap().address().0;
            assert_eq!(word(&session, bind), address + bind.offset);
        }
    }
    for tensor in tensors {
        session.free_tensor(tensor).unwrap();
    }
    drop(model);
    session.unload(handle).unwrap();
    assert_eq!(session.device.hash(), before, "everything was given back");
}

#[test]
fn a_close_takes_everything_off_the_device() {
    let library = library();
    let session = library.session().unwrap();
    let empty = session.device.hash();
    load(&library, Some(&fixture()), 2, -1, None).unwrap();
    session.allocate(&library.settings, 0, 0, 100).unwrap();
    assert_ne!(session.device.hash(), empty);
    library.close().unwrap();
    assert_eq!(session.device.hash(), empty);
    assert_eq!(library.session().unwrap_err().status.number(), 13);
    assert_eq!(library.runtime().cores_in_use(), 0);
}

#[test]
fn logical_cores_run_out_and_come_back() {
    let library = library();
    let session = library.session().unwrap();
    let file = fixture();
    let loads: Vec<_> = (0..4).map(|_| load(&library, Some(&file), -1, -1, None).unwrap()).collect();
    let cores: Vec<_> = loads.iter().map(|handle| session.model(*handle).unwrap().vnc).collect();
    assert_eq!(cores, [0, 1, 2, 3]);
    assert_eq!(load(&library, Some(&file), -1, -1, None).unwrap_err().status.number(), 9);
    session.unload(loads[2]).unwrap();
    let again = load(&library, Some(&file), -1, -1, None).unwrap();
    assert_eq!(session.model(again).unwrap().vnc, 2);
}

#[test]
fn a_collective_load_asks_for_its_communicator() {
    let file = fixture();
    let refused = load(&library(), Some(&file), -1, -1, Some((0, 2))).unwrap_err();
    assert!(refused.text.contains("NEURON_RT_ROOT_COMM_ID"), "{}", refused.text);
    let settings = Settings::read(|name| (name == "NEURON_RT_ROOT_COMM_ID").then(|| "10.0.0.1:1".into()));
    let library = Library::new(settings.unwrap());
    library.init(1).unwrap();
    for (rank, world) in [(2, 2), (0, 0), (0, 65_537), (u32::MAX, u32::MAX)] {
        let refused = load(&library, Some(&file), -1, -1, Some((rank, world))).unwrap_err();
        assert_eq!(refused.status.number(), 2);
        assert!(refused.text.starts_with("S703 "), "{}", refused.text);
    }
    load(&library, Some(&file), -1, -1, Some((1, 2))).unwrap();
}

/// A library whose environment names that root communicator.
fn communicating(root: &'static str) -> Library {
    let settings = Settings::read(|name| (name == "NEURON_RT_ROOT_COMM_ID").then(|| root.into()));
    let library = Library::new(settings.unwrap());
    library.init(1).unwrap();
    library
}

#[test]
fn a_root_communicator_is_a_host_and_a_port() {
    let file = fixture();
    for root in ["localhost", "host:", "h:0", "h:99999", "a b:99999", ":1", "h:+1"] {
        let library = communicating(root);
        let refused = load(&library, Some(&file), -1, -1, Some((0, 2))).unwrap_err();
        assert_eq!((refused.status.number(), &refused.text[..5]), (2, "S702 "), "{root}: {}", refused.text);
        // It is asked before the file.
        let refused = load(&library, None, -1, -1, Some((0, 2))).unwrap_err();
        assert!(refused.text.starts_with("S702 "), "{}", refused.text);
        assert_eq!(library.runtime().cores_in_use(), 0);
        // A load without collectives does not ask.
        load(&library, Some(&file), -1, -1, None).unwrap();
    }
    load(&communicating("[::1]:2000"), Some(&file), -1, -1, Some((0, 2))).unwrap();
}

#[test]
fn replica_groups_and_pairs_are_judged_by_a_collective_load() {
    let library = communicating("10.0.0.1:1234");
    let session = library.session().unwrap();
    let with = |groups: &str, pairs: &str| {
        let mut fixture = named("cayman-2core");
        edit_json(&mut fixture.tree, "sg00/def.json", |definition| {
            definition["replica_groups"] = groups.parse().unwrap();
            definition["src_target_pairs"] = pairs.parse().unwrap();
        });
        fixture.bytes()
    };
    let ask = |file: &[u8], ranks| match load(&library, Some(file), -1, -1, ranks) {
        Ok(handle) => {
            session.unload(handle).unwrap();
            String::new()
        }
        Err(refused) => {
            assert_eq!(refused.status.number(), 2, "{}", refused.text);
            refused.text[..4].to_owned()
        }
    };
    let [twelve, thirteen] = [12, 13].map(|count| format!("[{}]", vec!["[[3]]"; count].join(",")));
    let cases: [(&str, &str, &str); 15] = [
        ("[]", "[]", ""),
        ("[[]]", "[]", ""),
        ("[[[]]]", "[]", ""),
        ("[[[0,1],[2,3]]]", "[]", ""),
        ("[[[0,1,2]]]", "[]", "S704"),
        ("[[[0,1],[2,3]],[[0,1,2]]]", "[]", "S704"),
        ("[[[0,3,4]]]", "[]", "S705"),
        ("[[[0,3,3]]]", "[]", "S706"),
        ("[[[0,3],[3,1]]]", "[]", "S706"),
        (&twelve, "[]", ""),
        (&thirteen, "[]", "S708"),
        ("[]", "[[[0,1],[1,0]]]", ""),
        ("[]", "[[[0,1],[0,2]]]", "S707"),
        ("[]", "[[[0,1],[2,1]]]", "S707"),
        ("[]", "[[[0,4]]]", "S705"),
    ];
    let empty = session.device.hash();
    for (groups, pairs, code) in cases {
        let file = with(groups, pairs);
        assert_eq!(ask(&file, Some((3, 4))), code, "{groups} {pairs}");
        assert_eq!(ask(&file, None), "", "without collectives nobody asks");
        assert_eq!(session.device.hash(), empty);
    }
}

#[test]
fn sessions_follow_each_other_with_handles_of_their_own() {
    let library = library();
    let file = fixture();
    let old = load(&library, Some(&file), -1, -1, None).unwrap();
    library.close().unwrap();
    library.init(0).unwrap();
    let new = load(&library, Some(&file), -1, -1, None).unwrap();
    assert_ne!(old, new);
    assert_eq!(library.session().unwrap().unload(old).unwrap_err().status.number(), 3);
}
