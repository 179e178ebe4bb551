//! JSON made to hurt: a clear error or the right value, in bounded memory and linear time.

use loader_core::error::Error;
use loader_core::json::{Cutter, Element, Kind, Lexer, Memory, Path, Reader, Want};
use loader_core::limits::Limits;
use loader_std::verdict::NoNames;
use std::time::{Duration, Instant};

fn parse(document: &[u8]) -> Result<Element<'_>, Error> {
    Element::parse(document, &Limits::DEFAULT)
}

fn refusal(document: &[u8]) -> String {
    parse(document).unwrap_err().in_brief(&NoNames).to_string()
}

#[test]
fn a_million_brackets_are_refused_at_the_limit() {
    let deep = "[".repeat(1_000_000);
    let error = parse(deep.as_bytes()).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.at().offset), ("E121", Some(512)));
    let deep = format!("{{\"k\":{}{}}}", "[".repeat(511), "]".repeat(511));
    assert!(parse(deep.as_bytes()).is_ok());
}

#[test]
fn no_limit_goes_beyond_1024_levels() {
    let limits = Limits { json_depth: u16::MAX, ..Limits::DEFAULT };
    let deep = format!("{}{}", "[".repeat(1024), "]".repeat(1024));
    assert!(Element::parse(deep.as_bytes(), &limits).is_ok());
    let deeper = format!("[{deep}]");
    assert!(Element::parse(deeper.as_bytes(), &limits).is_err());
}

#[test]
fn a_string_of_64_mib_passes_in_constant_memory() {
    let body = "x".repeat(1 << 20);
    let mut lexer = Lexer::new(&Limits::DEFAULT);
    let mut lex = |mut piece: &[u8]| while lexer.next(&mut piece).unwrap().is_some() {};
    lex(b"[\"");
    (0..64).for_each(|_| lex(body.as_bytes()));
    lex(b"\"]");
    assert_eq!(lexer.finish(), Ok(None));
    assert_eq!(lexer.offset(), (64 << 20) + 4);
    println!("a lexer is {} bytes", size_of::<Lexer>());
    assert!(size_of::<Lexer>() <= 256);
}

#[test]
fn numbers_at_the_edges() {
    let number = |text: &'static str| parse(text.as_bytes()).unwrap();
    assert_eq!(number("18446744073709551615").u64(), Ok(u64::MAX));
    assert!(number("18446744073709551616").u64().is_err());
    assert!(number("18446744073709551616").f64().is_ok());
    assert!(number("1e999").f64().is_err());
    for text in ["-1", "1.0", "1e2", "\"1\"", "-0", "true", "null"] {
        assert!(number(text).u64().is_err(), "{text}");
    }
    assert_eq!(number("-9223372036854775808").i64(), Ok(i64::MIN));
    assert!(number("-9223372036854775809").i64().is_err());
    assert!(number("9223372036854775808").i64().is_err());
    assert!(number("4294967296").u32().is_err());
}

#[test]
fn arrays_of_integers_are_read_as_their_items_are() {
    for text in [
        "[]",
        "[ ]",
        "[0]",
        "[1,2,3]",
        "[ 1 ,\n\t-2 , 18446744073709551615 ]",
        "[-9223372036854775808]",
        "[18446744073709551616]",
        "[1.0]",
        "[1e2]",
        "[1,\"2\",3]",
        "[[1]]",
        "[-0]",
        "[true]",
        "[1,null]",
    ] {
        let value = parse(text.as_bytes()).unwrap();
        let items: Option<Vec<_>> = value.items().unwrap().map(|item| item.u64().ok()).collect();
        let whole: Option<Vec<_>> = value.integers().unwrap().map(|item| item?.u64()).collect();
        assert_eq!(whole, items, "{text}");
        let items: Option<Vec<_>> = value.items().unwrap().map(|item| item.i64().ok()).collect();
        let whole: Option<Vec<_>> = value.integers().unwrap().map(|item| item?.i64()).collect();
        assert_eq!(whole, items, "{text}");
    }
    assert!(parse(b"{}").unwrap().integers().is_err());
}

#[test]
fn flags_floats_and_null() {
    let value = |text: &'static str| parse(text.as_bytes()).unwrap();
    assert_eq!(value("1").flag(), Ok(true));
    assert_eq!(value("false").flag(), Ok(false));
    assert!(value("1").bool().is_err() && value("2").flag().is_err());
    assert_eq!(value("3").f64(), Ok(3.0));
    assert!(value("null").f64().is_err() && value("null").text().is_err());
}

