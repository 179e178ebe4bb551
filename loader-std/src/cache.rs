//! The parse cache (TNC): loads of one file at the same time share one run of S1 and S2
//! (container.md §12, staging.md §15).
//!
//! One slot, no eviction. Whoever comes to the free slot first creates the record; who comes with the
//! same key meanwhile waits and then shares it; everybody else parses alone and leaves the slot as it
//! is. The record lives while at least one load holds it and is gone after the last. Only the parse is
//! shared: device memory, model records and registry entries belong to each load.
//!
//! | slot | same key | other key |
//! |---|---|---|
//! | [`State::Uninit`] | create | create |
//! | [`State::Pending`] | wait; then share, or go alone if the creator failed | go alone |
//! | [`State::Ready`] | share | go alone |
//! | [`State::Failed`] | go alone | go alone |
//!
//! READY is set by [`Creator::publish`], which is to be called after S2, so that a file without manifests
//! counts as a failed creation (container.md §12, Open Q6). A creator that returns an error, is dropped or
//! panics has failed; it wakes every waiter, and each gives its own count back and parses for itself.
//!
//! ```
//! use loader_std::cache::{Key, KeyPolicy, ParseCache, Role};
//!
//! let cache: ParseCache<Key, Vec<u8>> = ParseCache::new();
//! let key = Key::new(KeyPolicy::UuidAndContent, [7; 16], [0; 32], 10240);
//! let first = cache.load(key, || Ok::<_, ()>(vec![1, 2, 3]))?;
//! let second = cache.load(key, || Err(()))?;
//! assert_eq!((first.role(), second.role()), (Role::Creator, Role::Reuse { waited: false }));
//! assert_eq!(**second, [1, 2, 3]);
//! # Ok::<(), ()>(())
//! ```
//!
//! The key says which loads may share. If loads of one process differ in limits or policy, make those
//! part of it: `ParseCache<(Key, Policy), Parsed>`.

mod key;
mod shared;
mod slot;
mod sync;

pub use key::{Key, KeyPolicy};
pub use shared::{Creator, Entry, ParseCache, Parsed};
pub use slot::{Role, Snapshot, State};

#[cfg(test)]
mod tests;
