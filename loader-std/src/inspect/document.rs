//! The whole document of `inspect --json`.

use super::{manifest_json, warnings_json};
use crate::container::{
    Ask, Survey, VecStore, digest_json, features_json, file_json, header_json, log, survey, table_json,
};
use crate::file::Buffers;
use crate::growing::{is_full, with_arena};
use crate::verdict::{self, NoNames};
use loader_core::container::{Resident, unpack};
use loader_core::error::{Error, NoteList};
use loader_core::limits::Limits;
use loader_core::manifest::{self, Manifest};
use loader_core::policy::Policy;
use serde_json::{Map, Value, json};

/// Remarks that are kept for `warnings`.
const MOST_NOTES: usize = 64;

/// The document of `inspect --json` without its schema: what is in a file, as far as it can be read. `also` sees
/// the manifests with the members they describe.
///
/// # Errors
/// That the file could not be digested; a refused file is no error, its document says why.
pub fn document(
    file: &[u8],
    policy: &Policy,
    digests: bool,
    also: impl FnMut(&Manifest<'_>, &Resident<'_, '_>),
) -> Result<Map<String, Value>, Error> {
    let limits = Limits::DEFAULT;
    let mut buffers = Buffers::new();
    let ask = Ask { members: true, digests, file_digest: true };
    let seen = survey(&mut &file[..], &mut buffers, policy, &limits, ask, |_| {})?;
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
            Err(error) if is_full(&error) => return Err(error),
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
    let warnings = document.entry("warnings").or_insert_with(|| Value::Array(Vec::new()));
    if let (Value::Array(warnings), Value::Array(remarks)) = (warnings, warnings_json(&seen.notes)) {
        warnings.extend(remarks);
    }
    document
}
