//! gzip: framing by hand around a deflate decoder with a fixed window (container.md §9).

mod crc;
mod header;
mod inflate;
mod layer;

pub(crate) use header::{FIXED as HEADER_BYTES, Header, Seen};
pub use inflate::{Inflate, Inflated, Oxide, Stop};
pub(crate) use layer::Damage;
pub use layer::Layer;

/// The reference's decoding window (container.md §9.3, Confirmed).
pub(crate) const WINDOW: u64 = 65536;
