//! The std shell of the NEFF loader.

pub mod info;
pub mod members;
pub mod memory;

mod chain;
mod refusal;

pub use info::NeffInfo;
pub use refusal::Refusal;
