//! Devices for the NEFF loader: implementations of [`loader_core::device::Device`].
//!
//! | module | device | needs |
//! |---|---|---|
//! | [`abi`] | the kernel driver's requests and records, as constants | nothing |
//! | [`map`] | the address maps of the three architectures | nothing |
//! | [`sim`] | the deterministic simulated accelerator | nothing: no operating system, no heap |
#![no_std]

#[cfg(feature = "simdrv")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod abi;
pub mod map;
#[cfg(feature = "sim")]
pub mod sim;
#[cfg(feature = "simdrv")]
pub mod simdrv;
