//! `neffload load`: loads a file into a device and says what is where.

mod device;
mod document;
mod people;
mod pipeline;

use crate::Answer;
use crate::arguments::number;
use crate::output::Output;
use crate::trouble::Trouble;
use clap::Args;
use device::DeviceSpec;
use document::Outcome;
use loader_core::policy::Policy;
use std::fs;
use std::path::PathBuf;

/// Arguments of `load`.
#[derive(Args, Debug)]
pub(crate) struct LoadArguments {
    /// File, `FILE@OFFSET`, or `-` for standard input
    pub(crate) file: PathBuf,
    /// `sim[:ARCH[:CORES]][,store=full|digest|discard][,profile=P]`; ARCH defaults to the file's target
    #[arg(long, default_value = "sim", value_parser = device::parse)]
    device: DeviceSpec,
    /// First physical core
    #[arg(long, value_name = "N", default_value_t = 0)]
    core: u16,
    /// Logical-core size of the host; the file's by default
    #[arg(long, value_name = "N")]
    lnc: Option<u32>,
    /// Scratchpad page; 64M lies in one range, other sizes are paged
    #[arg(long, value_name = "N", value_parser = number)]
    page_size: Option<u64>,
    /// Do not check the payload digest
    #[arg(long)]
    no_verify: bool,
    /// Refuse what is not understood to the last bit instead of reporting it
    #[arg(long, conflicts_with = "allow_opaque")]
    strict: bool,
    /// Load opaque slots onto a real device
    #[arg(long)]
    allow_opaque: bool,
    /// Load from the file in a stream, all buffers together within N bytes
    #[arg(long, value_name = "N", value_parser = number)]
    max_memory: Option<u64>,
    /// Write the report and every block of device memory into this folder
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Threads that fill cores; one per core by default
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Load and unload N times; times are the best of them
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: u32,
    /// Print every operation of the simulated device on standard error
    #[arg(long)]
    trace: bool,
}

impl LoadArguments {
    fn policy(&self) -> Policy {
        let page_size = self.page_size.unwrap_or(Policy::CONTIGUOUS_PAGE);
        Policy {
            host_arch: self.device.arch,
            lnc: self.lnc,
            verify_digest: !self.no_verify,
            report_digest: true,
            strict: self.strict,
            page_size,
            contiguous_scratchpad: page_size == Policy::CONTIGUOUS_PAGE,
            ..Policy::DEFAULT
        }
    }
}

/// Runs `load`.
pub(crate) fn run(arguments: &LoadArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let outcome = pipeline::run(arguments, output)?;
    let document = outcome.document();
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
