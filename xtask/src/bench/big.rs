//! Large inputs: from the generator of the shared data, kept in `target/bench`.

use anyhow::{Context, Result, ensure};
use neffload_tests::{python, shared, workspace};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where inputs are kept from run to run.
pub(super) fn folder() -> Result<PathBuf> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from);
    let folder = target.join("bench");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The file that `make_big.py` makes with these arguments; `None`, with a printed reason, where it cannot run.
pub(super) fn big(name: &str, arguments: &[&str]) -> Result<Option<PathBuf>> {
    let script = shared().map(|folder| folder.join("bench/make_big.py")).filter(|script| script.is_file());
    let (Some(script), Some(python)) = (script, python()) else {
        println!("skipped: {name} needs Python 3 and bench/make_big.py of the shared data");
        return Ok(None);
    };
    let path = folder()?.join(name);
    if !path.is_file() {
        println!("making {} …", path.display());
        let part = path.with_extension("part");
        let status = Command::new(python).arg(script).arg(&part).args(arguments).status()?;
        ensure!(status.success(), "make_big.py failed");
        fs::rename(part, &path)?;
    }
    Ok(Some(path))
}

/// The command, built for release.
pub(super) fn neffload() -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = ["build", "--release", "--quiet", "--package", "loader-std", "--bin", "neffload"];
    let status = Command::new(cargo).args(build).current_dir(workspace()).status()?;
    ensure!(status.success(), "neffload does not build");
    let here = env::current_exe()?;
    let folder = here.parent().context("a folder of binaries")?;
    let release = folder.parent().unwrap_or(folder).join("release/neffload");
    Ok(if release.is_file() { release } else { folder.join("neffload") })
}

/// A program of the system, if it is installed.
pub(super) fn installed(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| Path::is_file(file))
}
