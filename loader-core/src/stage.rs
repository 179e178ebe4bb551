//! S4, second half, and S5: bytes on a device (staging.md §9 to §11, §13, §14).
//!
//! [`stage`] fills a placed model core by core; [`fill_core`] fills one core and may run on a thread of
//! its own, since every block was taken before. [`unload`] gives everything back.

pub mod collectives;
mod constants;
mod fill;
mod image;
pub mod pointers;
pub mod register;
mod rings;
mod write;

pub use fill::{SCRATCH_BYTES, fill_core, stage, unload};
