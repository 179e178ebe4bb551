//! The kernel driver's interface as constants and records (driver-abi.md §3 to §6, §15, §16).
//!
//! Shared by the real device ([`crate::neuron`]) and the simulated driver: no behaviour, only numbers.

pub mod errno;
pub mod record;
pub mod request;
pub mod value;
