//! `neffload inspect`: what is in a file.

mod people;

use crate::Answer;
use crate::files::hold;
use crate::output::{Document, Output, verdict};
use crate::trouble::Trouble;
use clap::Args;
use loader_core::arch::Arch;
use loader_core::container::{Resident, unpack};
use loader_core::error::NoteList;
use loader_core::limits::Limits;
use loader_core::manifest::{self, Manifest};
use loader_core::policy::Policy;
use loader_core::source::{MemberId, MemberNames};
use loader_std::container::{
    Ask, Survey, VecStore, digest_json, features_json, file_json, header_json, log, survey, table_json,
};
use loader_std::file::{Buffers, Input};
use loader_std::growing::with_arena;
use loader_std::inspect::{manifest_json, warnings_json};
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

/// Runs `inspect`.
pub(crate) fn run(arguments: &InspectArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let mut input = Input::open(&arguments.file).map_err(Trouble::at(&arguments.file))?;
    // A file may be a pipe, and the manifests may be its last members.
    let file = hold(&arguments.file, &mut input, output)?;
    let document = document(&file, &arguments.policy(), arguments.digests, |_, _| {})?;
    let answer = if document.get("verdict")["accepted"] == true { Answer::Done } else { Answer::Refused };
    if output.json() {
        output.document(&document)?;
    } else {
        people::print(arguments, &document, output)?;
    }
    Ok(answer)
}

/// What is in a file, as far as it can be read; `also` sees the manifests with the members they describe.
pub(crate) fn document(
    file: &[u8],
    policy: &Policy,
    digests: bool,
    also: impl FnMut(&Manifest<'_>, &Resident<'_, '_>),
) -> Result<Document, Trouble> {
    let limits = Limits::DEFAULT;
    let mut buffers = Buffers::new();
    let ask = Ask { members: true, digests, file_digest: true };
    let seen = survey(&mut &file[..], &mut buffers, policy, &limits, ask, |_| {})
        .map_err(|error| Trouble::Usage(error.to_string()))?;
    let (manifests, refusal) = match seen.error {
        Some(error) => {
            let mut refused = verdict::refused(&error, &NoNames);
            refused["log"] = log(&error, seen.header.as_ref()).into();
            (Map::new(), Some(refused))
        }
        None => manifests(file, &mut buffers, policy, &limits, also),
    };
    Ok(assemble(&seen, manifests, refusal.unwrap_or_else(verdict::accepted)))
}

/// The manifests' part of the document, and the refusal if S2 refuses.
fn manifests(
    file: &[u8],
    buffers: &mut Buffers,
    policy: &Policy,
    limits: &Limits,
    mut also: impl FnMut(&Manifest<'_>, &Resident<'_, '_>),
) -> (Map<String, Value>, Option<Value>) {
    let mut map = Map::new();
    let mut refusal = None;
    let outcome = with_arena(|arena| {
        let mut notes = NoteList::<MOST_NOTES>::new();
        let mut store = VecStore::new();
        let container =
            unpack(&mut &file[..], buffers.workspace(), &mut store, arena, limits, policy, &mut notes)?;
        let bytes = store.into_bytes();
        let mut payload = Resident::new(container, &bytes);
        match manifest::parse(&mut payload, arena, limits, policy, &mut notes) {
            Ok(manifest) => {
                map = manifest_json(&manifest, &container.table);
                map.insert("warnings".to_owned(), warnings_json(notes.kept()));
                also(&manifest, &payload);
            }
            Err(error) if loader_std::growing::is_full(&error) => return Err(error),
            Err(error) => {
                map.insert("warnings".to_owned(), warnings_json(notes.kept()));
                refusal = Some(verdict::refused(&error, &container.table));
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
