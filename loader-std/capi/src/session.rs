//! What lives from `nrt_init` to `nrt_close`.

use crate::device::Shared;
use crate::failure::{Answer, Failure};
use crate::handles::{Handle, Handles};
use crate::model::Model;
use crate::set::TensorSet;
use crate::settings::Settings;
use crate::tensor::{Home, Tensor};
use loader_core::device::CoreId;
use loader_std::Loader;
use std::sync::Arc;

/// The device, and the objects that a program made.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) device: Shared,
    pub(crate) loader: Arc<Loader<Shared>>,
    pub(crate) models: Handles<Model>,
    tensors: Handles<Tensor>,
    sets: Handles<TensorSet>,
}

impl Session {
    /// Takes the device.
    pub(crate) fn open(settings: &Settings) -> Answer<Self> {
        let (first, count) = settings.span();
        let device = settings.device.open(first, count)?;
        Ok(Self {
            loader: Arc::new(Loader::new(device.clone())),
            device,
            models: Handles::default(),
            tensors: Handles::default(),
            sets: Handles::default(),
        })
    }

    /// Forgets everything; models leave the device, blocks follow with the last call that uses them.
    pub(crate) fn clear(&self) {
        self.sets.clear();
        self.models.clear();
        self.tensors.clear();
    }

    pub(crate) fn model(&self, handle: Handle) -> Answer<Arc<Model>> {
        self.models.get(handle).ok_or_else(|| Failure::handle("model"))
    }

    /// Unloads a model: it leaves the device with the last call that uses it.
    pub(crate) fn unload(&self, handle: Handle) -> Answer {
        self.models.remove(handle).map(drop).ok_or_else(|| Failure::handle("model"))
    }

    pub(crate) fn tensor(&self, handle: Handle) -> Answer<Arc<Tensor>> {
        self.tensors.get(handle).ok_or_else(|| Failure::handle("tensor"))
    }

    pub(crate) fn set(&self, handle: Handle) -> Answer<Arc<TensorSet>> {
        self.sets.get(handle).ok_or_else(|| Failure::handle("tensor set"))
    }

    /// `nrt_tensor_allocate` on logical core `vnc`; a tensor in host memory needs none.
    pub(crate) fn allocate(
        &self,
        settings: &Settings,
        placement: u32,
        vnc: i32,
        size: u64,
    ) -> Answer<Handle> {
        let home = match placement {
            0 => Home::Device(physical(settings, vnc)?),
            1 => Home::Host,
            2 => return Err(Failure::not_implemented("tensors in virtual memory")),
            other => return Err(Failure::invalid(format_args!("{other} is no tensor placement"))),
        };
        Ok(self.tensors.insert(Tensor::allocate(&self.device, home, size)?))
    }

    pub(crate) fn slice(&self, source: Handle, offset: u64, size: u64) -> Answer<Handle> {
        Ok(self.tensors.insert(self.tensor(source)?.slice(offset, size)?))
    }

    pub(crate) fn free_tensor(&self, handle: Handle) -> Answer {
        self.tensors.remove(handle).map(drop).ok_or_else(|| Failure::handle("tensor"))
    }

    pub(crate) fn new_set(&self) -> Handle {
        self.sets.insert(TensorSet::default())
    }

    pub(crate) fn destroy_set(&self, handle: Handle) -> Answer {
        self.sets.remove(handle).map(drop).ok_or_else(|| Failure::handle("tensor set"))
    }
}

/// First physical core of a logical core that the process may use.
pub(crate) fn physical(settings: &Settings, vnc: i32) -> Answer<CoreId> {
    let core = usize::try_from(vnc).ok().and_then(|index| settings.visible.get(index));
    let core = core.ok_or_else(|| {
        let most = settings.visible.len();
        Failure::invalid(format_args!("there is no logical core {vnc}; this process has {most}"))
    })?;
    Ok(CoreId(core * settings.lnc))
}
