//! `cargo xtask image LAYOUT`: builds an image and prints what it takes.

pub(crate) mod build;
pub(crate) mod code;
pub(crate) mod elf;
pub(crate) mod ledger;
pub(crate) mod stack;
#[cfg(test)]
pub(crate) mod tests;
mod toolchain;

use anyhow::{Result, anyhow, bail};
use build::{Built, Variant, build};
use ledger::Ledger;
use memory_layouts::Layout;
use neffload_tests::workspace;
use stack::Rules;
use std::fs;
use std::path::{Path, PathBuf};

/// The layout that a path, or a bare name, means.
pub(crate) fn layout(name: &Path) -> Result<(PathBuf, Layout)> {
    let below = workspace().join("memory-layouts").join(name).with_extension("toml");
    let path = if name.is_file() { name.to_path_buf() } else { below };
    let layout = Layout::read(&path).map_err(|sentence| anyhow!(sentence))?;
    if !layout.is_image() {
        bail!("{}: this layout has no image.target, so there is no image of it", layout.name);
    }
    Ok((path, layout))
}

/// The rules for calls through pointers.
pub(crate) fn rules() -> Result<Rules> {
    Ok(Rules::parse(&fs::read_to_string(workspace().join("memory-layouts/audit/pointers.txt"))?))
}

/// Builds an image and weighs it.
pub(crate) fn weighed(name: &Path, variant: Variant<'_>) -> Result<(Layout, Built, Ledger)> {
    let (path, layout) = layout(name)?;
    let built = build(&path, &layout, variant)?;
    let ledger = Ledger::of(&layout, &built.whole, &built.stripped, &rules()?)?;
    Ok((layout, built, ledger))
}

pub(crate) fn run(name: &Path, paths: bool) -> Result<()> {
    let (layout, built, ledger) = weighed(name, Variant::default())?;
    print!("{ledger}");
    if paths {
        for stage in &ledger.stages {
            println!("{}:\n    {}", stage.name, stage.path.join("\n    "));
        }
        for cycle in &ledger.cycles {
            println!("recursion:\n    {}", cycle.join("\n    "));
        }
    }
    let beyond = ledger.beyond(&layout);
    if !beyond.is_empty() {
        bail!("{}", beyond.join("\n"));
    }
    println!("{}", built.stripped.display());
    Ok(())
}
