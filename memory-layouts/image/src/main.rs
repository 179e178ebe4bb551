//! An image: the load in fixed memory as a program of its own, sized by a memory layout.
//!
//! `cargo xtask image LAYOUT` builds it. On Linux it is a static binary without a C library: own entry, raw
//! system calls, no allocator. On bare metal it carries its file and reports by semihosting.
#![no_std]
#![no_main]

mod layout;
mod memory;
mod panic;
mod planted;
mod stack;
#[cfg(feature = "whole")]
#[path = "../../audit/whole.rs"]
mod whole;

#[cfg(target_os = "none")]
mod cortex_m;
#[cfg(target_os = "linux")]
mod linux;

/// The line about the simulated device.
fn hashed(out: &mut neffload_agent::Text<'_>, arch: &str, hash: u64) {
    out.text("device sim ").text(arch).text(", hash 0x").digits(hash, 16, 16).text("\n");
}
