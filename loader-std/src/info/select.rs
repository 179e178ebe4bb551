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

/// What a pattern finds. The search is not anchored, so `.` also matches in `sg00/def-json.bak`; a strict one
/// ends where the name ends.
#[derive(Clone, Debug)]
pub struct Selector(Regex);

impl Selector {
    /// A selector by that pattern.
    ///
    /// # Errors
    /// N111 for a bad pattern, N114 for one with look-around or a backreference.
    pub fn new(pattern: &str, strict: bool) -> Result<Self, Refusal> {
        let anchored = if strict { format!("(?:{pattern})$") } else { pattern.to_owned() };
        let bad = |error: regex::Error| {
            // The engine knows them, to say that it has none: it never goes back in what it searches.
            let unsupported = error.to_string().contains("not supported");
            let code = if unsupported { ToolCode::UnsupportedPattern } else { ToolCode::BadPattern };
            Refusal::named(code, pattern.as_bytes())
        };
        Regex::new(&anchored).map(Self).map_err(bad)
    }

    /// True if the pattern is found in the name.
    #[must_use]
    pub fn finds(&self, name: &[u8]) -> bool {
        self.0.is_match(name)
    }
}

/// The first match.
pub(super) fn first<'m>(
    members: &'m impl Members,
    pattern: &str,
    strict: bool,
) -> Result<Selected<'m>, Refusal> {
    let selector = Selector::new(pattern, strict)?;
    let found = members.names().find(|name| selector.finds(name));
    let selected = found.and_then(|name| Some(Selected { name, content: members.content(name)? }));
    selected.ok_or_else(|| Refusal::absent(pattern.as_bytes()))
}
