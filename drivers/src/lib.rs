//! Devices for the NEFF loader: implementations of [`loader_core::device::Device`].
//!
//! | module | device | needs |
//! |---|---|---|
//! | [`sim`] | the deterministic simulated accelerator | nothing: no operating system, no heap |
#![no_std]

#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "sim")]
pub mod sim;
