//! The lexer and the cutter under every cutting, and the getters against serde_json.

use super::pieces;
use crate::fixtures;
use crate::json::{Trace, Tree, cut, trace};
use loader_core::json::{DEPTH_MAX, Element, Event, Fault, Found, Kind};
use loader_core::limits::Limits;
use serde::de::IgnoredAny;
use std::collections::BTreeSet;

/// The deepest nesting that serde_json takes.
const THEIR_DEPTH: u16 = 127;

/// A byte-order mark: ours skips one, serde_json knows none.
const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// The first bytes set limits and say how the rest is cut.
///
/// # Panics
/// If a property fails.
pub fn lex(data: &[u8]) {
    let (control, document) = data.split_at(data.len().min(8));
    let [switch, bytes, depth, room] = [0, 1, 2, 3].map(|n| control.get(n).copied().unwrap_or(0));
    let cuts = control.get(4..).unwrap_or_default();
    let limits = Limits {
        json_depth: [512, 3, 8, DEPTH_MAX][usize::from(switch % 4)],
        json_bytes: if switch & 4 == 0 { Limits::DEFAULT.json_bytes } else { u64::from(bytes) * 4 },
        ..Limits::DEFAULT
    };
    let whole = trace([document], &limits, u16::MAX);
    well_formed(&whole, document);
    assert_eq!(trace(pieces(document, cuts), &limits, u16::MAX), whole);
    assert_eq!(trace(pieces(document, &[0]), &limits, u16::MAX), whole);
    let depth = u16::from(depth % 8);
    assert_eq!(trace(pieces(document, cuts), &limits, depth), within(&whole, depth));
    let taken = cut([document], &limits, usize::from(room));
    for (_, offset, text) in &taken.0 {
        assert!(document[*offset as usize..].starts_with(text));
    }
    assert_eq!(cut(pieces(document, cuts), &limits, usize::from(room)), taken);
    assert_eq!(cut(pieces(document, &[0]), &limits, usize::from(room)), taken);
}

/// The events of a trace that lie at most `depth` levels deep.
fn within(trace: &Trace, depth: u16) -> Trace {
    let mut open = 0u16;
    let shallow = |event: Event| {
        let level = match event {
            Event::Begin(kind) if kind.is_container() => {
                open += 1;
                open - 1
            }
            Event::End(kind) if kind.is_container() => {
                open -= 1;
                open
            }
            _ => open,
        };
        level <= depth
    };
    let mut shallow = shallow;
    (trace.0.iter().copied().filter(|&(_, event)| shallow(event)).collect(), trace.1)
}

/// Events nest, each stands where its text begins or ends, and a scalar's text is one by itself.
fn well_formed(trace: &Trace, document: &[u8]) {
    let mut open: Vec<(Option<Kind>, usize)> = Vec::new();
    for &(offset, event) in &trace.0 {
        let offset = offset as usize;
        match event {
            Event::Begin(kind) => {
                assert_eq!(Kind::of(document[offset - 1]), Some(kind));
                open.push((Some(kind), offset - 1));
            }
            Event::Key => open.push((None, offset - 1)),
            Event::End(kind) => {
                let (began, start) = open.pop().expect("an open value");
                assert_eq!(began, Some(kind));
                alone(&document[start..offset], kind);
            }
            Event::KeyEnd => {
                let (began, start) = open.pop().expect("an open key");
                assert_eq!(began, None);
                alone(&document[start..offset], Kind::String);
            }
        }
    }
    if let Ok(length) = trace.1 {
        assert!(open.is_empty());
        assert_eq!(length, document.len() as u64);
    }
}

fn alone(text: &[u8], kind: Kind) {
    let ends = match kind {
        Kind::Object => text.ends_with(b"}"),
        Kind::Array => text.ends_with(b"]"),
        _ => Element::parse(text, &Limits::DEFAULT).is_ok_and(|e| e.kind() == kind && e.bytes() == text),
    };
    assert!(ends, "{}", text.escape_ascii());
}

/// A document is taken or refused as serde_json does, for a fault at the right byte, and means the same.
///
/// What differs on purpose: ours skips one byte-order mark; ours leaves the size of a number to the getter;
/// ours hands out repeated keys, and the first counts. Both are set to the same depth.
///
/// # Panics
/// If a property fails.
pub fn diff(data: &[u8]) {
    let limits = Limits { json_depth: THEIR_DEPTH, ..Limits::DEFAULT };
    let theirs = serde_json::from_slice::<Tree>(data.strip_prefix(&BOM).unwrap_or(data));
    match (trace([data], &limits, 0).1, Element::parse(data, &limits)) {
        (Ok(length), Ok(element)) => {
            assert_eq!(length, data.len() as u64);
            match theirs {
                Ok(theirs) => {
                    same(element, &theirs);
                    unique(data, &limits, &theirs);
                }
                Err(error) => {
                    assert!(out_of_range(&error), "{error}");
                    assert!(numbers(element).any(at_the_brink), "{error}");
                }
            }
        }
        (Err(fault), Err(error)) => {
            assert_eq!(fault.error(), error);
            assert!(theirs.is_err(), "{fault:?}");
            at_the_right_byte(fault, data);
        }
        (lexer, element) => panic!("{lexer:?} but {element:?}"),
    }
}

