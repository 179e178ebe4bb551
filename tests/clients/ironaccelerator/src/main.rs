//! Finds the device and loads a file through `ironaccelerator-neuron`, which opens `libnrt.so.1` at run time,
//! initialises it with two arguments and framework 0, and asks for the version with a buffer of 128 bytes.

use ironaccelerator_core::Backend;
use ironaccelerator_neuron::runtime::{Model, NeuronError, TensorSet};
use ironaccelerator_neuron::{NEURON_BACKEND, drv};

fn main() {
    let path = std::env::args().nth(1).expect("usage: client-ironaccelerator FILE");
    let file = std::fs::read(path).expect("the file can be read");
    assert!(NEURON_BACKEND.is_available(), "the library is found and starts");
    assert_eq!(drv::total_cores(), 4);
    assert!(drv::version().is_some());
    let devices = NEURON_BACKEND.enumerate().unwrap();
    assert_eq!(devices.len(), 4);
    assert!(NEURON_BACKEND.capabilities(3).is_ok() && NEURON_BACKEND.capabilities(4).is_err());

    let model = Model::load(&file, 0, -1).expect("the model loads");
    let (inputs, outputs) = (TensorSet::new().unwrap(), TensorSet::new().unwrap());
    // Its tensor sets cannot be filled without tensors, which the crate does not wrap: a name is missing.
    assert!(matches!(model.execute(&inputs, &outputs), Err(NeuronError::Runtime(2))));
    assert!(matches!(Model::load(&file[..2000], 0, -1), Err(NeuronError::Runtime(status)) if status != 0));
    println!("done");
}
