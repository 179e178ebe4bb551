//! The arena: bytes per plain descriptor of a large file of two cores, and what every small file takes.

use super::big::big;
use super::judge;
use anyhow::{Context, Result, anyhow};
use loader_core::arch::Arch;
use loader_std::LoadOptions;
use loader_std::file::FileSource;
use loader_std::needs::{Needs, needs};
use neffload_tests::{file_stem, loadable_files};
use neuron_drivers::sim::{Config, Content, Growing, HostSim};
use std::fs::File;
use std::path::Path;

/// What `make_big.py` is asked for: two cores of these blocks.
const ARGUMENTS: [&str; 6] = ["--blocks", "50000", "--descs", "10", "--runs", "1"];
const DESCRIPTORS: usize = 2 * 50_000 * 10;
/// Bytes for each of them, and for everything else together.
const EACH: usize = 176;
const REST: usize = 64 << 10;

fn needs_of(path: &Path) -> Result<Needs> {
    let open = |arch: Arch| {
        HostSim::new(Config { content: Content::Discard, ..Config::flat(arch) }, Growing::new(false))
    };
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut source = FileSource::new(file, 0)?;
    let found = needs(&mut source, &LoadOptions::default(), open).map_err(|error| anyhow!("{error}"))?;
    Ok(found.0)
}

/// Returns whether the large file keeps within its bound after every stage.
pub(super) fn run() -> Result<bool> {
    for path in loadable_files() {
        let needs = needs_of(&path)?;
        let peaks = needs.facts.usage.iter().map(|usage| format!("{} {}", usage.stage, usage.peak));
        println!("arena of {}: {}", file_stem(&path), peaks.collect::<Vec<_>>().join(", "));
    }
    let Some(path) = big("two-cores.neff", &ARGUMENTS)? else { return Ok(true) };
    let mut kept = true;
    for usage in needs_of(&path)?.facts.usage {
        let each = usage.peak.saturating_sub(REST) as f64 / DESCRIPTORS as f64;
        let what = format!("arena after {}, bytes per plain descriptor beside 64 KiB", usage.stage);
        kept &= judge(&what, each, usage.peak <= EACH * DESCRIPTORS + REST, "<= 176");
    }
    Ok(kept)
}
