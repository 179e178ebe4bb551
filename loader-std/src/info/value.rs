//! A validated document as a `serde_json` value, for the raw getters.

use crate::refusal::Refusal;
use loader_core::json::{Element, Kind, Text};
use serde_json::{Map, Value};

/// The whole document. Its depth is bounded by the lexer's limit, and so is the recursion here.
/// Of a key that an object has twice, the first counts (manifests.md §3).
pub(super) fn of(member: &[u8], root: Element<'_>) -> Result<Value, Refusal> {
    value(root).map_err(|refusal| refusal.of(member))
}

fn value(element: Element<'_>) -> Result<Value, Refusal> {
    Ok(match element.kind() {
        Kind::Null => Value::Null,
        Kind::True => true.into(),
        Kind::False => false.into(),
        Kind::Number => number(element)?,
        Kind::String => element.text().map_or(Value::Null, |text| characters(text).into()),
        Kind::Array => element.items().into_iter().flatten().map(value).collect::<Result<_, _>>()?,
        Kind::Object => object(element)?,
    })
}

/// Integers stay exact as far as 64 bits go.
fn number(element: Element<'_>) -> Result<Value, Refusal> {
    if let Ok(number) = element.u64() {
        return Ok(number.into());
    }
    if let Ok(number) = element.i64() {
        return Ok(number.into());
    }
    element.f64().map(Value::from).map_err(|wrong| Refusal::mismatch("number", wrong))
}

fn object(element: Element<'_>) -> Result<Value, Refusal> {
    let mut map = Map::new();
    for (key, field) in element.fields().into_iter().flatten() {
        let key = characters(key);
        if !map.contains_key(&key) {
            map.insert(key, value(field)?);
        }
    }
    Ok(Value::Object(map))
}

/// The characters of a validated string.
pub(crate) fn characters(text: Text<'_>) -> String {
    String::from_utf8_lossy(&text.bytes().collect::<Vec<u8>>()).into_owned()
}
