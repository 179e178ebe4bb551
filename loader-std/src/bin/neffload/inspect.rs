//! `neffload inspect`: what is in a file.

mod people;

pub(crate) use loader_std::verdict::NoNames;

use crate::Answer;
use crate::output::{Document, Output, shown};
use crate::trouble::Trouble;
use clap::Args;
use loader_core::arch::Arch;
use loader_core::policy::Policy;
use loader_core::source::Source;
use loader_std::environment;
use loader_std::file::Input;
use loader_std::inspect::{Question, document};
use std::path::PathBuf;

/// Arguments of `inspect`.
#[derive(Args, Debug)]
pub(crate) struct InspectArguments {
    /// File, `FILE@OFFSET`, or `-` for standard input
    file: PathBuf,
    /// Also print the SHA-256 of every member
    #[arg(long)]
    digests: bool,
    /// List the members
    #[arg(long)]
    members: bool,
    /// Refuse a file whose digest does not fit, as `load` does
    #[arg(long)]
    verify_hash: bool,
    /// Judge the file for this host
    #[arg(long, value_parser = arch)]
    arch: Option<Arch>,
    /// Judge the file for a host with this logical-core size
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=2))]
    lnc: Option<u32>,
}

/// An architecture by its name or alias.
pub(crate) fn arch(text: &str) -> Result<Arch, String> {
    Arch::by_name(text).ok_or_else(|| format!("`{text}` is none of sunda, cayman, mariana"))
}

impl InspectArguments {
    fn policy(&self) -> Policy {
        Policy {
            verify_digest: self.verify_hash,
            report_digest: true,
            tooling: true,
            host_arch: self.arch,
            lnc: self.lnc,
            ..environment::policy()
        }
    }
}

/// Runs `inspect`: one pass over the file, which may be a pipe and have its manifests at its end.
pub(crate) fn run(arguments: &InspectArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let mut input = Input::open(&arguments.file).map_err(Trouble::at(&arguments.file))?;
    let policy = arguments.policy();
    let question = Question { digests: arguments.digests, ..Question::new(&policy) };
    let mut progress = output.progress("reading", input.len());
    let found = document(&mut input, question, |done| progress.set(done), |_, _, _| {});
    drop(progress);
    let found =
        found.map_err(|error| Trouble::Usage(format!("{}: {error}", shown::path(&arguments.file))))?;
    let document = Document::of("inspect", found);
    let answer = if document.get("verdict")["accepted"] == true { Answer::Done } else { Answer::Refused };
    if output.json() {
        output.document(&document)?;
    } else {
        people::print(arguments, &document, output)?;
    }
    Ok(answer)
}
