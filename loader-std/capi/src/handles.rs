//! Tables of handles: numbers that stand for objects and are given to a program as pointers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A number that a program holds as a pointer; never 0, never used twice in a process.
pub(crate) type Handle = usize;

/// Low enough to lie below every mapping, so that whoever dereferences a handle learns it at once.
static NEXT: AtomicUsize = AtomicUsize::new(0x100);

/// Objects by handle.
#[derive(Debug)]
pub(crate) struct Handles<T>(Mutex<BTreeMap<Handle, Arc<T>>>);

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Handles<T> {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Handle, Arc<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an object and gives its handle.
    pub(crate) fn insert(&self, object: T) -> Handle {
        let handle = NEXT.fetch_add(0x10, Ordering::Relaxed);
        self.lock().insert(handle, Arc::new(object));
        handle
    }

    /// The object, which lives on while it is held.
    pub(crate) fn get(&self, handle: Handle) -> Option<Arc<T>> {
        self.lock().get(&handle).cloned()
    }

    /// Takes an object out; its handle means nothing from now on.
    pub(crate) fn remove(&self, handle: Handle) -> Option<Arc<T>> {
        self.lock().remove(&handle)
    }

    /// Takes the newest object out.
    pub(crate) fn pop(&self) -> Option<Arc<T>> {
        self.lock().pop_last().map(|(_, object)| object)
    }
}
