//! A validated document as a `serde_json` value, for the raw getters, and as text with its numbers as they stand.

use loader_core::json::{Element, Kind, Text};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The whole document. Its depth is bounded by the lexer's limit, and so is the recursion here.
/// Of a key that an object has twice, the first counts (manifests.md §3).
pub(super) fn of(element: Element<'_>) -> Value {
    match element.kind() {
        Kind::Null => Value::Null,
        Kind::True => true.into(),
        Kind::False => false.into(),
        Kind::Number => number(element),
        Kind::String => element.text().map_or(Value::Null, |text| characters(text).into()),
        Kind::Array => element.items().into_iter().flatten().map(of).collect(),
        Kind::Object => object(element),
    }
}

/// Integers stay exact as far as 64 bits go. What neither they nor a double hold is a string with its digits.
fn number(element: Element<'_>) -> Value {
    let text = || Value::from(written(element));
    if let Ok(number) = element.u64() {
        return number.into();
    }
    if let Ok(number) = element.i64() {
        return number.into();
    }
    let integer = !element.bytes().iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    // `-0` is an integer that only a double tells from 0.
    match element.f64() {
        Ok(number) if !integer || number == 0.0 => number.into(),
        _ => text(),
    }
}

/// A scalar as the file has it.
fn written(element: Element<'_>) -> &str {
    str::from_utf8(element.bytes()).unwrap_or_default()
}

/// The document as JSON text for people, at `depth` levels of two spaces: every number as the file has it, every key
/// of an object once, the first. Its depth is bounded by the lexer's limit, and so is the recursion here.
pub(super) fn text(element: Element<'_>, depth: usize) -> String {
    let mut out = String::new();
    write(element, depth, &mut out);
    out
}

fn write(element: Element<'_>, depth: usize, out: &mut String) {
    match element.kind() {
        Kind::Object => {
            let mut seen = BTreeSet::new();
            let fields = element.fields().into_iter().flatten().map(|(key, value)| (characters(key), value));
            let mut first = fields.filter(|(key, _)| seen.insert(key.clone())).peekable();
            let open = if first.peek().is_some() { "{" } else { "{}" };
            out.push_str(open);
            let mut comma = "";
            let empty = open.len() > 1;
            for (key, value) in first {
                line(out, comma, depth + 1);
                *out += &Value::from(key).to_string();
                *out += ": ";
                write(value, depth + 1, out);
                comma = ",";
            }
            close(out, empty, depth, '}');
        }
        Kind::Array => {
            let mut items = element.items().into_iter().flatten().peekable();
            let empty = items.peek().is_none();
            out.push_str(if empty { "[]" } else { "[" });
            let mut comma = "";
            for item in items {
                line(out, comma, depth + 1);
                write(item, depth + 1, out);
                comma = ",";
            }
            close(out, empty, depth, ']');
        }
        Kind::String => {
            *out += &element.text().map_or(Value::Null, |text| characters(text).into()).to_string()
        }
        Kind::Null | Kind::True | Kind::False | Kind::Number => *out += written(element),
    }
}

fn line(out: &mut String, comma: &str, depth: usize) {
    *out += comma;
    out.push('\n');
    *out += &"  ".repeat(depth);
}

fn close(out: &mut String, empty: bool, depth: usize, bracket: char) {
    if !empty {
        line(out, "", depth);
        out.push(bracket);
    }
}

fn object(element: Element<'_>) -> Value {
    let mut map = Map::new();
    for (key, field) in element.fields().into_iter().flatten() {
        let key = characters(key);
        if !map.contains_key(&key) {
            map.insert(key, of(field));
        }
    }
    Value::Object(map)
}

/// The characters of a validated string.
pub(crate) fn characters(text: Text<'_>) -> String {
    String::from_utf8_lossy(&text.bytes().collect::<Vec<u8>>()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{of, text};
    use loader_core::json::Element;
    use serde_json::{Value, json};

    fn element(text: &str) -> Element<'_> {
        Element::parse(text.as_bytes(), &Default::default()).unwrap()
    }

    #[test]
    fn numbers_are_exact_or_as_they_are_written() {
        let value = |text| of(element(text));
        assert_eq!(value("18446744073709551615"), json!(u64::MAX));
        assert_eq!(value("-9223372036854775808"), json!(i64::MIN));
        assert_eq!(value("18446744073709551616"), json!("18446744073709551616"));
        assert_eq!(value("-9223372036854775809"), json!("-9223372036854775809"));
        assert_eq!(value("1e400"), json!("1e400"));
        assert_eq!(value("-1E+400"), json!("-1E+400"));
        assert_eq!((value("1e2"), value("0.5"), value("1e-400")), (json!(100.0), json!(0.5), json!(0.0)));
    }

    #[test]
    fn text_keeps_numbers_and_the_first_of_equal_keys() {
        let source = r#" {"a":[1e400,18446744073709551616,-0,0.10],"a":2,"b":{},"c":[ ],"d\u00e9\u0001":"x\"y\n",
            "e":[[null],true]}"#;
        let pretty = text(element(source), 0);
        let expected = "{\n  \"a\": [\n    1e400,\n    18446744073709551616,\n    -0,\n    0.10\n  ],\n  \"b\": {},\n  \
            \"c\": [],\n  \"d\u{e9}\\u0001\": \"x\\\"y\\n\",\n  \"e\": [\n    [\n      null\n    ],\n    true\n  ]\n}";
        assert_eq!(pretty, expected);
        // Where a value holds all of it, the text is that of the value.
        let plain = r#"{"a": [1, {"b": [], "c": {"d": -2.5}}], "e": "\u2028"}"#;
        let parsed: Value = serde_json::from_str(plain).unwrap();
        assert_eq!(text(element(plain), 0), format!("{parsed:#}"));
    }
}
