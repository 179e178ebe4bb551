//! `cargo xtask bench`: speed and memory beside a yardstick, both measured in one run and in alternation.
//!
//! Figures are medians over the rounds. CPU time is user and system time together; on a busy machine it
//! is the figure to trust, wall time is not.

mod arena;
mod big;
mod driver;
mod find;
mod lower;
mod manifest;
mod reference;
mod run;
mod s2;
mod stage;
mod table;
mod verify;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use std::sync::atomic::{AtomicU32, Ordering};

/// What to measure.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Subject {
    /// `neffload verify` of a 256 MiB model against bsdtar and md5sum
    Verify,
    /// S2, streaming, against serde_json on resident bytes
    Manifest,
    /// S3: time per element against a file a tenth as large, and the arena of a file of plain descriptors
    Lower,
    /// `neffload find` on a file without any NEFF
    Find,
    /// Copies through the kernel driver's device over the same system calls in a bare loop
    Driver,
    /// Staging of a 512 MiB file on two cores: memory beyond payload and arena, two threads against one
    Stage,
}

/// Arguments of `bench`.
#[derive(Args, Debug)]
pub(crate) struct BenchArguments {
    /// What to measure
    subject: Subject,
    /// Rounds, of which the median counts
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Only load this file as a stream within that many bytes: what `stage` measures as a process of its own
    #[arg(long, hide = true, num_args = 2, value_names = ["FILE", "BYTES"])]
    load: Option<Vec<String>>,
}

pub(crate) fn run(arguments: &BenchArguments) -> Result<()> {
    if let Some([file, bytes]) = arguments.load.as_deref() {
        return stage::load(file.as_ref(), bytes.parse()?);
    }
    let rounds = arguments.rounds.max(1);
    match arguments.subject {
        Subject::Verify => verify::run(rounds),
        Subject::Manifest => manifest::run(rounds),
        Subject::Lower => lower::run(rounds),
        Subject::Find => find::run(rounds),
        Subject::Driver => driver::run(),
        Subject::Stage => stage::run(rounds),
    }?;
    let missed = MISSED.load(Ordering::Relaxed);
    ensure!(missed == 0, "{missed} of the targets missed");
    Ok(())
}

/// Targets that were missed in this run.
static MISSED: AtomicU32 = AtomicU32::new(0);

/// A figure beside what it should be; returns whether it is. A missed target shows in the exit status of the whole
/// run.
fn judge(what: &str, figure: f64, ok: bool, target: &str) -> bool {
    let word = if ok { "met" } else { "MISSED" };
    MISSED.fetch_add(u32::from(!ok), Ordering::Relaxed);
    println!("{what}: {figure:.2} (target {target}: {word})");
    ok
}
