//! Inputs and outputs of a registered model, by name.

use crate::room::{self, Full};
use loader_core::error::{Error, Stage};
use loader_core::manifest::{IoMaps, Tensor};
use loader_core::plan::record::IoInfo;
use std::sync::Arc;

/// An input or output: its name and what is known of it. Outlives the memory of the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoEntry {
    /// Name, the same for all cores.
    pub name: Box<[u8]>,
    /// Size, element type and shape.
    pub info: IoInfo,
}

/// Inputs and outputs of a graph, each by name; copies share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Io {
    pub(super) inputs: Arc<Vec<IoEntry>>,
    pub(super) outputs: Arc<Vec<IoEntry>>,
}

impl Io {
    /// # Errors
    /// The host has no memory for them.
    pub(super) fn of(maps: &IoMaps<'_>) -> Result<Self, Error> {
        let entries = |tensors: &mut dyn Iterator<Item = Tensor<'_>>| {
            room::try_collect(tensors.map(IoEntry::of))
                .map(Arc::new)
                .map_err(|full| full.error(Stage::Manifest, "the inputs and outputs"))
        };
        Ok(Self { inputs: entries(&mut maps.inputs())?, outputs: entries(&mut maps.outputs())? })
    }
}

impl IoEntry {
    fn of(tensor: Tensor<'_>) -> Result<Self, Full> {
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
        Ok(Self { name: room::copy(tensor.name)?.into_boxed_slice(), info })
    }
}
