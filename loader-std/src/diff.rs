//! What differs between two files, from the header to the descriptors.
//!
//! A [`Snapshot`] holds what a loader sees of one file, everything by name: variable ids, which move when a
//! variable is added, are not taken for differences of what refers to them. [`compare`] gives the differences.
//!
//! ```
//! use loader_std::diff::{Snapshot, compare};
//!
//! let file = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/cayman-2core.neff"))?;
//! let snapshot = Snapshot::of(&mut &file[..], |_| {})?;
//! assert!(compare(&snapshot, &snapshot).equal);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blocks;
mod compare;
mod edges;
mod slots;
mod snapshot;
mod staged;
mod values;

pub use compare::{Block, Blocks, Comparison, Constant, Shift, Stream, Subgraph, compare};
pub use slots::{Replaced, replaced};
pub use snapshot::Snapshot;
pub use values::{Changed, Difference, Names};
