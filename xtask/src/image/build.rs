//! Building an image from its layout.

use super::toolchain::Toolchain;
use anyhow::{Context, Result, bail};
use memory_layouts::Layout;
use memory_layouts::build::VARIABLE;
use neffload_tests::workspace;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

/// A built image.
#[derive(Debug)]
pub(crate) struct Built {
    /// With symbols and emitted stack sizes.
    pub(crate) whole: PathBuf,
    /// What runs.
    pub(crate) stripped: PathBuf,
}

/// How an image is built apart from its layout.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Variant<'v> {
    /// Features of the image's package.
    pub(crate) features: &'v [&'v str],
    /// The folder below `memory-layouts` whose package is built; `image` by default.
    pub(crate) package: Option<&'v str>,
}

/// Where images go.
pub(crate) fn folder() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from);
    target.join("images")
}

/// Builds the image of a layout.
///
/// # Errors
/// What the build said, with the linker's refusal in it.
pub(crate) fn build(path: &Path, layout: &Layout, variant: Variant<'_>) -> Result<Built> {
    // A layout's constants are in all crates, so each layout has a folder of its own: no other's build spoils it.
    let package = variant.package.unwrap_or("image");
    let place = folder().join("build").join(format!("{package}-{}", layout.name));
    // Builds in one folder wait for each other until what was made is kept.
    static FOLDERS: Mutex<BTreeMap<PathBuf, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());
    let turn =
        Arc::clone(FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).entry(place.clone()).or_default());
    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let target = layout.text("image", "target").context("this is not the layout of an image")?;
    let toolchain = Toolchain::find(target)?;
    let manifest = workspace().join("memory-layouts").join(package).join("Cargo.toml");
    let mut command = toolchain.cargo();
    command.args(["build", "--release", "--quiet", "--target", target, "--manifest-path"]).arg(manifest);
    command.arg("--target-dir").arg(&place);
    if !variant.features.is_empty() {
        command.arg("--features").arg(variant.features.join(","));
    }
    command.env(VARIABLE, fs::canonicalize(path)?).env("RUSTFLAGS", toolchain.flags());
    let output = command.output().context("cargo")?;
    if !output.status.success() {
        bail!("the image was not built: {}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    let made = place.join(target).join("release").join("neffload-image");
    let prefix = variant.package.map_or_else(String::new, |package| format!("{package}-"));
    keep(&made, &variant.features.iter().fold(prefix + &layout.name, |name, feature| name + "." + feature))
}

/// Copies what was built to a name of its own, and strips a second copy.
fn keep(made: &Path, name: &str) -> Result<Built> {
    let (whole, stripped) = (folder().join(format!("{name}.elf")), folder().join(name));
    fs::copy(made, &whole).with_context(|| made.display().to_string())?;
    fs::copy(made, &stripped)?;
    let strip = [Path::new("strip"), Path::new("llvm-strip"), Path::new("arm-none-eabi-strip")];
    let done = strip.iter().any(|tool| {
        let status =
            Command::new(tool).args(["--strip-all", "--remove-section=.stack_sizes"]).arg(&stripped).output();
        status.is_ok_and(|output| output.status.success())
    });
    // Where no tool knows the target, the image keeps its symbols; they are not loaded.
    let _ = done;
    Ok(Built { whole, stripped })
}
