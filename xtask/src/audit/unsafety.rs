//! (vi) Every `unsafe` says why it is sound.

use super::Offenders;
use crate::image::build::folder;
use anyhow::{Context, Result};
use neffload_tests::{unsafety, workspace};
use std::env;
use std::process::Command;

/// Looks at every source of the workspace.
pub(crate) fn check() -> Result<Offenders> {
    let uses = unsafety::uses().context("the sources of the workspace")?;
    let unexplained = uses.into_iter().filter(|found| !found.explained);
    Ok(unexplained
        .map(|found| format!("{}:{}: unsafe without a SAFETY line", found.file, found.line))
        .collect())
}

/// The lints on the packages outside the workspace, which `cargo clippy --workspace` does not see.
pub(crate) fn lints() -> Result<Offenders> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    if !Command::new(&cargo)
        .args(["clippy", "--version"])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        println!("      clippy: skipped, the component is not installed");
        return Ok(Offenders::new());
    }
    let mut offenders = Offenders::new();
    for package in ["image", "embed"] {
        let manifest = workspace().join("memory-layouts").join(package).join("Cargo.toml");
        let mut command = Command::new(&cargo);
        command
            .args(["clippy", "--quiet", "--target", "x86_64-unknown-linux-gnu", "--manifest-path"])
            .arg(manifest);
        command.arg("--target-dir").arg(folder().join("clippy"));
        command.args(["--", "-D", "warnings", "-D", "clippy::undocumented_unsafe_blocks"]);
        let output = command.output().context("cargo clippy")?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let lines = text.lines().filter(|line| line.starts_with("error") || line.contains("--> "));
            offenders.extend(lines.map(|line| format!("clippy, {package}: {}", line.trim())));
        }
    }
    Ok(offenders)
}
