//! Ways to reach the simulated driver from programs: directly, and through real system calls.
//!
//! | front end | real system calls | needs |
//! |---|---|---|
//! | [`Direct`] | no: [`Sys`](crate::neuron::Sys) calls the state machine | nothing |
//! | [`inside`] | yes, of one thread of this process | seccomp user notification (Linux 5.19) |
//! | [`launch`] | yes, of a program and its children | the same |
//! | [`Mount`] | yes, of every process that sees the mount | root, `/dev/fuse`, Linux 6.9 |
//!
//! No privileges are needed for the second and third (driver-abi.md §19.3). Where the kernel forbids user notification, as inside some
//! sandboxes, [`Unavailable`] says why.

mod client;
mod closing;
mod direct;
mod files;
mod fuse;
mod host;
mod inside;
mod launch;
mod mapping;
mod memfd;
mod opening;
mod paths;
mod process;
mod procfs;
mod scratch;
mod seccomp;
mod serve;
mod stat;
mod supervisor;
mod syscalls;
mod task;

pub use client::{Client, Window};
pub use direct::Direct;
pub use fuse::{Mount, NoMount};
pub use host::{Host, Options, Shared, Stop};
pub use inside::{Inside, inside};
pub use launch::{Launched, Watch, launch};
pub use memfd::FileMemory;
pub use process::ProcessMemory;
pub use scratch::Scratch;
pub use seccomp::Unavailable;
pub use task::{children_cpu, fork_and, forward_signals, pend_sigterm, raise_descriptor_limit, thread_cpu};
