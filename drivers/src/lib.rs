//! Devices for the NEFF loader: implementations of [`loader_core::device::Device`].
//!
//! | module | device | needs |
//! |---|---|---|
//! | [`abi`] | the kernel driver's requests and records, as constants | nothing |
//! | [`map`] | the address maps of the three architectures | nothing |
//! | `neuron` | the accelerator behind the kernel driver | Linux; the C library is optional |
//! | `simdrv` | the simulated kernel driver, behind the same requests | a heap |
//! | `host` | none: what memory is left, that a file may be too large, a closed output | the C library of a Unix |
//! | `harness` | the simulated kernel driver behind real system calls | Linux with seccomp user notification |
//! | [`sim`] | the deterministic simulated accelerator | nothing: no operating system, no heap |
#![no_std]

#[cfg(feature = "simdrv")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod abi;
#[cfg(any(feature = "neuron", feature = "sim"))]
mod bytes;
#[cfg(feature = "harness")]
pub mod harness;
#[cfg(feature = "std")]
pub mod host;
pub mod map;
#[cfg(feature = "neuron")]
pub mod neuron;
#[cfg(feature = "sim")]
pub mod sim;
#[cfg(feature = "simdrv")]
pub mod simdrv;
