//! The std shell of the NEFF loader.

pub mod container;
pub mod environment;
pub mod file;
pub mod info;
pub mod inspect;
pub mod loader;
pub mod members;
pub mod memory;
pub mod pack;

mod chain;
mod refusal;

pub use info::NeffInfo;
pub use loader::{LoadOptions, Loader, Memory, Model};
pub use refusal::Refusal;
