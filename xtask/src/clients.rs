//! `cargo xtask clients`: other people's programs against our `libnrt.so.1` (`tests/clients`).

use crate::offline;
use anyhow::{Context, Result, bail};
use neffload_tests::{capi, fixture, workspace};
use serde_json::Value;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crate whose own suite is run.
const SUITE: &str = "neuronx";

pub(crate) fn run() -> Result<()> {
    let folder = target().join("clients");
    let neuron = folder.join("neuron");
    capi::install(&capi::of_tests()?, &neuron)?;
    let clients = Clients { folder, neuron };
    if clients.fetched("ironaccelerator")? {
        clients.run("ironaccelerator")?;
    }
    if !has_libclang() {
        println!("skipped: {SUITE} needs libclang, which is not here (Debian: libclang-dev)");
    } else if clients.fetched(SUITE)? {
        clients.run(SUITE)?;
        clients.suite()?;
    }
    Ok(())
}

/// Where a client of that name lies.
fn package(name: &str) -> PathBuf {
    workspace().join("tests").join("clients").join(name)
}

fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}

/// A library that bindgen finds: named, or in one of the places where Debian puts it.
fn has_libclang() -> bool {
    let of_llvm = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let llvm = of_llvm.filter(|entry| entry.file_name().to_string_lossy().starts_with("llvm-"));
    let mut folders: Vec<PathBuf> = llvm.map(|entry| entry.path().join("lib")).collect();
    folders.push(PathBuf::from("/usr/lib"));
    let library = |folder: &PathBuf| {
        let mut files = fs::read_dir(folder).into_iter().flatten().flatten();
        files.any(|file| file.file_name().to_string_lossy().starts_with("libclang.so"))
    };
    env::var_os("LIBCLANG_PATH").is_some() || folders.iter().any(library)
}

struct Clients {
    folder: PathBuf,
    neuron: PathBuf,
}

impl Clients {
    /// Cargo for a client: with our library to link and to open.
    fn cargo(&self, package: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments).arg("--manifest-path").arg(package.join("Cargo.toml"));
        command.env("CARGO_TARGET_DIR", self.folder.join("target"));
        command.env("NEURON_DIR", &self.neuron).env("LD_LIBRARY_PATH", self.neuron.join("lib"));
        command.env("NEFFLOAD_LOG", "off");
        command
    }

    fn done(&self, what: &str, mut command: Command) -> Result<()> {
        println!("== client {what}");
        if !command.status()?.success() {
            bail!("the client {what} failed");
        }
        Ok(())
    }

    /// Fetches what a client needs; false, with a printed reason, where the registry cannot be reached.
    fn fetched(&self, name: &str) -> Result<bool> {
        let mut fetch = self.cargo(&package(name), &["fetch", "--quiet", "--locked"]);
        let output = fetch.output()?;
        if !output.status.success() {
            offline::skip(&format!("the crates of the client {name} cannot be fetched"), &output.stderr)?;
        }
        Ok(output.status.success())
    }

    /// A program of `tests/clients` with a fixture.
    fn run(&self, name: &str) -> Result<()> {
        let mut command = self.cargo(&package(name), &["run", "--quiet", "--locked"]);
        command.arg("--").arg(fixture("cayman-2core"));
        self.done(name, command)
    }

    /// The crate's own tests, in a copy of its source.
    fn suite(&self) -> Result<()> {
        let source = self.source()?;
        let copy = self.folder.join(SUITE);
        copy_tree(&source, &copy)?;
        // The versions that the client was locked to.
        fs::copy(package(SUITE).join("Cargo.lock"), copy.join("Cargo.lock"))?;
        let manifest = copy.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)?;
        if !text.contains("[workspace]") {
            fs::write(&manifest, text + "\n[workspace]\n")?;
        }
        self.done("neuronx, its own suite", self.cargo(&copy, &["test", "--quiet"]))
    }

    /// Where cargo unpacked the crate.
    fn source(&self) -> Result<PathBuf> {
        let output = self.cargo(&package(SUITE), &["metadata", "--format-version", "1"]).output()?;
        let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
        let mut packages = metadata["packages"].as_array().into_iter().flatten();
        let found = packages.find(|package| package["name"] == SUITE).context("cargo knows the crate")?;
        let manifest = found["manifest_path"].as_str().context("it has a manifest")?;
        Ok(Path::new(manifest).parent().context("in a folder")?.to_path_buf())
    }
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &place)?;
        } else if place.file_name().is_some_and(|name| name != "Cargo.lock") {
            fs::write(&place, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}
