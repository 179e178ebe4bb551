//! `find` on a file without any NEFF.

use super::big::{folder, neffload};
use super::judge;
use super::run::{median, program};
use anyhow::Result;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::Command;

const BYTES: u64 = 1 << 30;

pub(super) fn run(rounds: usize) -> Result<()> {
    let file = carrier()?;
    let neffload = neffload()?;
    let mut costs = Vec::new();
    for _ in 0..rounds {
        costs.push(program(Command::new(&neffload).arg("find").arg(&file))?);
    }
    let cost = median(&costs);
    println!("neffload find of 1 GiB without a NEFF: {cost}");
    let speed = |time: std::time::Duration| BYTES as f64 / 1e9 / time.as_secs_f64();
    let (wall, cpu) = (speed(cost.wall), speed(cost.cpu));
    judge("GB/s of wall time", wall, wall >= 1.0, ">= 1");
    println!("GB/s of CPU time: {cpu:.2}");
    fs::remove_file(file)?;
    Ok(())
}

/// Bytes of every value in no order: what weights look like to a search.
fn carrier() -> Result<PathBuf> {
    let path = folder()?.join("carrier.bin");
    let mut file = BufWriter::with_capacity(1 << 20, File::create(&path)?);
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    for _ in 0..BYTES / 8 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        file.write_all(&state.to_le_bytes())?;
    }
    file.flush()?;
    Ok(path)
}
