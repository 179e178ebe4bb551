//! `cargo xtask bench …`: numbers that documents may quote.

mod driver;

use anyhow::Result;
use clap::ValueEnum;

/// What can be measured.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum What {
    /// Copies through the device.
    Driver,
}

/// Measures and prints.
pub(crate) fn run(what: What) -> Result<()> {
    match what {
        What::Driver => driver::run(),
    }
}
