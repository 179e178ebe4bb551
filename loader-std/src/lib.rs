//! The std shell of the NEFF loader.

pub mod describe;
pub mod pack;
