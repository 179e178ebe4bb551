//! The std shell of the NEFF loader.

pub mod cache;
pub mod container;
pub mod file;
pub mod pack;
pub mod runtime;
