//! The NEFF loader as pure code: every stage from the 1024-byte header to relocated device images,
//! with no operating system, no heap, no `unsafe` and no panicking operation on input.
//!
//! Data flows through five verbs, one module each:
//!
//! | module | stage | turns | into |
//! |---|---|---|---|
//! | [`container`] | S0, S1 | bytes | header, digest verdict, member table |
//! | [`manifest`] | S2 | members | graph, KELF, definitions, engine files |
//! | [`lower`] | S3 | definitions | one `Kbin` record per subgraph |
//! | [`plan`] | S4 | kbins | the place of every variable, table, ring and image |
//! | [`stage`] | S4, S5 | plan | bytes on a [`device::Device`], one `Model` per core |
//!
//! Memory is one caller-given slice, wrapped in an [`arena::Arena`]. Nothing here knows what a file,
//! a thread, a process or an environment variable is: those come in as parameters.
#![no_std]
#![forbid(unsafe_code)]

/// Sizes of the memory layout that this library was built with (`NEFFLOAD_LAYOUT`; the host's by default).
pub mod layout {
    include!(concat!(env!("OUT_DIR"), "/layout.rs"));

    /// Whether small code goes before speed.
    pub(crate) const SMALL: bool = CORE_SMALL == 1;
}

pub mod arch;
pub mod arena;
mod boundary;
mod bytes;
pub mod device;
pub mod error;
pub mod limits;
pub mod policy;
mod sort;
pub mod source;
mod words;

pub mod container;
pub mod json;
pub mod lower;
pub mod manifest;
pub mod plan;
pub mod stage;
