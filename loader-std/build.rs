//! Links the command so that it needs little memory, where the linker can.
//!
//! A position-independent program of this size begins with 36,000 relocations: the loader reads a table of 300 KiB
//! and writes to as many bytes before the first instruction runs. And the same generic function stands in it many
//! times over. `neffload verify` promises to need 4 MiB in all.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let text = |key| env::var(key).unwrap_or_default();
    let gnu = text("CARGO_CFG_TARGET_OS") == "linux" && text("CARGO_CFG_TARGET_ENV") == "gnu";
    if gnu {
        println!("cargo::rustc-link-arg-bin=neffload=-no-pie");
    }
    // The linker that rustc brings along for this target knows how to fold functions; another may not.
    let other = env::var_os("RUSTC_LINKER").is_some() || text("CARGO_ENCODED_RUSTFLAGS").contains("link");
    if gnu && text("CARGO_CFG_TARGET_ARCH") == "x86_64" && text("PROFILE") == "release" && !other {
        println!("cargo::rustc-link-arg-bin=neffload=-Wl,--icf=all");
    }
}
