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
use std::collections::BTreeSet;
use std::io;

/// Options that follow a compiler's packager.
#[derive(Args, Debug)]
pub(super) struct ProducerArguments {
    /// Refuse what the producer asserts against: more than 176 DMA queues, a pinned queue with a semaphore, software
    /// descriptor generation elsewhere than on GPSIMD, tables of tensors without memory of their own
    #[arg(long)]
    check: bool,
    /// Let constants with the same content share one member
    #[arg(long)]
    dedup: bool,
    /// Do not read `info.json`: name file.neff, version 1.1, no engines
    #[arg(long)]
    pub(super) override_header: bool,
    /// Leave `neff.json` out where there is a `kelf-0.json`; no loader takes such a file
    #[arg(long)]
    skip_graph: bool,
}

/// The name of a member that is a definition, or nothing.
fn is_definition(name: &[u8]) -> bool {
    name == b"def.json" || name.ends_with(b"/def.json")
}

impl ProducerArguments {
    /// Changes what will be written, and gives the constants that were not needed.
    pub(super) fn apply(&self, source: &mut Source) -> Result<LeftOut, PackError> {
        if self.skip_graph && source.members.iter().any(|member| member.name == b"kelf-0.json") {
            source.members.retain(|member| member.name != b"neff.json");
        }
        if self.dedup { dedup(source) } else { Ok(LeftOut::default()) }
    }

    /// The asserts that do not hold.
    pub(super) fn broken(&self, source: &Source) -> io::Result<Vec<Broken>> {
        let mut definitions = Vec::new();
        for member in source.members.iter().filter(|member| self.check && is_definition(&member.name)) {
            // What is no JSON is nothing to assert about; a loader says what is wrong with it.
            if let Ok(definition) = serde_json::from_slice::<Value>(&member.bytes()?) {
                definitions.push((String::from_utf8_lossy(&member.name).into_owned(), definition));
            }
        }
        Ok(check(definitions.iter().map(|(name, definition)| (name.as_str(), definition))))
    }
}

fn dedup(source: &mut Source) -> Result<LeftOut, PackError> {
    let mut dropped = BTreeSet::new();
    let mut left_out = LeftOut::default();
    for at in 0..source.members.len() {
        let member = &source.members[at];
        if !is_definition(&member.name) {
            continue;
        }
        let Ok(mut definition) = serde_json::from_slice::<Value>(&member.bytes()?) else { continue };
        let dir = member.name.strip_suffix(b"def.json").unwrap_or_default().to_vec();
        let content = |name: &[u8]| {
            let found = source.members.iter().find(|member| member.name == name)?;
            found.bytes().ok()
        };
        let shared = share(&mut definition, &dir, content);
        if shared.dropped.is_empty() {
            continue;
        }
        left_out.members += shared.dropped.len() as u64;
        left_out.bytes += shared.saved;
        dropped.extend(shared.dropped);
        let bytes = serde_json::to_vec_pretty(&definition).map_err(io::Error::from)?;
        source.members[at].replace(bytes);
    }
    source.members.retain(|member| !dropped.contains(&member.name));
    Ok(left_out)
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
