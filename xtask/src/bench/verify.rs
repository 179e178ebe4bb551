//! `verify` of a 256 MiB model against the usual tools: bsdtar unpacks, md5sum digests.

use super::big::{big, folder, installed, neffload};
use super::judge;
use super::run::{Cost, median, peak_kib, program, ratio};
use anyhow::Result;
use neffload_tests::fixture;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes before the payload.
const HEADER: u64 = 1024;

pub(super) fn run(rounds: usize) -> Result<()> {
    let Some(file) = big("verify.neff", &["--mib", "256"])? else { return Ok(()) };
    let neffload = neffload()?;
    memory(&neffload, &file)?;
    let tools = (installed("bsdtar"), installed("md5sum"));
    let payload = payload(&file)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(program(Command::new(&neffload).arg("verify").arg(&file))?);
        if let (Some(bsdtar), Some(md5sum)) = &tools {
            theirs.push(yardstick(bsdtar, md5sum, &payload)?);
        }
    }
    let ours = median(&ours);
    println!("neffload verify: {ours}");
    if theirs.is_empty() {
        println!("skipped: no yardstick, bsdtar or md5sum is not installed");
        return Ok(());
    }
    let theirs = median(&theirs);
    println!("bsdtar + md5sum: {theirs}");
    let (wall, cpu) = (ratio(ours.wall, theirs.wall), ratio(ours.cpu, theirs.cpu));
    judge("wall, times the yardstick", wall, wall <= 0.8, "<= 0.8");
    judge("CPU, times the yardstick", cpu, cpu <= 1.0, "<= 1.0");
    Ok(())
}

fn yardstick(bsdtar: &Path, md5sum: &Path, payload: &Path) -> Result<Cost> {
    let unpack = program(Command::new(bsdtar).arg("-xOf").arg(payload))?;
    Ok(unpack.plus(program(Command::new(md5sum).arg(payload))?))
}

/// The payload as a file of its own, since bsdtar knows no header before it.
fn payload(file: &Path) -> Result<PathBuf> {
    let path = folder()?.join("verify.tar.gz");
    let mut from = File::open(file)?;
    from.seek(SeekFrom::Start(HEADER))?;
    io::copy(&mut from, &mut File::create(&path)?)?;
    Ok(path)
}

fn memory(neffload: &Path, file: &Path) -> Result<()> {
    let verify = Path::new("verify");
    let large = peak_kib(neffload, &[verify, file])?;
    let small = peak_kib(neffload, &[verify, &fixture("cayman-2core")])?;
    if let (Some(large), Some(small)) = (large, small) {
        println!("peak resident memory: {large} KiB; for a 20 KB file {small} KiB");
        let (mib, more) = (large as f64 / 1024.0, large.saturating_sub(small));
        judge("peak resident memory, MiB", mib, large <= 4096, "<= 4");
        judge("more than for a 20 KB file, KiB", more as f64, more <= 256, "<= 256");
    }
    Ok(())
}
