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
use std::marker::PhantomData;
use std::ops::Deref;
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

    /// Forgets everything; models leave the device, the newest first, and all blocks follow.
    pub(crate) fn clear(&self) -> Answer {
        while self.sets.pop().is_some() {}
        while self.models.pop().is_some() {}
        while self.tensors.pop().is_some() {}
        self.device.returned()
    }

    pub(crate) fn model(&self, handle: Handle) -> Answer<Lent<'_, Model>> {
        lent(&self.models, handle, "model")
    }

    /// Unloads a model: it leaves the device with the last call that uses it. The handle means nothing from now on, also
    /// if the driver keeps blocks.
    pub(crate) fn unload(&self, handle: Handle) -> Answer {
        drop(self.models.remove(handle).ok_or_else(|| Failure::handle("model"))?);
        self.device.returned()
    }

    pub(crate) fn tensor(&self, handle: Handle) -> Answer<Lent<'_, Tensor>> {
        lent(&self.tensors, handle, "tensor")
    }

    pub(crate) fn set(&self, handle: Handle) -> Answer<Lent<'_, TensorSet>> {
        lent(&self.sets, handle, "tensor set")
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
            other => {
                let other = other.cast_signed();
                return Err(Failure::invalid(format_args!("{other} is no tensor placement")));
            }
        };
        Ok(self.tensors.insert(Tensor::allocate(&self.device, home, size)?))
    }

    pub(crate) fn slice(&self, source: Handle, offset: u64, size: u64) -> Answer<Handle> {
        Ok(self.tensors.insert(self.tensor(source)?.slice(offset, size)?))
    }

    pub(crate) fn free_tensor(&self, handle: Handle) -> Answer {
        drop(self.tensors.remove(handle).ok_or_else(|| Failure::handle("tensor"))?);
        self.device.returned()
    }

    pub(crate) fn new_set(&self) -> Handle {
        self.sets.insert(TensorSet::default())
    }

    pub(crate) fn destroy_set(&self, handle: Handle) -> Answer {
        self.sets.remove(handle).map(drop).ok_or_else(|| Failure::handle("tensor set"))
    }
}

/// An object that somebody uses while the session lives; freeing its handle meanwhile frees it afterwards.
#[derive(Debug)]
pub(crate) struct Lent<'s, T> {
    object: Arc<T>,
    session: PhantomData<&'s Session>,
}

impl<T> Deref for Lent<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object
    }
}

fn lent<'s, T>(objects: &'s Handles<T>, handle: Handle, kind: &str) -> Answer<Lent<'s, T>> {
    let object = objects.get(handle).ok_or_else(|| Failure::handle(kind))?;
    Ok(Lent { object, session: PhantomData })
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
