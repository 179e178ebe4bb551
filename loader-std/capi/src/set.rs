//! Tensor sets: tensors by name.

use crate::handles::Handle;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names with the handles of their tensors. A tensor that is freed stays in its sets as a name without one.
#[derive(Debug, Default)]
pub(crate) struct TensorSet(Mutex<BTreeMap<Vec<u8>, Handle>>);

impl TensorSet {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, Handle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a tensor, or replaces the one of that name.
    pub(crate) fn add(&self, name: &[u8], tensor: Handle) {
        self.lock().insert(name.to_vec(), tensor);
    }

    /// The tensor of that name.
    pub(crate) fn get(&self, name: &[u8]) -> Option<Handle> {
        self.lock().get(name).copied()
    }
}
