//! The primitives that the cache is built on, in one place: `tests/cache_loom.rs` compiles [`super::slot`] and
//! [`super::shared`] a second time with loom's in their stead.

pub(super) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
