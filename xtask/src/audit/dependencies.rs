//! (i) No crate below the core is built with `alloc` or `std`.

use super::Offenders;
use anyhow::{Context, Result, ensure};
use std::env;
use std::path::Path;
use std::process::Command;

/// Asks cargo for the crates and features that `loader-core` of that workspace is built with.
pub(crate) fn check(manifest: &Path) -> Result<Offenders> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["tree", "--package", "loader-core", "--edges", "normal,no-proc-macro", "--prefix", "none"]);
    command.args(["--format", "{p} | {f}", "--manifest-path"]).arg(manifest);
    let output = command.output().context("cargo tree")?;
    ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    Ok(offenders(&String::from_utf8_lossy(&output.stdout)))
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
