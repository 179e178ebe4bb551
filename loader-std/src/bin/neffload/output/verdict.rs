//! The `verdict` object of JSON documents, and the same for people.

pub(crate) use loader_std::verdict::{accepted, refused};

use super::{Paint, Style};
use loader_core::error::Error;
use loader_core::source::MemberNames;

/// One line that says why, for people.
pub(crate) fn refusal_line(error: &Error, names: &impl MemberNames, style: Style) -> String {
    format!("{} {}", style.paint(Paint::Bad, "refused:"), error.with_names(names))
}