fn out_of_range(error: &serde_json::Error) -> bool {
    error.to_string().starts_with("number out of range")
}

/// Whether a number is too large for a double, or so near to it that the last bit decides.
fn at_the_brink(number: Element<'_>) -> bool {
    number.f64().map_or(true, |value| value.abs() >= f64::MAX * (1.0 - 1e-14))
}

/// The numbers in a value, at any depth.
fn numbers(element: Element<'_>) -> Box<dyn Iterator<Item = Element<'_>> + '_> {
    match element.kind() {
        Kind::Number => Box::new(core::iter::once(element)),
        Kind::Array => Box::new(element.items().expect("an array").flat_map(numbers)),
        Kind::Object => Box::new(element.fields().expect("an object").flat_map(|(_, value)| numbers(value))),
        _ => Box::new(core::iter::empty()),
    }
}

/// Everything before the fault can be completed to a document; with the byte at the fault it cannot.
fn at_the_right_byte(fault: Fault, data: &[u8]) {
    let offset = fault.offset as usize;
    let before = &data[..offset];
    assert!(viable(before), "{fault:?}: wrong before");
    match fault.found {
        Found::End => assert_eq!(before, data),
        Found::Depth => {
            assert!(matches!(data[offset], b'[' | b'{'));
            assert_eq!(open_after(before), u32::from(THEIR_DEPTH));
        }
        Found::Size => panic!("{fault:?}: no limit is set"),
        Found::Byte(byte) => {
            assert_eq!(byte, data[offset]);
            assert!(!viable(&data[..=offset]), "{fault:?}: right so far");
        }
        Found::LoneSurrogate => assert!(!viable(&data[..=offset]), "{fault:?}: right so far"),
    }
}

/// Whether a text can be the beginning of a document, by serde_json's grammar (which goes through the text
/// without recursion, takes any text in strings and number of any size) and the standard library's UTF-8.
fn viable(data: &[u8]) -> bool {
    if BOM.starts_with(data) {
        return true;
    }
    let text = data.strip_prefix(&BOM).unwrap_or(data);
    // An unfinished number is no end of the text to it.
    let longer = [text, b"0"].concat();
    let grammatical = goes_on(text) || goes_on(&longer);
    let utf8 = core::str::from_utf8(text).map_or_else(|error| error.error_len().is_none(), |_| true);
    grammatical && utf8 && unicode_escapes(text)
}

fn goes_on(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).map_or_else(|error| error.is_eof(), |_| true)
}

/// Whether every `\u` has its digits, and every half of a surrogate pair the other, as far as the text goes.
fn unicode_escapes(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
        rest = &rest[at..];
        let second = match unit(rest) {
            Ok(Some(0xDC00..=0xDFFF)) | Err(()) => return false,
            Ok(Some(0xD800..=0xDBFF)) => &rest[6..],
            _ => {
                rest = rest.get(2..).unwrap_or_default();
                continue;
            }
        };
        let begun = second.iter().zip(b"\\u").all(|(byte, wanted)| byte == wanted);
        match unit(second) {
            Ok(Some(0xDC00..=0xDFFF) | None) if begun => {}
            _ => return false,
        }
        rest = second.get(2..).unwrap_or_default();
    }
    true
}

/// The value of the `\u` escape at the front; none if there is none or the text ends in it.
fn unit(text: &[u8]) -> Result<Option<u32>, ()> {
    let Some(digits) = text.strip_prefix(b"\\u") else { return Ok(None) };
    let digits = &digits[..digits.len().min(4)];
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err(());
    }
    let text = str::from_utf8(digits).map_err(|_| ())?;
    Ok(u32::from_str_radix(text, 16).ok().filter(|_| digits.len() == 4))
}

/// Containers open at the end of a text that is right so far.
fn open_after(text: &[u8]) -> u32 {
    let (mut open, mut string, mut escape) = (0, false, false);
    for byte in text {
        match byte {
            _ if escape => escape = false,
            b'\\' => escape = true,
            b'"' => string = !string,
            b'[' | b'{' if !string => open += 1,
            b']' | b'}' if !string => open -= 1,
            _ => {}
        }
    }
    open
}

fn same(ours: Element<'_>, theirs: &Tree) {
    match theirs {
        Tree::Null => assert_eq!(ours.kind(), Kind::Null),
        Tree::Bool(value) => assert_eq!((ours.bool(), ours.flag()), (Ok(*value), Ok(*value))),
        Tree::Unsigned(value) => {
            assert_eq!(ours.u64(), Ok(*value));
            assert_eq!(ours.u32().ok(), u32::try_from(*value).ok());
            assert_eq!(ours.i64().ok(), i64::try_from(*value).ok());
            assert_eq!(ours.f64(), Ok(*value as f64));
            assert_eq!(ours.flag().ok(), [false, true].get(*value as usize).copied());
        }
        Tree::Signed(value) => {
            assert_eq!(ours.i64(), Ok(*value));
            assert_eq!(ours.f64(), Ok(*value as f64));
            assert!(ours.u64().is_err() && ours.flag().is_err());
        }
        Tree::Float(value) => same_float(ours, *value),
        Tree::Text(text) => same_text(ours, text),
        Tree::Array(items) => {
            let ours: Vec<_> = ours.items().expect("an array").collect();
            assert_eq!(ours.len(), items.len());
            ours.into_iter().zip(items).for_each(|(ours, theirs)| same(ours, theirs));
        }
        Tree::Object(fields) => same_fields(ours, fields),
        Tree::Raw(_) => unreachable!("no reader makes it"),
    }
}

