//! (i) No crate below the core, whatever its features, or below the image is built with `alloc` or `std`.

use super::Offenders;
use anyhow::{Context, Result, ensure};
use neffload_tests::workspace;
use std::env;
use std::path::Path;
use std::process::Command;

/// Asks cargo for the crates and features that a package of that workspace is built with.
pub(crate) fn check(manifest: &Path, package: &str, more: &[&str]) -> Result<Offenders> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["tree", "--package", package, "--edges", "normal,no-proc-macro", "--prefix", "none"])
        .args(more);
    command.args(["--format", "{p} | {f}", "--manifest-path"]).arg(manifest);
    let output = command.output().context("cargo tree")?;
    ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    Ok(offenders(&String::from_utf8_lossy(&output.stdout)))
}

/// The core with every feature, as it is in the workspace, and the image with what it is built of.
pub(crate) fn of_the_core() -> Result<Offenders> {
    let image = workspace().join("memory-layouts/image/Cargo.toml");
    let mut found = check(&workspace().join("Cargo.toml"), "loader-core", &["--all-features"])?;
    found.extend(check(&image, "neffload-image", &[])?);
    Ok(found)
}

/// Lines of crates with a feature that brings a heap.
fn offenders(tree: &str) -> Offenders {
    let brings = |line: &&str| {
        let (_, features) = line.split_once(" | ").unwrap_or((line, ""));
        features.split(',').any(|feature| matches!(feature.trim(), "alloc" | "std" | "with-alloc"))
    };
    let mut found: Offenders = tree.lines().filter(brings).map(str::to_string).collect();
    found.dedup();
    found
}
