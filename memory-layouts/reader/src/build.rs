//! The step of a build script: from the layout that is named to constants.

use super::Layout;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// Names the layout of a build; a path.
pub const VARIABLE: &str = "NEFFLOAD_LAYOUT";

/// Writes the constants of `sections` to `layout.rs` in the output folder. The layout is the one that
/// `NEFFLOAD_LAYOUT` names, else `default`. A layout that makes no sense ends the build with a sentence.
#[must_use]
pub fn constants(default: &Path, sections: &[&str]) -> Layout {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let path = env::var_os(VARIABLE).map_or_else(|| default.to_path_buf(), PathBuf::from);
    println!("cargo::rerun-if-changed={}", path.display());
    let layout = Layout::read(&path).unwrap_or_else(|sentence| refuse(&sentence));
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default().join("layout.rs");
    fs::write(out, layout.constants(sections)).unwrap_or_else(|error| refuse(&error.to_string()));
    layout
}

/// Ends a build with a sentence.
pub fn refuse(sentence: &str) -> ! {
    println!("cargo::error={sentence}");
    eprintln!("{sentence}");
    process::exit(1);
}
