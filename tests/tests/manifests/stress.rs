//! Manifests made to hurt, through all of S2, streamed: a clear error or the right value, in memory that does
//! not grow with the input. Each prints what it took.

use crate::small::*;
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use neffload_tests::payload::{Mode, packed, with_manifest_in};
use serde_json::json;
use std::time::Instant;

/// Bytes of arena that a load of the small tree gets.
const ARENA: usize = 1 << 20;
/// Bytes of heap for the buffers of a streamed file, which are the same for every file.
const BUFFERS: u64 = 9 << 20;

/// Number of variables, or the refusal and its text; prints time and peak memory, which is bounded.
fn streamed(what: &str, arena: usize, definition: &[u8]) -> Result<u32, (String, String)> {
    let mut tree = base();
    raw(&mut tree, DEF, definition);
    let file = packed(&tree.members);
    let (mut outcome, begin) = (Ok(0), Instant::now());
    let heap = allocation_counter::measure(|| {
        let (policy, limits) = (Policy::default(), Limits::DEFAULT);
        outcome = with_manifest_in(arena, &file, &policy, &limits, Mode::Streamed, |manifest, _, _| {
            manifest.definition(0).unwrap().var_count()
        });
    });
    let beside = heap.bytes_max - arena as u64;
    println!(
        "{what}: {} KiB of JSON, {:?}, peak {} KiB beside an arena of {} KiB",
        definition.len() >> 10,
        begin.elapsed(),
        beside >> 10,
        arena >> 10
    );
    assert!(beside < BUFFERS, "{what}: {beside} bytes");
    outcome.map_err(|refused| {
        complete(&refused.0, &refused.1);
        (refused.0.id().to_string(), refused.1)
    })
}

/// The small tree's definition with a piece replaced.
fn definition(from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(base().members[DEF.as_bytes()].clone()).unwrap();
    assert!(text.contains(from), "{text}");
    text.replacen(from, to, 1).into_bytes()
}

fn refused(what: &str, from: &str, to: &str, code: &str, text: &str) {
    let (found, whole) = streamed(what, ARENA, &definition(from, to)).unwrap_err();
    assert_eq!(found, code, "{what}: {whole}");
    assert!(whole.contains(text), "{what}: {whole}");
}

const NAME: &str = "\"name\":\"definition\"";

#[test]
fn a_million_brackets() {
    let deep = "[".repeat(1_000_000);
    refused("10^6 brackets", NAME, &format!("\"host\":{deep}"), "E121", "nesting beyond the limit");
}

#[test]
fn a_string_of_64_mib() {
    let long = "x".repeat(64 << 20);
    let ignored = definition(NAME, &format!("\"host\":\"{long}\""));
    assert_eq!(streamed("64 MiB, ignored", ARENA, &ignored), Ok(8));
    drop(ignored);
    refused("64 MiB, a value", "\"version\":\"0.6\"", &format!("\"version\":\"{long}\""), "E123", "version");
    refused("64 MiB, a key", "\"version\":", &format!("\"{long}\":"), "E124", "xxxx");
}

#[test]
fn numbers_that_do_not_fit() {
    let size = "\"size\":32";
    refused("2^64", size, "\"size\":18446744073709551616", "E314", "key: size");
    refused("1e999", size, "\"size\":1e999", "E314", "key: size");
    assert_eq!(streamed("1e999, ignored", ARENA, &definition(NAME, "\"host\":1e999")), Ok(8));
    let most = definition(size, "\"size\":18446744073709551615");
    assert_eq!(streamed("2^64 - 1", ARENA, &most), Ok(8));
}

#[test]
fn strings_that_are_no_text() {
    for (what, text, reason) in [
        ("a lone high surrogate", "\\ud800", "half a surrogate pair"),
        ("a lone low surrogate", "\\udc00", "half a surrogate pair"),
        ("a pair of high surrogates", "\\ud800\\ud800", "half a surrogate pair"),
        ("a NUL", "\0", "byte 0x00"),
    ] {
        refused(what, NAME, &format!("\"a{text}b\":1"), "E121", reason);
        refused(what, NAME, &format!("\"host\":\"a{text}b\""), "E121", reason);
    }
    // Spelt as an escape it is a character like any other, but not in a name of which records keep what is before it.
    assert_eq!(streamed("an escaped NUL", ARENA, &definition(NAME, "\"host\":\"a\\u0000b\"")), Ok(8));
    let named = definition("\"t\":{", "\"t\\u0000\":{");
    let (code, text) = streamed("an escaped NUL in a name", ARENA, &named).unwrap_err();
    assert_eq!(code, "E324", "{text}");
}

#[test]
fn a_million_variables_and_one_too_many() {
    let mut text = String::from_utf8(base().members[DEF.as_bytes()].clone()).unwrap();
    let at = text.find("\"SB\":{").unwrap();
    let entry = |id| format!("\"v{id}\":{{\"size\":4096,\"type\":\"tmp-buf\",\"var_id\":{id}}},");
    let many: String = (8..1_000_000).map(entry).collect();
    text.insert_str(at, &many);
    assert_eq!(streamed("10^6 variables", 256 << 20, text.as_bytes()), Ok(1_000_000));
    text.insert_str(at, &entry(999_999).replace("v9", "w9"));
    let (code, whole) = streamed("a var_id twice", 256 << 20, text.as_bytes()).unwrap_err();
    assert_eq!(code, "E321", "{whole}");
    assert!(whole.contains("var_id 999999"), "{whole}");
    let (code, whole) = streamed("too small an arena", ARENA, text.as_bytes()).unwrap_err();
    assert_eq!(code, "E801", "{whole}");
}

#[test]
fn a_var_id_twice() {
    let tree = changed(&[set(DEF, "/var/l/var_id", json!(6))]);
    let (error, text) = *load(&tree).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.at().element), ("E321", Some(7)), "{text}");
}
