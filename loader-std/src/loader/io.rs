//! Inputs and outputs of a model, independent of the memory it was loaded in.

use loader_core::manifest::{IoMaps, Tensor};

/// An input or output as the graph manifest describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoTensor {
    /// Its name.
    pub name: Vec<u8>,
    /// The model writes it; else it reads it.
    pub output: bool,
    /// Public dtype code (manifests.md §14.1); 0 is unknown.
    pub dtype: u8,
    /// Extents, outermost first; empty for a scalar.
    pub shape: Vec<u32>,
    /// Bytes.
    pub size: u64,
}

impl IoTensor {
    fn new(tensor: &Tensor<'_>, output: bool) -> Self {
        Self {
            name: tensor.name.to_vec(),
            output,
            dtype: tensor.dtype_code,
            shape: tensor.shape.iter().map(|extent| extent.get()).collect(),
            size: tensor.size,
        }
    }

    /// Inputs by name, then outputs by name.
    pub(super) fn all(io: &IoMaps<'_>) -> Vec<Self> {
        let inputs = io.inputs().map(|tensor| Self::new(&tensor, false));
        inputs.chain(io.outputs().map(|tensor| Self::new(&tensor, true))).collect()
    }
}
