//! The std shell of the NEFF loader.

pub mod container;
pub mod describe;
pub mod environment;
pub mod file;
pub mod find;
pub mod growing;
pub mod info;
pub mod inspect;
pub mod members;
pub mod memory;
pub mod pack;

mod chain;
mod refusal;

pub use info::NeffInfo;
pub use refusal::Refusal;
