//! The whole document of `inspect --json`.

use super::{manifest_json, warnings_json};
use crate::container::both::{Both, Unheard};
use crate::container::{
    Ask, Remarks, Survey, digest_json, features_json, file_json, header_json, log, survey_with, table_json,
};
use crate::file::Buffers;
use crate::growing::{is_full, with_arena};
use crate::members::{Unpacked, Unpacking};
use crate::sidecars;
use crate::verdict::{self, NoNames};
use loader_core::container::{Events, MemberTable};
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::manifest::{self, Manifest};
use loader_core::policy::Policy;
use loader_core::source::{Payload, Source};
use serde_json::{Map, Value, json};

/// What is asked of a file.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// How it is judged.
    pub policy: &'a Policy,
    /// SHA-256 of every member.
    pub digests: bool,
    /// Members whose content the manifests are seen with, beside the documents.
    pub wanted: fn(&[u8]) -> bool,
}

impl<'a> Question<'a> {
    /// The documents alone, without digests.
    #[must_use]
    pub const fn new(policy: &'a Policy) -> Self {
        Self { policy, digests: false, wanted: |_| false }
    }
}

/// The document of `inspect --json` without its schema: what is in a file, as far as it can be read, from one pass
/// over it. `told` hears the bytes done so far; `also` sees the manifests and the members that were kept.
///
/// # Errors
/// The source's refusal to be read; a refused file is no error, its document says why.
pub fn document<S: Source>(
    source: &mut S,
    question: Question<'_>,
    told: impl FnMut(u64),
    also: impl FnMut(&Manifest<'_>, &MemberTable<'_>, &Unpacked),
) -> Result<Map<String, Value>, Error> {
    document_beside(source, question, &mut Unheard, told, also).map(|(document, _)| document)
}

/// The same, with the events of the pass told to `beside` as well, and with what the pass found.
///
/// # Errors
/// The source's refusal to be read.
pub fn document_beside<S: Source, E: Events>(
    source: &mut S,
    question: Question<'_>,
    beside: &mut E,
    told: impl FnMut(u64),
    also: impl FnMut(&Manifest<'_>, &MemberTable<'_>, &Unpacked),
) -> Result<(Map<String, Value>, Survey), Error> {
    let (policy, limits) = (question.policy, Limits::DEFAULT);
    let ask = Ask { members: true, digests: question.digests, file_digest: true };
    // `info.json` whole, whatever is in it, so that it can be said to be malformed.
    let wanted = |name: &[u8]| name == b"info.json" || (question.wanted)(name);
    let mut takers = Both { first: Unpacking::new(wanted), second: beside };
    let seen = survey_with(source, &mut Buffers::new(), policy, &limits, ask, &mut takers, told)?;
    let (manifests, refusal) = match seen.error {
        Some(error) => {
            let mut refused = verdict::refused(&error, &NoNames);
            refused["log"] = log(&error, seen.header.as_ref()).into();
            (Map::new(), Some(refused))
        }
        None => manifests(&takers.first.unpacked(), policy, &limits, also),
    };
    let document = assemble(&seen, manifests, refusal.unwrap_or_else(verdict::accepted));
    Ok((document, seen))
}

/// The manifests' part of the document, and the refusal if S2 refuses.
fn manifests(
    members: &Unpacked,
    policy: &Policy,
    limits: &Limits,
    mut also: impl FnMut(&Manifest<'_>, &MemberTable<'_>, &Unpacked),
) -> (Map<String, Value>, Option<Value>) {
    let mut map = Map::new();
    let mut refusal = None;
    let outcome = with_arena(|arena| {
        let mut notes = Remarks::new();
        let mut payload = members.payload(arena)?;
        let table = payload.table();
        match manifest::parse(&mut payload, arena, limits, policy, &mut notes) {
            Ok(manifest) => {
                map = manifest_json(&manifest, &table);
                also(&manifest, &table, members);
                refusal = manifest.judge(policy).err().map(|error| verdict::refused(&error, &table));
            }
            Err(error) if is_full(&error) => return Err(error),
            Err(error) => refusal = Some(verdict::refused(&error, &table)),
        }
        let aside =
            sidecars::info(&payload, limits).into_iter().chain(sidecars::tensor_map(&payload, limits));
        let warnings: Vec<Error> = notes.kept().iter().copied().chain(aside).collect();
        map.insert("warnings".to_owned(), warnings_json(&warnings));
        let missing: Vec<Error> = sidecars::statistics(&payload, limits).err().into_iter().collect();
        map.insert("remarks".to_owned(), warnings_json(&missing));
        Ok(())
    });
    if let Err(error) = outcome {
        refusal = Some(verdict::refused(&error, &NoNames));
    }
    (map, refusal)
}

fn assemble(seen: &Survey, manifests: Map<String, Value>, verdict: Value) -> Map<String, Value> {
    let mut document = Map::new();
    let mut set = |key: &str, value: Value| drop(document.insert(key.to_owned(), value));
    set("file", file_json(seen));
    if let Some(header) = &seen.header {
        set("header", header_json(header));
        set("features", features_json(header));
    }
    if let Some(digest) = digest_json(seen) {
        set("digest", digest);
    }
    if let Some(payload) = &seen.payload {
        let shape = json!({
            "layers": payload.layers, "gzip_members": payload.gzip_members,
            "trailers_fit": payload.trailers_fit, "archive_bytes": payload.archive_bytes,
            "entries": seen.entries, "content_bytes": seen.content,
        });
        set("payload", shape);
        set("table", table_json(seen));
    }
    set("verdict", verdict);
    document.extend(manifests);
    // In the order in which a load makes them: those of S0 and S1 first.
    let mut warnings = warnings_json(seen.notes.kept());
    if let (Value::Array(all), Some(Value::Array(later))) = (&mut warnings, document.remove("warnings")) {
        all.extend(later);
    }
    document.insert("warnings".to_owned(), warnings);
    document
}