#[test]
fn lone_surrogates_and_bare_control_bytes_are_refused() {
    for text in [r#""\ud800""#, r#""\udc00""#, r#""\ud800\u0041""#, r#""\ud800x""#, r#"{"\ud800":1}"#] {
        assert!(refusal(text.as_bytes()).contains("half a surrogate pair"), "{text}");
    }
    let refused = refusal(b"{\"a\0b\": 1}");
    assert!(refused.contains("byte 0x00") && refused.contains("no control byte"), "{refused}");
    let element = parse(br#"{"a\u0000b": 1}"#).unwrap();
    assert!(element.fields().unwrap().next().unwrap().0.is(b"a\0b"));
    assert!(parse(br#""\ud834\udd1e""#).unwrap().text().unwrap().is("𝄞".as_bytes()));
}

#[test]
fn errors_say_what_was_found_and_what_was_expected() {
    let found = "E121 malformed JSON: found ";
    assert_eq!(refusal(b"{\"a\" 1}"), format!("{found}'1' (S2, byte 5); expected ':'"));
    let end = format!("{found}the end of the text (S2, byte 7); expected ',' or '}}'");
    assert_eq!(refusal(b"{\"a\": 1"), end);
    assert!(refusal(b"{} x").ends_with("expected the end"));
}

#[test]
fn a_document_over_the_cap_is_refused_where_it_passes_it() {
    let limits = Limits { json_bytes: 8, ..Limits::DEFAULT };
    let error = Element::parse(b"[1, 2, 3]", &limits).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.at().b), ("E120", 8));
    let error = loader_core::json::check_size(b"sg00/def.json", 9, &limits).unwrap_err();
    let text = error.log().to_string();
    assert_eq!(text, "File sg00/def.json size (9) exceeds json parser maximum (8)");
}

/// Counts the entries of a big table.
#[derive(Default)]
struct Table {
    entries: u32,
}

impl Reader for Table {
    fn value(&mut self, path: &Path<'_>, _: Kind, _: u64) -> Result<Want, Error> {
        Ok(if path.depth() < 2 { Want::Enter } else { Want::Take })
    }

    fn taken(&mut self, path: &Path<'_>, element: Element<'_>) -> Result<(), Error> {
        assert_eq!(path.key(0), b"var");
        assert_eq!(element.get("var_id").unwrap().u32(), Ok(self.entries));
        self.entries += 1;
        Ok(())
    }
}

fn table(entries: u32) -> String {
    let entry = |id| format!("\"v{id}\": {{\"size\": 4096, \"type\": \"virtual\", \"var_id\": {id}}}");
    let entries: Vec<String> = (0..entries).map(entry).collect();
    format!("{{\"var\": {{{}}}}}", entries.join(", "))
}

fn read(document: &[u8]) -> (Result<u32, Error>, Duration) {
    let (mut element, mut keys) = ([0; 256], [0; 64]);
    let memory = Memory { element: &mut element, keys: &mut keys };
    let mut cutter = Cutter::new(&Limits::DEFAULT, memory);
    let mut table = Table::default();
    let begin = Instant::now();
    let mut pieces = document.chunks(4096);
    let fed = pieces.try_for_each(|piece| cutter.feed(piece, &mut table));
    let done = fed.and_then(|()| cutter.finish(&mut table));
    (done.map(|_| table.entries), begin.elapsed())
}

#[test]
fn a_million_variables_take_linear_time_and_320_bytes() {
    let (small, large) = (table(100_000), table(1_000_000));
    let (few, time_few) = read(small.as_bytes());
    let (many, time_many) = read(large.as_bytes());
    assert_eq!((few, many), (Ok(100_000), Ok(1_000_000)));
    println!("{} KB: {time_few:?}; {} KB: {time_many:?}", small.len() >> 10, large.len() >> 10);
    assert!(time_many < time_few * 40 + Duration::from_millis(500));
}

#[test]
fn an_element_or_key_that_does_not_fit_is_named() {
    let long = "x".repeat(5000);
    let (error, _) = read(format!("{{\"var\": {{\"a\": \"{long}\"}}}}").as_bytes());
    let text = error.unwrap_err().to_string();
    let expected = "E123 JSON element a does not fit the element buffer of 256 bytes (S2, byte 14)";
    assert!(text.starts_with(expected), "{text}");
    let (error, _) = read(format!("{{\"var\": {{\"{long}\": 1}}}}").as_bytes());
    let text = error.unwrap_err().to_string();
    assert!(text.starts_with("E124 JSON key xxxxxxxx"), "{text}");
    assert!(text.contains("key memory of 64 bytes (S2, byte 9)"), "{text}");
}
