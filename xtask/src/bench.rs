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
mod report;
mod run;
mod s2;
mod stage;
mod table;
mod verify;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use std::sync::{Mutex, PoisonError};

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
    /// `neffload report` of a 512 MiB file beyond what reading it takes, and the page's size
    Report,
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
    let outcome = match arguments.subject {
        Subject::Verify => verify::run(rounds),
        Subject::Manifest => manifest::run(rounds),
        Subject::Lower => lower::run(rounds),
        Subject::Find => find::run(rounds),
        Subject::Driver => driver::run(),
        Subject::Report => report::run(rounds),
        Subject::Stage => stage::run(rounds),
    };
    let missed = table();
    outcome?;
    ensure!(missed == 0, "{missed} of the targets missed");
    Ok(())
}

/// A figure beside what it should be.
struct Judged {
    what: String,
    figure: f64,
    target: String,
    ok: bool,
}

/// The figures of this run. A missed target ends nothing: the others are measured and printed too.
static JUDGED: Mutex<Vec<Judged>> = Mutex::new(Vec::new());

/// Adds a figure to the table at the end; returns whether it is as it should be.
fn judge(what: &str, figure: f64, ok: bool, target: &str) -> bool {
    let (what, target) = (what.trim().to_owned(), target.to_owned());
    JUDGED.lock().unwrap_or_else(PoisonError::into_inner).push(Judged { what, figure, target, ok });
    ok
}

/// Prints the table and returns how many targets were missed.
fn table() -> usize {
    let judged = JUDGED.lock().unwrap_or_else(PoisonError::into_inner);
    let wide = judged.iter().map(|row| row.what.len()).max().unwrap_or(0);
    if wide > 0 {
        println!("\n{:<wide$}  {:>9}  {:<9}  verdict", "", "figure", "target");
    }
    for Judged { what, figure, target, ok } in judged.iter() {
        println!("{what:<wide$}  {figure:>9.2}  {target:<9}  {}", if *ok { "met" } else { "MISSED" });
    }
    judged.iter().filter(|row| !row.ok).count()
}
