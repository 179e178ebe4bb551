//! The `verdict` object of JSON documents.

use loader_core::error::{Error, Status};
use loader_core::source::MemberNames;
pub use loader_core::source::NoNames;
use serde_json::{Value, json};

/// `verdict` of a file that was taken.
#[must_use]
pub fn accepted() -> Value {
    let status = Status::Success;
    json!({
        "accepted": true, "status": status.number(), "status_name": status.name(), "stage": null, "log": null,
    })
}

/// `verdict` of a file, a model or a device that refused.
#[must_use]
pub fn refused(error: &Error, names: &impl MemberNames) -> Value {
    let member = error.at().member.and_then(|id| names.name_of(id)).map(String::from_utf8_lossy);
    json!({
        "accepted": false,
        "status": error.status().number(),
        "status_name": error.status().name(),
        "stage": error.stage().name(),
        "log": error.log().to_string(),
        "code": error.id().to_string(),
        "member": member,
        "offset": error.at().offset,
        "element": error.at().element,
        "subgraph": error.at().subgraph,
        "expected": error.expected().to_string(),
        "found": found(error),
        "remedy": error.remedy().to_string(),
        "message": error.with_names(names).to_string(),
    })
}

/// The value that the code's text shows first: what was found.
fn found(error: &Error) -> Value {
    let text = error.code().info().text;
    let Some((_, rest)) = text.split_once('{') else { return Value::Null };
    let at = error.at();
    match rest.split(['}', ':']).next() {
        Some("name") => json!(at.name.to_string()),
        Some("name2") => json!(at.name2.to_string()),
        Some("a") => json!(at.a),
        Some("b") => json!(at.b),
        Some("c") => json!(at.c),
        _ => Value::Null,
    }
}
