//! `neffload load`: loads a file into a device and says what is where.

mod asked;
mod device;
mod document;
mod people;
mod rounds;

pub(crate) use asked::Asked;
pub(crate) use document::{device, surroundings};

use crate::Answer;
use crate::arguments::number;
use crate::output::Output;
use crate::trouble::Trouble;
use clap::Args;
use document::Outcome;
use std::fs;
use std::path::PathBuf;

/// Arguments of `load`.
#[derive(Args, Debug)]
pub(crate) struct LoadArguments {
    #[command(flatten)]
    asked: Asked,
    /// Load from the file in a stream, all buffers together within N bytes
    #[arg(long, value_name = "N", value_parser = number)]
    max_memory: Option<u64>,
    /// Write the report and every block of device memory into this folder
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Load and unload N times; times are the best of them
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: u32,
    /// Print every operation of the simulated device on standard error
    #[arg(long)]
    trace: bool,
}

/// Runs `load`.
pub(crate) fn run(arguments: &LoadArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let outcome = rounds::run(arguments, output)?;
    let document = outcome.document();
    if let Outcome::Refused(refused) = &outcome
        && let Some(table) = refused.usage_table()
    {
        eprint!("{table}");
    }
    if let Some(folder) = &arguments.dump {
        let path = folder.join("report.json");
        fs::write(&path, format!("{document}\n")).map_err(Trouble::at(&path))?;
    }
    if output.json() {
        output.document(&document)?;
    } else {
        people::print(arguments, &document, output)?;
    }
    Ok(match outcome {
        Outcome::Loaded(_) => Answer::Done,
        Outcome::Refused(_) => Answer::Refused,
    })
}
