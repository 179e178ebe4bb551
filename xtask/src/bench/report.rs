//! `report` of a 512 MiB file: the page's size, and what it takes beyond reading the file.
//!
//! The read is what `verify` does: one pass that inflates, digests and judges every byte up to the archive.

use super::big::{big, neffload};
use super::judge;
use super::run::{median, program};
use anyhow::Result;
use std::fs;
use std::process::Command;

pub(super) fn run(rounds: usize) -> Result<()> {
    let Some(file) = big("report.neff", &["--mib", "512"])? else { return Ok(()) };
    let (neffload, page) = (neffload()?, file.with_extension("html"));
    let (mut reads, mut reports) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        reads.push(program(Command::new(&neffload).args(["verify", "--quiet"]).arg(&file))?);
        let mut report = Command::new(&neffload);
        reports.push(program(report.args(["report", "--quiet"]).arg(&file).arg("-o").arg(&page))?);
    }
    let (read, report) = (median(&reads), median(&reports));
    println!("neffload verify: {read}\nneffload report: {report}");
    let beyond = report.wall.saturating_sub(read.wall).as_secs_f64();
    judge("seconds beyond the read", beyond, beyond < 2.0, "< 2.0");
    let mib = fs::metadata(&page)?.len() as f64 / 1_048_576.0;
    judge("page, MiB", mib, mib < 2.0, "< 2.00");
    Ok(())
}
