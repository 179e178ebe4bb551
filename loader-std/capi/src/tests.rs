//! What an execution does to the device, seen from the inside.

use crate::execute;
use crate::library::Library;
use crate::model::{Bind, load};
use crate::session::Session;
use crate::settings::Settings;
use loader_core::device::Device;

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
    assert_eq!(load(&library, Some(&file), -1, -1, Some((2, 2))).unwrap_err().status.number(), 2);
    load(&library, Some(&file), -1, -1, Some((1, 2))).unwrap();
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
