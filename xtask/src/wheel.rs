//! `cargo xtask wheel`: builds the Python wheel, installs it in a clean virtual environment, and runs its tests there.

use crate::offline;
use anyhow::{Context, Result, bail};
use neffload_tests::{capi, python, shared, workspace};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the virtual environment gets besides the wheel.
const TOOLS: [&str; 3] = ["maturin>=1.7,<2", "pytest", "mypy"];

pub(crate) fn run(release: bool) -> Result<()> {
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
    let inside = Inside { python: environment.join("bin").join("python"), target };
    let fetched = inside.pip().args(TOOLS).output()?;
    if !fetched.status.success() {
        return offline::skip(&format!("pip cannot fetch {}", TOOLS.join(", ")), &fetched.stderr);
    }
    let wheel = inside.build(&environment.join("bin").join("maturin"), &wheels, release)?;
    step(inside.pip().arg("--no-index").arg(&wheel), "pip")?;
    inside.test()?;
    println!("== wheel {}", wheel.display());
    Ok(())
}

/// The virtual environment.
struct Inside {
    python: PathBuf,
    /// Cargo's folder: away from the sources, so that the installed package is what is imported.
    target: PathBuf,
}

impl Inside {
    fn module(&self, name: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.args(["-m", name]).current_dir(&self.target);
        command
    }

    fn pip(&self) -> Command {
        let mut command = self.module("pip");
        command.args(["install", "--quiet", "--disable-pip-version-check"]);
        command
    }

    fn build(&self, maturin: &Path, wheels: &Path, release: bool) -> Result<PathBuf> {
        let mut build = Command::new(maturin);
        build.args(["build", "--quiet", "--manifest-path"]).arg(package().join("Cargo.toml"));
        if release {
            build.arg("--release");
        }
        step(build.arg("--out").arg(wheels).env("PYO3_PYTHON", &self.python), "maturin")?;
        let wheel = fs::read_dir(wheels)?.flatten().map(|entry| entry.path()).find(|path| is_wheel(path));
        let wheel = wheel.context("maturin made no wheel")?;
        let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.contains("-abi3-") {
            bail!("{name} is for one version of Python only");
        }
        Ok(wheel)
    }

    /// The package's own tests, and the stub against the module.
    fn test(&self) -> Result<()> {
        let mut tests = self.module("pytest");
        tests.args(["-q", "-p", "no:cacheprovider"]).arg(package().join("tests"));
        if let Some(shared) = shared() {
            tests.env("NEFFLOAD_SHARED", shared);
        }
        // The command that packs the sample trees, as the tests of its package have it.
        let command = capi::built(&["test", "--no-run", "--workspace", "--test", "help"], "neffload")?;
        step(tests.env("NEFFLOAD", command), "pytest")?;
        step(self.module("mypy.stubtest").args(["neffload", "--ignore-missing-stub"]), "stubtest")
    }
}

fn package() -> PathBuf {
    workspace().join("loader-std").join("python")
}

fn is_wheel(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "whl")
}

fn step(command: &mut Command, what: &str) -> Result<()> {
    if !command.status().with_context(|| format!("{what} does not run"))?.success() {
        bail!("{what} failed");
    }
    Ok(())
}
