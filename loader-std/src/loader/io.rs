//! Inputs and outputs of a registered model, by name.

use loader_core::manifest::{IoMaps, Tensor};
use loader_core::plan::record::IoInfo;

/// An input or output: its name and what is known of it. Outlives the memory of the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoEntry {
    /// Name, the same for all cores.
    pub name: Box<[u8]>,
    /// Size, element type and shape.
    pub info: IoInfo,
}

/// Inputs and outputs of a graph, each by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Io {
    pub(super) inputs: Vec<IoEntry>,
    pub(super) outputs: Vec<IoEntry>,
}

impl Io {
    pub(super) fn of(maps: &IoMaps<'_>) -> Self {
        let inputs = maps.inputs().map(IoEntry::of).collect();
        Self { inputs, outputs: maps.outputs().map(IoEntry::of).collect() }
    }
}

impl IoEntry {
    fn of(tensor: Tensor<'_>) -> Self {
        let mut info = IoInfo {
            size: tensor.size.into(),
            dtype: u32::from(tensor.dtype_code).into(),
            ndim: u32::try_from(tensor.shape.len()).unwrap_or(u32::MAX).into(),
            ..IoInfo::default()
        };
        // A shape of more than 32 extents does not come from any manifest: S2 refuses it.
        for (slot, extent) in info.shape.iter_mut().zip(tensor.shape) {
            *slot = *extent;
        }
        Self { name: tensor.name.into(), info }
    }
}
