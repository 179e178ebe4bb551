//! The lexer, the cutter and the getters against serde_json, over documents made at random.

use loader_core::json::{Element, Kind, Text};
use loader_core::limits::Limits;
use neffload_tests::json::cut;
use proptest::prelude::*;
use serde_json::Value;

/// Rebuilds a document from what the getters see.
fn rebuilt(element: Element<'_>) -> Value {
    match element.kind() {
        Kind::Null => Value::Null,
        Kind::True | Kind::False => element.bool().unwrap().into(),
        Kind::String => string(element).into(),
        Kind::Array => element.items().unwrap().map(rebuilt).collect(),
        Kind::Object => Value::Object(element.fields().unwrap().map(field).collect()),
        Kind::Number => match (element.u64(), element.i64()) {
            (Ok(number), _) => number.into(),
            (_, Ok(number)) => number.into(),
            _ => element.f64().unwrap().into(),
        },
    }
}

fn field((key, value): (Text<'_>, Element<'_>)) -> (String, Value) {
    (String::from_utf8(key.bytes().collect()).unwrap(), rebuilt(value))
}

fn string(element: Element<'_>) -> String {
    let text = element.text().unwrap();
    let mut buffer = vec![0; text.len()];
    String::from_utf8(text.unescape(&mut buffer).unwrap().to_vec()).unwrap()
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|n| Value::from(if n.is_finite() { n } else { 0.5 })),
        ".{0,12}".prop_map(Value::from),
        "[a-z\\\\\"\u{0}-\u{20}é𝄞]{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec(("[a-z\\\\\"é\n]{0,6}", inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// The same document with white space (bit 0) and with escapes where none are needed (bit 1).
fn respelt(value: &Value, spell: u8) -> String {
    let text = if spell & 1 == 0 { value.to_string() } else { format!("{value:#}") };
    if spell & 2 == 0 {
        return text;
    }
    text.chars().map(|c| if c.is_ascii() { c.to_string() } else { escaped(c) }).collect()
}

fn escaped(character: char) -> String {
    character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// True if both readers judge alike. serde_json also refuses numbers that no double holds, which
/// our getters do.
fn judged_alike(document: &[u8]) -> bool {
    let theirs = serde_json::from_slice::<Value>(document);
    let ours = Element::parse(document, &Limits::DEFAULT);
    let too_large = theirs.as_ref().is_err_and(|e| e.to_string().contains("out of range"));
    theirs.is_ok() == ours.is_ok() || too_large
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn getters_see_what_serde_json_wrote(value in json(), spell in 0u8..4) {
        let document = respelt(&value, spell);
        let element = Element::parse(document.as_bytes(), &Limits::DEFAULT).unwrap();
        prop_assert_eq!(rebuilt(element), value);
    }

    #[test]
    fn every_cutting_delivers_the_same(
        value in json(), spell in 0u8..4, chunk in 1usize..64, room in 0usize..64, end in 0usize..200
    ) {
        let document = respelt(&value, spell);
        let end = if end < 100 { end.min(document.len()) } else { document.len() };
        let part = &document.as_bytes()[..end];
        let limits = &Limits::DEFAULT;
        prop_assert_eq!(cut(part.chunks(chunk), limits, room), cut([part], limits, room));
    }

    #[test]
    fn damage_is_judged_as_serde_json_judges_it(
        value in json(), at in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let mut document = value.to_string().into_bytes();
        *at.get_mut(&mut document) = byte;
        prop_assert!(judged_alike(&document));
    }

    #[test]
    fn noise_is_judged_as_serde_json_judges_it(
        document in "[\\[\\]{}:,\"\\\\ 0-9eE+.a-z-]{0,24}"
    ) {
        prop_assert!(judged_alike(document.as_bytes()));
    }
}
