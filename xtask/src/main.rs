//! The project's own chores: `cargo xtask fixtures`, `cargo xtask test`, `cargo xtask errors`, `cargo xtask bench`.

mod audit;
mod bench;
mod clients;
mod errors;
mod fixtures;
mod fuzz;
mod image;
mod offline;
mod readme;
mod test;
mod wheel;

use anyhow::Result;
use clap::{Parser, Subcommand};
use neffload_tests::capi;
use std::path::PathBuf;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own chores")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Speed and memory beside a yardstick, in one run
    Bench(bench::BenchArguments),
    /// Install the C interface below a folder: lib/libnrt.so.1 and include/nrt
    Capi {
        /// The folder; programs take it as NEURON_DIR
        folder: PathBuf,
    },
    /// Run other people's programs against the C interface (fetches two crates)
    Clients,
    /// Write the project's small NEFF files to tests/fixtures
    Fixtures {
        /// Only compare; fails if a file differs from what the project makes
        #[arg(long)]
        check: bool,
    },
    /// Write docs/ERRORS.md from the code tables
    Errors {
        /// Only compare
        #[arg(long)]
        check: bool,
    },
    /// Run the fuzz targets, each for some time (needs cargo-fuzz and a nightly toolchain)
    Fuzz {
        /// Seconds for each target; 0 only writes the first inputs
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// Only this target
        #[arg(long)]
        target: Option<String>,
    },
    /// Build the Python wheel and test it in a clean virtual environment
    Wheel {
        /// Optimise it, and name where it lies at the end
        #[arg(long)]
        release: bool,
    },
    /// Write the transcript in README.md from what the commands print
    Readme {
        /// Only compare
        #[arg(long)]
        check: bool,
    },
    /// Check that what the core promises is so, on the images
    Audit {
        /// Renew the checked-in lists and the README's ledger first
        #[arg(long)]
        write: bool,
        /// Also all tests under Miri
        #[arg(long)]
        full: bool,
    },
    /// Build the image of a memory layout and print what it takes; the last line is its path
    Image {
        /// The layout, or its name in memory-layouts
        layout: PathBuf,
        /// Also print the deepest path of calls of each stage
        #[arg(long)]
        paths: bool,
    },
    /// Everything CI runs: format, lints, documentation, tests
    Test {
        /// Also the long sweeps
        #[arg(long)]
        full: bool,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().chore {
        Chore::Audit { write, full } => audit::run(write, full),
        Chore::Bench(arguments) => bench::run(&arguments),
        Chore::Capi { folder } => Ok(capi::install(&capi::build()?, &folder)?),
        Chore::Clients => clients::run(),
        Chore::Fixtures { check } => fixtures::run(check),
        Chore::Errors { check } => errors::run(check),
        Chore::Fuzz { seconds, target } => fuzz::run(seconds, target.as_deref()),
        Chore::Wheel { release } => wheel::run(release),
        Chore::Readme { check } => readme::run(check),
        Chore::Image { layout, paths } => image::run(&layout, paths),
        Chore::Test { full } => test::run(full),
    }
}
