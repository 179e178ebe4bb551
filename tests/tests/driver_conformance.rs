//! The conformance cases of the kernel driver's interface, by number (driver-abi.md §20).
//!
//! Each case runs twice where that makes sense: straight against the simulated driver's state machine, and
//! through real `openat`, `ioctl`, `mmap` and `close` calls of a thread under a seccomp filter. The second run
//! is skipped with a printed reason where the kernel has no user notification.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

#[path = "driver/a_open.rs"]
mod a_open;
#[path = "driver/b_identity.rs"]
mod b_identity;
#[path = "driver/c_claims.rs"]
mod c_claims;
#[path = "driver/d_reset.rs"]
mod d_reset;
#[path = "driver/e_alloc.rs"]
mod e_alloc;
#[path = "driver/f_maps.rs"]
mod f_maps;
#[path = "driver/g_copies.rs"]
mod g_copies;
#[path = "driver/h_engines.rs"]
mod h_engines;
#[path = "driver/i_notify.rs"]
mod i_notify;
#[path = "driver/j_queues.rs"]
mod j_queues;
#[path = "driver/k_encoding.rs"]
mod k_encoding;
#[path = "driver/l_lifetime.rs"]
mod l_lifetime;
#[path = "driver/loads.rs"]
mod loads;
#[path = "driver/m_loads.rs"]
mod m_loads;
#[path = "driver/n_device.rs"]
mod n_device;
#[path = "driver/program.rs"]
mod program;
#[path = "driver/rig.rs"]
mod rig;
