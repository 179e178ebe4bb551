#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::{Repeats, SHALLOW, Shape, Type, U8, U64, Unbound};
use crate::error::{ManifestCode, Stage};
use crate::json::{Element, Text};
use crate::limits::Limits;
use serde::Deserialize;

extern crate std;
use std::string::ToString;

#[derive(Debug, Deserialize)]
struct Outer<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    size: Option<u64>,
    #[serde(default)]
    dynamic: bool,
    #[serde(default)]
    index: u8,
}

const OUTER: Shape = Shape {
    fields: &[("name", Type::Text), ("size", U64), ("dynamic", Type::Flag), ("index", U8)],
    repeats: Repeats::FirstCounts,
};

const STRICT: Shape = Shape { fields: OUTER.fields, repeats: Repeats::Refused };

fn element(text: &str) -> Element<'_> {
    Element::parse(text.as_bytes(), &Limits::DEFAULT).unwrap()
}

fn bind<'s>(text: &'s str, scratch: &'s mut [u8]) -> Result<Outer<'s>, Unbound> {
    element(text).bind(&OUTER, scratch)
}

#[test]
fn binds_a_usual_text_where_it_stands() {
    let text = r#"{"name": "x", "size": 8, "index": 3, "other": [1]}"#;
    let outer = bind(text, &mut []).unwrap();
    assert_eq!((outer.name.raw(), outer.size, outer.index), (b"x".as_slice(), Some(8), 3));
    assert!(!outer.dynamic);
}

#[test]
fn rewrites_what_the_binder_would_misread() {
    let mut scratch = [0; 128];
    let text = r#"{"n\u0061me": "a\n", "dynamic": 1, "size": 1, "size": 2,
                   "deep": [[[{}]]], "index": 7}"#;
    let outer = bind(text, &mut scratch).unwrap();
    assert!(outer.name.is(b"a\n"));
    assert_eq!((outer.dynamic, outer.size, outer.index), (true, Some(1), 7));
}

#[test]
fn names_the_field_of_the_wrong_type() {
    let wrong = [
        (r#"{"name": "x", "size": null}"#, "size", 22),
        (r#"{"name": "x", "size": 1.0}"#, "size", 22),
        (r#"{"name": "x", "size": -1}"#, "size", 22),
        (r#"{"name": 1}"#, "name", 9),
        (r#"{"name": "x", "dynamic": 2}"#, "dynamic", 25),
        (r#"{"name": "x", "index": 256}"#, "index", 23),
        (r#"[1]"#, "", 0),
    ];
    for (text, key, offset) in wrong {
        match bind(text, &mut []).unwrap_err() {
            Unbound::Type(name, mismatch) => assert_eq!((name, mismatch.offset), (key, offset)),
            other => assert_eq!(text, std::format!("{other:?}")),
        }
    }
}

#[test]
fn tells_missing_repeated_and_scratch_apart() {
    assert_eq!(bind(r#"{"size": 1}"#, &mut []).unwrap_err(), Unbound::Missing(0));
    let twice = element(r#"{"name": "x", "size": 1, "size": 1}"#);
    let refused = twice.bind::<Outer<'_>>(&STRICT, &mut []).unwrap_err();
    assert_eq!(refused, Unbound::Repeated("size", 33));
    assert_eq!(twice.bind::<Outer<'_>>(&OUTER, &mut [0; 8]).unwrap_err(), Unbound::Scratch(0));
    let error = refused.error(Stage::Manifest, ManifestCode::Internal);
    assert_eq!(error.id().to_string(), "E122");
}

#[test]
fn finds_repeated_keys_at_any_depth() {
    assert!(element(r#"{"a": [{"b": 1}, {"b": 2}], "b": {"a": 1}}"#).repeated_key().is_none());
    let (key, offset) = element(r#"[0, {"a": {"b": "\"b\":", "\u0062": 1}}]"#).repeated_key().unwrap();
    assert!(key.is(b"b"));
    assert_eq!(offset, 36);
}

/// The binder recurses into values that it passes over. What it is given of those is cut to `SHALLOW` bytes, so it is
/// never more than half as many levels deep; whatever is longer is left out before it sees the text.
#[test]
fn the_binder_never_goes_deep() {
    let limits = Limits { json_depth: 1024, ..Limits::DEFAULT };
    for depth in 1..=400 {
        let deep = std::format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let text = std::format!(r#"{{"name": "x", "size": 5, "other": {deep}}}"#);
        let value = Element::parse(text.as_bytes(), &limits).unwrap();
        let clean = OUTER.check(value).unwrap();
        assert_eq!(clean, deep.len() <= SHALLOW, "{depth}");
        let mut scratch = [0; 128];
        let outer: Outer<'_> = value.bind(&OUTER, &mut scratch).unwrap();
        assert_eq!(outer.size, Some(5));
    }
}