/// serde_json's quick reader may be off in the last bits; ours is the standard library's.
fn same_float(ours: Element<'_>, theirs: f64) {
    assert_eq!(ours.kind(), Kind::Number);
    assert!(ours.u64().is_err());
    // A zero with a minus sign is a float to serde_json and an integer to the reference.
    assert_eq!(ours.i64().ok(), (ours.bytes() == b"-0").then_some(0));
    let Ok(value) = ours.f64() else { return assert!(theirs.abs() >= f64::MAX * (1.0 - 1e-14)) };
    assert_eq!(value.is_sign_negative(), theirs.is_sign_negative());
    assert!(value.to_bits().abs_diff(theirs.to_bits()) <= 4, "{value:e} and {theirs:e}");
}

fn same_text(ours: Element<'_>, theirs: &str) {
    let text = ours.text().expect("a string");
    let theirs = theirs.as_bytes();
    assert!(text.is(theirs) && text.equals(text) && text.bytes().eq(theirs.iter().copied()));
    assert!(!text.is(&[theirs, b"x"].concat()));
    assert_eq!((text.len(), text.is_empty()), (theirs.len(), theirs.is_empty()));
    let mut room = vec![0; theirs.len()];
    assert_eq!(text.unescape(&mut room), Some(theirs));
    if let Some((_, small)) = room.split_first_mut() {
        assert_eq!(text.unescape(small), None);
    }
}

fn same_fields(ours: Element<'_>, theirs: &[(String, Tree)]) {
    let fields: Vec<_> = ours.fields().expect("an object").collect();
    assert_eq!(fields.len(), theirs.len());
    for ((key, value), (their_key, their_value)) in fields.iter().zip(theirs) {
        assert!(key.is(their_key.as_bytes()));
        same(*value, their_value);
    }
    for (key, _) in theirs.iter().take(16) {
        let first = theirs.iter().position(|(other, _)| other == key).expect("it is there");
        assert_eq!(ours.get(key), Some(fields[first].1));
    }
}

/// A reader that asks for unique keys gets them, or E122.
fn unique(data: &[u8], limits: &Limits, theirs: &Tree) {
    let Tree::Object(fields) = theirs else { return };
    let keys: BTreeSet<&str> = fields.iter().map(|(key, _)| key.as_str()).collect();
    let code = cut([data], limits, data.len() * 4).1.map_err(|error| error.id().number).err();
    assert_eq!(code, (keys.len() < fields.len()).then_some(122));
}

/// Small documents with every construct, and manifests.
pub(super) fn diff_seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = SMALL.iter().map(|text| text.to_vec()).collect();
    seeds.push([&BOM[..], b"{\"a\": 1}"].concat());
    seeds.push([b"[".repeat(130), b"]".repeat(130)].concat());
    let tree = fixtures::named("cayman-2core").tree;
    seeds.extend(["info.json", "neff.json", "sg00/def.json", "sg00/SP.json"].map(|name| tree[name].clone()));
    seeds
}

pub(super) fn lex_seeds() -> Vec<Vec<u8>> {
    let controls: [[u8; 8]; 3] =
        [[0, 0, 1, 255, 0, 1, 2, 3], [5, 20, 2, 8, 7, 7, 7, 7], [2, 0, 0, 40, 3, 0, 9, 90]];
    let documents = diff_seeds();
    let with = |(n, document): (usize, &Vec<u8>)| [&controls[n % 3], document.as_slice()].concat();
    documents.iter().enumerate().map(with).collect()
}

const SMALL: [&[u8]; 12] = [
    b"0",
    b" [ ] ",
    b"\"\\ud834\\udd1e\\u0000\\\\\\/\\b\\f\\n\\r\\t\\\"\"",
    "\"é€𝄞 and more than eight plain ones\"".as_bytes(),
    b"[0, -0, -1, 1.5, 1e5, 1E-5, 1.25e+3, 18446744073709551615, 18446744073709551616, -9223372036854775808]",
    b"[1e308, 1e309, -1e-400, 4.9e-324, 123456789012345678901234567890.123456789]",
    b"{\"a\": {\"b\": [true, false, null]}, \"a\": 1, \"\\u0061\": {}, \"\": \"\"}",
    b"{\"a\": [1, [2, {\"c\": \"d\"}]], \"e\": {\"f\": {\"g\": []}}}",
    b"[tru",
    b"{\"a\" 1}",
    b"\"\xe2\x82\"",
    b"\"\\ud800\\u0041\"",
];
