//! `cargo xtask readme`: the transcript in README.md.

use anyhow::{Context, Result, bail};
use neffload_tests::transcript::{parts, settled, transcript};
use neffload_tests::workspace;
use std::fs;
use std::process::Command;

pub(crate) fn run(check: bool) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = ["build", "--quiet", "--release", "--package", "loader-std", "--bin", "neffload"];
    if !Command::new(cargo).args(build).current_dir(workspace()).status()?.success() {
        bail!("neffload does not build");
    }
    let here = std::env::current_exe()?;
    let neffload = here.parent().context("xtask lies in a folder")?.join("neffload");
    let path = workspace().join("README.md");
    let readme = fs::read_to_string(&path)?;
    let [before, old, after] = parts(&readme);
    let new = transcript(&neffload);
    if settled(old) == settled(&new) {
        return Ok(());
    }
    if check {
        bail!("README.md is out of date; run `cargo xtask readme`");
    }
    fs::write(&path, format!("{before}{new}{after}"))?;
    println!("{} written", path.display());
    Ok(())
}
