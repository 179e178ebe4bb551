//! The conformance cases of the kernel driver's interface, by number (driver-abi.md §20).
//!
//! Each case runs twice where that makes sense: straight against the simulated driver's state machine, and
//! through real `openat`, `ioctl`, `mmap` and `close` calls of a thread under a seccomp filter. The second run
//! is skipped with a printed reason where the kernel has no user notification.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod a_open;
mod b_identity;
mod c_claims;
mod d_reset;
mod e_alloc;
mod f_maps;
mod g_copies;
mod h_engines;
mod i_notify;
mod j_queues;
mod k_encoding;
mod l_lifetime;
mod loads;
mod m_loads;
mod n_device;
mod o_memory;
mod program;
mod real;
mod rig;
mod suite;
