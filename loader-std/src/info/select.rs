//! The reader's selection rule: sort the names, keep those in which a pattern is found, take the
//! first (manifests.md §19.1).

use crate::members::Members;
use crate::refusal::Refusal;
use loader_core::error::ToolCode;
use regex::bytes::Regex;

/// A member that a pattern selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected<'m> {
    /// Its name.
    pub name: &'m [u8],
    /// Its bytes.
    pub content: &'m [u8],
}

/// The first match. The search is not anchored, so `.` also matches in `sg00/def-json.bak`;
/// `strict` anchors it at the end.
pub(super) fn first<'m>(
    members: &'m impl Members,
    pattern: &str,
    strict: bool,
) -> Result<Selected<'m>, Refusal> {
    let anchored = if strict { format!("(?:{pattern})$") } else { pattern.to_owned() };
    let bad = |_| Refusal::named(ToolCode::BadPattern, pattern.as_bytes());
    let regex = Regex::new(&anchored).map_err(bad)?;
    let found = members.names().find(|name| regex.is_match(name));
    let selected = found.and_then(|name| Some(Selected { name, content: members.content(name)? }));
    selected.ok_or_else(|| Refusal::absent(pattern.as_bytes()))
}
