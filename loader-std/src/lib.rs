//! The std shell of the NEFF loader.

pub mod cache;
pub mod container;
pub mod device;
pub mod diff;
pub mod disasm;
pub mod dump;
pub mod environment;
pub mod file;
pub mod find;
pub mod growing;
pub mod inflate;
pub mod info;
pub mod inspect;
pub mod loader;
pub mod members;
pub mod memory;
pub mod needs;
pub mod pack;
pub mod report;
pub mod room;
pub mod runtime;
pub mod sidecars;
pub mod verdict;
pub mod walk;

mod chain;
mod refusal;

pub use info::NeffInfo;
pub use loader::{LoadError, LoadOptions, Loader, Memory, Model};
pub use refusal::Refusal;
