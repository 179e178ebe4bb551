//! The std shell of the NEFF loader.

pub mod container;
pub mod describe;
pub mod file;
pub mod pack;
