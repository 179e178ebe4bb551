//! A load in fixed memory, from a file to a device: what an image does, apart from how it starts.
//!
//! [`load`] takes a file through all stages as a stream, in the [`Buffers`] that the caller lends. Two arenas
//! keep the need small. The member table has one of its own and lives through the load. The other holds the
//! manifests' tables and then, once the kbins are made and the tables are done with, the device records in
//! their place. So the larger of the two phases counts, not their sum.
//!
//! The five steps of [`stages`] are functions of their own, never inlined: an audit of an image finds them by
//! their names and says what each costs.
#![no_std]
#![forbid(unsafe_code)]
#![allow(
    clippy::result_large_err,
    reason = "a refusal carries its names, and there is no heap to put them on"
)]

mod load;
mod report;
pub mod stages;
mod text;

pub use load::{Buffers, Loaded, Options, Peaks, Refused, load, load_lending};
pub use report::{Verdict, digest_of, print};
pub use text::Text;
