//! What a compiler's packager does beside writing: its asserts, shared constants, its other header, its rule for
//! `neff.json`.

use super::PackArguments;
use super::choices::LeftOut;
use super::source::Source;
use crate::Answer;
use crate::output::{Document, Output, shown};
use crate::trouble::Trouble;
use clap::Args;
use loader_std::pack::PackError;
use loader_std::pack::check::{Broken, check};
use loader_std::pack::dedup::share;
use serde_json::{Value, json};
use std::io;

/// Options that follow a compiler's packager.
#[derive(Args, Debug)]
pub(super) struct ProducerArguments {
    /// Refuse what the producer asserts against: more than 176 DMA queues, a pinned queue with a semaphore, software
    /// descriptor generation elsewhere than on GPSIMD, tables of tensors without memory of their own; and what cannot
    /// be checked
    #[arg(long)]
    check: bool,
    /// Let constants of the same kind and content share one member
    #[arg(long)]
    dedup: bool,
    /// Do not read `info.json`: name file.neff, version 1.1, no engines
    #[arg(long)]
    pub(super) override_header: bool,
    /// Leave `neff.json` out where there is a `kelf-0.json`; no loader takes such a file
    #[arg(long)]
    skip_graph: bool,
}

impl ProducerArguments {
    /// The asserts that do not hold.
    pub(super) fn broken(&self, source: &Source) -> io::Result<Vec<Broken>> {
        if !self.check {
            return Ok(Vec::new());
        }
        let documents = source.documents();
        let broken = check(&documents);
        documents.trouble()?;
        Ok(broken)
    }

    /// Changes what will be written, and gives the constants that were not needed.
    pub(super) fn apply(&self, source: &mut Source) -> Result<LeftOut, PackError> {
        let left_out = if self.dedup { dedup(source)? } else { LeftOut::default() };
        if self.skip_graph && source.members.iter().any(|member| member.name == b"kelf-0.json") {
            source.members.retain(|member| member.name != b"neff.json");
        }
        Ok(left_out)
    }
}

fn dedup(source: &mut Source) -> Result<LeftOut, PackError> {
    let documents = source.documents();
    let shared = share(&documents, |member| documents.digest(member));
    documents.trouble()?;
    let mut shared = shared?;
    source.members.retain(|member| !shared.dropped.contains(&member.name));
    for member in &mut source.members {
        if let Some(definition) = shared.definitions.remove(&member.name) {
            member.replace(definition);
        }
    }
    Ok(LeftOut { members: shared.dropped.len() as u64, bytes: shared.saved })
}

/// Says which asserts do not hold; nothing is written.
pub(super) fn refused(
    arguments: &PackArguments,
    broken: &[Broken],
    output: &mut Output,
) -> Result<Answer, Trouble> {
    if output.json() {
        let list: Vec<Value> = broken
            .iter()
            .map(|broken| json!({ "rule": broken.rule.name(), "member": broken.member, "message": broken.to_string() }))
            .collect();
        output.document(
            Document::new("pack").set("error", "the producer's asserts do not hold").set("broken", list),
        )?;
    }
    for broken in broken {
        shown::complain(format_args!("neffload: {}: {broken}", shown::path(&arguments.source)));
    }
    Ok(Answer::Refused)
}
