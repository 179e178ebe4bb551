//! gzip: framing by hand around a deflate decoder with a fixed window (container.md §9).

mod crc;
mod header;
mod layer;

pub use layer::Layer;
