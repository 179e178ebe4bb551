//! `cargo xtask fuzz`: writes first inputs and runs every target for some time.

use anyhow::{Context, Result, bail};
use neffload_tests::fuzz::TARGETS;
use neffload_tests::workspace;
use std::fs;
use std::process::Command;

pub(crate) fn run(seconds: u32, only: Option<&str>) -> Result<()> {
    let folder = workspace().join("tests/fuzz");
    for (name, _, seeds) in TARGETS {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let corpus = folder.join("corpus").join(name);
        fs::create_dir_all(&corpus)?;
        for (number, seed) in seeds().into_iter().enumerate() {
            fs::write(corpus.join(format!("seed-{number:02}")), seed)?;
        }
        println!("== {name}: {seconds} s");
        let status = Command::new("cargo")
            .args(["+nightly", "fuzz", "run", "--fuzz-dir"])
            .arg(&folder)
            .arg(name)
            .args(["--", "-max_len=65536", "-print_final_stats=1", "-timeout=20", "-rss_limit_mb=2048"])
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
