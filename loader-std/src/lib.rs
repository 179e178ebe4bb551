//! The std shell of the NEFF loader.

pub mod container;
pub mod file;
pub mod find;
pub mod pack;
