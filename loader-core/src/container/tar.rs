//! The tar walk (container.md §10).

mod sparse;

pub use sparse::Extent;
