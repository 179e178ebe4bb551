//! The std shell of the NEFF loader.

pub mod pack;
