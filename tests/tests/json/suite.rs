//! JSONTestSuite: what must parse parses, what must not does not, and where the standard leaves the
//! choice, ours is in a table. Every cutting of a document gives the same events and the same error.

use loader_core::limits::Limits;
use neffload_tests::json::{Trace, trace};
use neffload_tests::shared;
use std::collections::BTreeMap;
use std::fs;

/// Our choice for the documents that a parser may take or leave: the numbers are grammatical, so
/// the lexer takes them and the getters judge their size; text must be valid UTF-8 and surrogates
/// come in pairs; one byte-order mark is skipped.
const FREE: [(&str, bool); 35] = [
    ("i_number_double_huge_neg_exp.json", true),
    ("i_number_huge_exp.json", true),
    ("i_number_neg_int_huge_exp.json", true),
    ("i_number_pos_double_huge_exp.json", true),
    ("i_number_real_neg_overflow.json", true),
    ("i_number_real_pos_overflow.json", true),
    ("i_number_real_underflow.json", true),
    ("i_number_too_big_neg_int.json", true),
    ("i_number_too_big_pos_int.json", true),
    ("i_number_very_big_negative_int.json", true),
    ("i_object_key_lone_2nd_surrogate.json", false),
    ("i_string_1st_surrogate_but_2nd_missing.json", false),
    ("i_string_1st_valid_surrogate_2nd_invalid.json", false),
    ("i_string_UTF-16LE_with_BOM.json", false),
    ("i_string_UTF-8_invalid_sequence.json", false),
    ("i_string_UTF8_surrogate_U+D800.json", false),
    ("i_string_incomplete_surrogate_and_escape_valid.json", false),
    ("i_string_incomplete_surrogate_pair.json", false),
    ("i_string_incomplete_surrogates_escape_valid.json", false),
    ("i_string_invalid_lonely_surrogate.json", false),
    ("i_string_invalid_surrogate.json", false),
    ("i_string_invalid_utf-8.json", false),
    ("i_string_inverted_surrogates_U+1D11E.json", false),
    ("i_string_iso_latin_1.json", false),
    ("i_string_lone_second_surrogate.json", false),
    ("i_string_lone_utf8_continuation_byte.json", false),
    ("i_string_not_in_unicode_range.json", false),
    ("i_string_overlong_sequence_2_bytes.json", false),
    ("i_string_overlong_sequence_6_bytes.json", false),
    ("i_string_overlong_sequence_6_bytes_null.json", false),
    ("i_string_truncated-utf-8.json", false),
    ("i_string_utf16BE_no_BOM.json", false),
    ("i_string_utf16LE_no_BOM.json", false),
    ("i_structure_500_nested_arrays.json", true),
    ("i_structure_UTF-8_BOM_empty_object.json", true),
];

fn read(document: &[u8], chunk: usize) -> Trace {
    trace(document.chunks(chunk), &Limits::DEFAULT, u16::MAX)
}

fn expected(name: &str) -> bool {
    match name.as_bytes()[0] {
        b'y' => true,
        b'n' => false,
        _ => FREE.iter().find(|(free, _)| *free == name).expect("listed").1,
    }
}

fn documents() -> Option<BTreeMap<String, Vec<u8>>> {
    let folder = shared()?.join("corpora/json/test_parsing");
    let entries = fs::read_dir(folder).ok()?;
    let named = entries.map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read(path).unwrap())
    });
    Some(named.collect())
}

#[test]
fn accepts_and_refuses_what_the_suite_says() {
    let Some(documents) = documents() else {
        return println!("skipped: no shared/corpora/json");
    };
    assert_eq!(documents.len(), 318);
    for (name, document) in &documents {
        let (_, verdict) = read(document, usize::MAX);
        assert_eq!(verdict.is_ok(), expected(name), "{name}: {verdict:?}");
    }
}

#[test]
fn every_cutting_gives_the_same_events_and_the_same_error() {
    let Some(documents) = documents() else {
        return println!("skipped: no shared/corpora/json");
    };
    for (name, document) in &documents {
        let whole = read(document, usize::MAX);
        for chunk in 1..=64 {
            assert!(read(document, chunk) == whole, "{name} in pieces of {chunk}");
        }
    }
}
