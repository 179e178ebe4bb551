//! What an execution does to the device, seen from the inside.

use crate::execute;
use crate::library::Library;
use crate::model::{Bind, IoTensor, load};
use crate::session::Session;
use crate::settings::Settings;
use crate::tensor::PIECE;
use crate::tensor_info;
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
    let device = library.session().unwrap().device.clone();
    let empty = device.hash();
    load(&library, Some(&fixture()), 2, -1, None).unwrap();
    library.session().unwrap().allocate(&library.settings, 0, 0, 100).unwrap();
    assert_ne!(device.hash(), empty);
    library.close().unwrap();
    assert_eq!(device.hash(), empty);
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

#[test]
fn a_close_waits_for_the_calls_of_other_threads() {
    let library = library();
    let device = library.session().unwrap().device.clone();
    let empty = device.hash();
    let (file, started) = (fixture(), std::sync::Barrier::new(2));
    std::thread::scope(|scope| {
        let session = library.session().unwrap();
        let closing = scope.spawn(|| {
            started.wait();
            library.close().unwrap();
            assert_eq!(device.hash(), empty, "nothing is on the device when a close returns");
        });
        started.wait();
        // Until the close has begun, loads go on; then they are refused.
        let refused =
            std::iter::repeat_with(|| load(&library, Some(&file), 0, -1, None)).find_map(Result::err);
        assert_eq!(refused.unwrap().status.number(), 14);
        assert!(!closing.is_finished(), "this call has not ended");
        session.allocate(&library.settings, 0, 0, 100).unwrap();
        drop(session);
        closing.join().unwrap();
    });
    assert_eq!(library.session().unwrap_err().status.number(), 13);
}

#[test]
fn refusals_of_device_memory_say_what_was_asked_for() {
    let library = library();
    let session = library.session().unwrap();
    let refused = |placement, size| session.allocate(&library.settings, placement, 0, size).unwrap_err();
    let device = refused(0, 1 << 40);
    assert_eq!(device.status.number(), 4);
    let text = "D101 device memory is exhausted: 1099511627776 bytes asked for, alignment 64, usage TENSOR; ";
    assert!(device.text.starts_with(text), "{}", device.text);
    let host = refused(1, 64 << 40);
    assert_eq!(host.status.number(), 11, "staging.md section 4");
    let text = "D110 the device's host memory is exhausted: 70368744177664 bytes asked for, usage TENSOR; ";
    assert!(host.text.starts_with(text), "{}", host.text);
}

#[test]
fn a_copy_within_a_tensor_reads_before_it_writes() {
    let library = library();
    let session = library.session().unwrap();
    let size = 3 * PIECE as u64 + 17;
    let tensor = session.allocate(&library.settings, 1, 0, size).unwrap();
    let tensor = session.tensor(tensor).unwrap();
    let pattern = |at: u64| (at % 251) as u8;
    for (from, to) in [(0, 5), (5, 0), (PIECE as u64 + 3, 0), (0, PIECE as u64 + 3), (9, 9)] {
        let count = size - from.max(to);
        let fill = |place: u64, piece: &mut [u8]| {
            piece.iter_mut().zip(place..).for_each(|(byte, at)| *byte = pattern(at));
        };
        tensor.write(0, size, fill).unwrap();
        tensor.copy(from, &tensor, to, count).unwrap();
        let mut wrong = 0;
        let moved = |at: u64| if (to..to + count).contains(&at) { at - to + from } else { at };
        tensor
            .read(0, size, |place, piece| {
                wrong += piece.iter().zip(place..).filter(|(byte, at)| **byte != pattern(moved(*at))).count();
            })
            .unwrap();
        assert_eq!(wrong, 0, "{from} to {to}");
    }
}

#[test]
fn numbers_keep_their_signs() {
    let library = library();
    let file = fixture();
    let text = |vnc| load(&library, Some(&file), vnc, -1, None).unwrap_err().text;
    assert!(text(-2).starts_with("C110 logical core -2 does not exist"), "{}", text(-2));
    assert!(text(i32::MIN).contains(" -2147483648 does"), "{}", text(i32::MIN));
    assert!(text(4).contains("logical core 4 does not exist"), "{}", text(4));
    let framework = library.init(u32::MAX).unwrap_err().text;
    assert!(framework.starts_with("-1 is no framework type"), "{framework}");
    let session = library.session().unwrap();
    let placement = session.allocate(&library.settings, u32::MAX, 0, 1).unwrap_err().text;
    assert!(placement.starts_with("-1 is no tensor placement"), "{placement}");
}

