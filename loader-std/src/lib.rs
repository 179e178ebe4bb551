//! The std shell of the NEFF loader.

pub mod cache;
pub mod pack;
pub mod runtime;
