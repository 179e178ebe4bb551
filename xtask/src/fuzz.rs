//! `cargo xtask fuzz`: writes first inputs and runs every target for some time, from those, from the inputs that are
//! kept in the repository, and from what earlier runs found.

use anyhow::{Context, Result, bail};
use neffload_tests::fuzz::{TARGETS, Target};
use neffload_tests::workspace;
use std::fs;
use std::process::Command;

pub(crate) fn run(seconds: u32, only: Option<&str>) -> Result<()> {
    let folder = workspace().join("tests/fuzz");
    for Target { name, seeds, longest, .. } in TARGETS {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let corpus = folder.join("corpus").join(name);
        fs::create_dir_all(&corpus)?;
        for (number, seed) in seeds().into_iter().enumerate() {
            fs::write(corpus.join(format!("seed-{number:02}")), seed)?;
        }
        if seconds == 0 {
            continue;
        }
        println!("== {name}: {seconds} s");
        // New inputs are written to the first folder; the others are read.
        let kept = Some(folder.join("kept").join(name)).filter(|kept| kept.is_dir());
        let status = Command::new("cargo")
            // The core has no `unsafe` for the address sanitizer to watch, and runs several times as fast without it.
            .args(["+nightly", "fuzz", "run", "--sanitizer", "none", "--fuzz-dir"])
            .arg(&folder)
            .arg(name)
            .arg(&corpus)
            .args(kept)
            .args(["--", "-print_final_stats=1", "-timeout=20", "-rss_limit_mb=2048"])
            .arg(format!("-max_len={longest}"))
            .arg(format!("-max_total_time={seconds}"))
            .current_dir(workspace())
            .status()
            .context("cargo-fuzz is not installed (`cargo install cargo-fuzz`)")?;
        if !status.success() {
            bail!("{name} found something: see {}", folder.join("artifacts").join(name).display());
        }
    }
    Ok(())
}
