//! Loads a file through `neuronx`, whose bindings were made from this project's headers.

use neuronx::{DType, Error, Placement, Runtime, TensorInfo, TensorSet, TensorUsage};

fn main() {
    let path = std::env::args().nth(1).expect("usage: client-neuronx FILE");
    let file = std::fs::read(path).expect("the file can be read");
    let runtime = Runtime::new().expect("the runtime starts");
    let model = runtime.load(&file, -1).expect("the model loads");
    assert_eq!(model.vnc_count().unwrap(), 1);
    let info = model.tensor_info().unwrap();
    let expected = |name: &str, usage, size, shape: [usize; 2]| TensorInfo {
        name: name.to_owned(),
        usage,
        size,
        dtype: Some(DType::BF16),
        shape: shape.to_vec(),
    };
    assert_eq!(
        info,
        [
            expected("x", TensorUsage::Input, 65536, [128, 256]),
            expected("y", TensorUsage::Input, 65536, [128, 256]),
            expected("output0", TensorUsage::Output, 32768, [128, 128]),
        ]
    );
    let tensors: Vec<_> = info
        .iter()
        .map(|tensor| runtime.allocate(Placement::Device, 0, tensor.size, &tensor.name).unwrap())
        .collect();
    let (mut inputs, mut outputs) = (TensorSet::new().unwrap(), TensorSet::new().unwrap());
    for (tensor, place) in info.iter().zip(&tensors) {
        let set = if tensor.usage == TensorUsage::Input { &mut inputs } else { &mut outputs };
        set.add(&tensor.name, place).unwrap();
    }
    match model.execute(&inputs, &mut outputs) {
        Err(Error::Nrt { op: "nrt_execute", status: 1, msg }) => assert_eq!(msg, "NRT_FAILURE"),
        other => panic!("there is no engine, yet: {other:?}"),
    }
    match runtime.load(&file[..file.len() / 2], -1) {
        Err(Error::Nrt { op: "nrt_load", status, .. }) => assert_ne!(status, 0),
        other => panic!("half a file: {other:?}"),
    }
    println!("done");
}