/// A graph with an operator of the host before the program: its own input has another name than the program's.
#[test]
fn a_program_can_bind_what_the_tensor_information_lists() {
    let mut file = named("cayman-2core");
    edit_json(&mut file.tree, "neff.json", |graph| {
        for node in graph["nodes"].as_array_mut().unwrap() {
            if node["name"] == "x" {
                node["name"] = "data".into();
            }
        }
    });
    for (bytes, inputs) in [(fixture(), ["x", "y"]), (file.bytes(), ["x", "y"])] {
        let library = library();
        let session = library.session().unwrap();
        let handle = load(&library, Some(&bytes), -1, -1, None).unwrap();
        let model = session.model(handle).unwrap();
        let listed = model.io.iter().filter(|tensor| !tensor.output);
        let listed: Vec<_> = listed.map(|tensor| String::from_utf8_lossy(&tensor.name)).collect();
        assert_eq!(listed, inputs);
        let [inputs, outputs] = [(); 2].map(|()| session.set(session.new_set()).unwrap());
        for tensor in &model.io {
            let handle = session.allocate(&library.settings, 0, 0, tensor.size).unwrap();
            if tensor.output { &outputs } else { &inputs }.add(&tensor.name, handle);
        }
        execute::bind(&session, &model, &inputs, &outputs).unwrap();
    }
}

/// Two inputs of one program under other names, long as they may be.
fn renamed(x: &str, y: &str) -> Vec<u8> {
    let mut file = named("cayman-2core");
    for (_, bytes) in file.tree.iter_mut().filter(|(member, _)| member.ends_with(".json")) {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let quoted = |name: &str| format!("\"{}\"", name.replace('\0', "\\u0000"));
        let text = text.replace(&quoted("x"), &quoted(x)).replace(&quoted("y"), &quoted(y));
        *bytes = text.into_bytes();
    }
    file.bytes()
}

/// A tensor of the size that an input or output takes, under its own name.
fn fill(library: &Library, session: &Session, io: &[IoTensor]) -> [usize; 2] {
    let sets = [(); 2].map(|()| session.new_set());
    for tensor in io {
        let handle = session.allocate(&library.settings, 0, 0, tensor.size).unwrap();
        session.set(sets[usize::from(tensor.output)]).unwrap().add(&tensor.name, handle);
    }
    sets
}

#[test]
fn a_name_of_255_bytes_is_carried_whole() {
    let (x, y) = ("i".repeat(255), "i".repeat(254));
    let library = library();
    let session = library.session().unwrap();
    let handle = load(&library, Some(&renamed(&x, &y)), -1, -1, None).unwrap();
    let model = session.model(handle).unwrap();
    let [inputs, outputs] = fill(&library, &session, &model.io).map(|set| session.set(set).unwrap());
    execute::bind(&session, &model, &inputs, &outputs).unwrap();
    assert!(tensor_info::take_back(tensor_info::lend(&model.io).unwrap()));
}

/// A name with a zero byte would end there in records and in the interface: the load refuses it.
#[test]
fn a_name_with_a_zero_byte_is_not_loaded() {
    let library = library();
    let refused = load(&library, Some(&renamed("in\0put", "in")), -1, -1, None).unwrap_err();
    assert_eq!(refused.status.number(), 2);
    assert!(refused.text.starts_with("E324 "), "{}", refused.text);
}

/// Names that the interface cannot carry are refused by name, and two that agree as far as it goes stay two.
#[test]
fn names_that_do_not_fit_are_refused_and_never_merged() {
    let long = "i".repeat(300);
    for (x, y, which) in [
        (format!("{long}a"), format!("{long}b"), "301 bytes"),
        ("é".repeat(128), "z".to_owned(), "256 bytes"),
    ] {
        let library = library();
        let session = library.session().unwrap();
        let handle = load(&library, Some(&renamed(&x, &y)), -1, -1, None).unwrap();
        let model = session.model(handle).unwrap();
        let names: Vec<&[u8]> = model.io.iter().filter(|tensor| !tensor.output).map(|t| &*t.name).collect();
        assert!(names.contains(&x.as_bytes()) && names.contains(&y.as_bytes()) && names.len() == 2);
        let refused = tensor_info::lend(&model.io).unwrap_err();
        assert_eq!(refused.status.number(), 2);
        assert!(refused.text.contains(which), "{}", refused.text);
        // The names as a program can give them: as far as the field goes.
        let [inputs, outputs] = fill(&library, &session, &model.io).map(|set| session.set(set).unwrap());
        let size = model.io.iter().map(|tensor| tensor.size).max().unwrap();
        let handle = session.allocate(&library.settings, 0, 0, size).unwrap();
        for name in [x.as_bytes(), y.as_bytes()] {
            inputs.add(&name[..name.len().min(255)], handle);
        }
        let refused = execute::bind(&session, &model, &inputs, &outputs).unwrap_err();
        assert_eq!(refused.status.number(), 2);
        assert!(refused.text.contains(which), "{}", refused.text);
    }
}
