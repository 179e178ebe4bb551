//! `neffload inspect`: what is in a file.

mod people;

use crate::Answer;
use crate::output::{Document, Output, verdict};
use crate::trouble::Trouble;
use clap::Args;
use loader_core::arch::Arch;
use loader_core::error::NoteList;
use loader_core::limits::Limits;
use loader_core::manifest;
use loader_core::policy::Policy;
use loader_core::source::{MemberId, MemberNames, Payload, Source};
use loader_std::container::{
    Ask, Survey, digest_json, features_json, file_json, header_json, log, survey_with, table_json,
};
use loader_std::file::{Buffers, Input};
use loader_std::growing::with_arena;
use loader_std::inspect::{manifest_json, warnings_json};
use loader_std::members::{Unpacked, Unpacking};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Remarks that are kept for `warnings`.
const MOST_NOTES: usize = 64;

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
    #[arg(long, value_name = "N")]
    lnc: Option<u32>,
}

/// An architecture by its name or alias.
pub(crate) fn arch(text: &str) -> Result<Arch, String> {
    match text {
        "sunda" | "v2" => Ok(Arch::Sunda),
        "cayman" | "v3" => Ok(Arch::Cayman),
        "mariana" | "v4" => Ok(Arch::Mariana),
        _ => Err(format!("`{text}` is none of sunda, cayman, mariana")),
    }
}

impl InspectArguments {
    fn policy(&self) -> Policy {
        Policy {
            verify_digest: self.verify_hash,
            report_digest: true,
            tooling: true,
            host_arch: self.arch,
            lnc: self.lnc,
            ..Policy::DEFAULT
        }
    }
}

/// Runs `inspect`: one pass over the file, which may be a pipe and have its manifests at its end.
pub(crate) fn run(arguments: &InspectArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let mut input = Input::open(&arguments.file).map_err(Trouble::at(&arguments.file))?;
    let (policy, limits) = (arguments.policy(), Limits::DEFAULT);
    let ask = Ask { members: true, digests: arguments.digests, file_digest: true };
    let mut unpacking = Unpacking::new(|_: &[u8]| false);
    let mut progress = output.progress("reading", input.len());
    let told = |done| progress.set(done);
    let seen = survey_with(&mut input, &mut Buffers::new(), &policy, &limits, ask, &mut unpacking, told)
        .map_err(|error| Trouble::Usage(format!("{}: {error}", arguments.file.display())))?;
    drop(progress);
    let (manifests, refusal) = match seen.error {
        Some(error) => {
            let mut refused = verdict::refused(&error, &NoNames);
            refused["log"] = log(&error, seen.header.as_ref()).into();
            (Map::new(), Some(refused))
        }
        None => manifests(&unpacking.unpacked(), &policy, &limits),
    };
    let verdict = refusal.unwrap_or_else(verdict::accepted);
    let answer = if verdict["accepted"] == true { Answer::Done } else { Answer::Refused };
    let document = assemble(&seen, manifests, verdict);
    if output.json() {
        output.document(&document)?;
    } else {
        people::print(arguments, &document, output)?;
    }
    Ok(answer)
}

/// The manifests' part of the document, and the refusal if S2 refuses.
fn manifests(members: &Unpacked, policy: &Policy, limits: &Limits) -> (Map<String, Value>, Option<Value>) {
    let mut map = Map::new();
    let mut refusal = None;
    let outcome = with_arena(|arena| {
        let mut notes = NoteList::<MOST_NOTES>::new();
        let mut payload = members.payload(arena)?;
        let table = payload.table();
        match manifest::parse(&mut payload, arena, limits, policy, &mut notes) {
            Ok(manifest) => {
                map = manifest_json(&manifest, &table);
                map.insert("warnings".to_owned(), warnings_json(notes.kept()));
            }
            Err(error) if loader_std::growing::is_full(&error) => return Err(error),
            Err(error) => {
                map.insert("warnings".to_owned(), warnings_json(notes.kept()));
                refusal = Some(verdict::refused(&error, &table));
            }
        }
        Ok(())
    });
    if let Err(error) = outcome {
        refusal = Some(verdict::refused(&error, &NoNames));
    }
    (map, refusal)
}

fn assemble(seen: &Survey, manifests: Map<String, Value>, verdict: Value) -> Document {
    let mut document = Document::new("inspect");
    document.set("file", file_json(seen));
    if let Some(header) = &seen.header {
        document.set("header", header_json(header)).set("features", features_json(header));
    }
    if let Some(digest) = digest_json(seen) {
        document.set("digest", digest);
    }
    if let Some(payload) = &seen.payload {
        document.set(
            "payload",
            serde_json::json!({
                "layers": payload.layers, "gzip_members": payload.gzip_members,
                "trailers_fit": payload.trailers_fit, "archive_bytes": payload.archive_bytes,
                "entries": seen.entries, "content_bytes": seen.content,
            }),
        );
        document.set("table", table_json(seen));
    }
    document.set("verdict", verdict);
    let remarks = warnings_json(&seen.notes);
    for (key, value) in manifests {
        document.set(&key, value);
    }
    document.append("warnings", remarks);
    document
}

/// Names of members, where there is no table to look in.
pub(crate) struct NoNames;

impl MemberNames for NoNames {
    fn name_of(&self, _: MemberId) -> Option<&[u8]> {
        None
    }
}
