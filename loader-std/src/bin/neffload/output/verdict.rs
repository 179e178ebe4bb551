//! The `verdict` object of JSON documents, and the same for people.

use super::{Paint, Style};
use loader_core::error::{Error, Status};
use loader_core::source::MemberNames;
use serde_json::{Value, json};

/// `verdict` of a file that was taken.
pub(crate) fn accepted() -> Value {
    let status = Status::Success;
    json!({
        "accepted": true, "status": status.number(), "status_name": status.name(), "stage": null, "log": null,
    })
}

/// `verdict` of a file, a model or a device that refused.
pub(crate) fn refused(error: &Error, names: &impl MemberNames) -> Value {
    let member = error.at.member.and_then(|id| names.name_of(id)).map(String::from_utf8_lossy);
    let expected = error.expected().to_string();
    json!({
        "accepted": false,
        "status": error.status().number(),
        "status_name": error.status().name(),
        "stage": error.stage.name(),
        "log": error.log().to_string(),
        "code": error.id().to_string(),
        "member": member,
        "offset": error.at.offset,
        "element": error.at.element,
        "subgraph": error.at.subgraph,
        "expected": (!expected.is_empty()).then_some(expected),
        "found": found(error),
        "message": error.with_names(names).to_string(),
    })
}

/// The value that the code's text shows first: what was found.
fn found(error: &Error) -> Value {
    let text = error.code.info().text;
    let Some((_, rest)) = text.split_once('{') else { return Value::Null };
    let at = &error.at;
    match rest.split(['}', ':']).next() {
        Some("name") => json!(at.name.to_string()),
        Some("name2") => json!(at.name2.to_string()),
        Some("a") => json!(at.a),
        Some("b") => json!(at.b),
        Some("c") => json!(at.c),
        _ => Value::Null,
    }
}

/// One line that says why, for people.
pub(crate) fn refusal_line(error: &Error, names: &impl MemberNames, style: Style) -> String {
    format!("{} {}", style.paint(Paint::Bad, "refused:"), error.with_names(names))
}
