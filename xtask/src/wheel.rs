//! `cargo xtask wheel`: builds the Python wheel, installs it in a clean virtual environment, and runs its tests there.

use anyhow::{Context, Result, bail};
use neffload_tests::{python, shared, workspace};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn run() -> Result<()> {
    let Some(python) = python() else {
        println!("skipped: there is no Python 3");
        return Ok(());
    };
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from);
    let (environment, wheels) = (target.join("wheel-environment"), target.join("wheels"));
    let _ = fs::remove_dir_all(&environment);
    let _ = fs::remove_dir_all(&wheels);
    if !Command::new(&python).args(["-m", "venv"]).arg(&environment).status()?.success() {
        println!("skipped: this Python makes no virtual environments (Debian: python3-venv)");
        return Ok(());
    }
    let inside = environment.join("bin").join("python");
    step(
        Command::new(&inside).args(["-m", "pip", "install", "--quiet", "maturin>=1.7,<2", "pytest"]),
        "pip",
    )?;
    let package = workspace().join("loader-std").join("python");
    let mut build = Command::new(environment.join("bin").join("maturin"));
    build.args(["build", "--release", "--quiet", "--manifest-path"]).arg(package.join("Cargo.toml"));
    step(build.arg("--out").arg(&wheels).env("PYO3_PYTHON", &inside), "maturin")?;
    let wheel = fs::read_dir(&wheels)?.flatten().map(|entry| entry.path()).find(|path| is_wheel(path));
    let wheel = wheel.context("maturin made no wheel")?;
    println!("== wheel {}", wheel.display());
    step(Command::new(&inside).args(["-m", "pip", "install", "--quiet", "--no-index"]).arg(&wheel), "pip")?;
    let mut tests = Command::new(&inside);
    // Away from the sources, so that the installed package is what is imported.
    tests
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .arg(package.join("tests"))
        .current_dir(&target);
    if let Some(shared) = shared() {
        tests.env("NEFFLOAD_SHARED", shared);
    }
    step(tests.env("NEFFLOAD", command()?), "pytest")
}

fn is_wheel(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "whl")
}

/// The command that packs the sample trees.
fn command() -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = ["build", "--quiet", "--release", "--package", "loader-std", "--bin", "neffload"];
    step(Command::new(cargo).args(build).current_dir(workspace()), "cargo")?;
    Ok(env::current_exe()?.with_file_name("neffload"))
}

fn step(command: &mut Command, what: &str) -> Result<()> {
    if !command.status().with_context(|| format!("{what} does not run"))?.success() {
        bail!("{what} failed");
    }
    Ok(())
}
