#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::{Cutter, Element, Kind, Memory, Path, Reader, Segment, Want};
use crate::error::Error;
use crate::limits::Limits;
use crate::source::{MemberId, NoNames};

extern crate std;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Enters down to a depth, there takes what is named `t`, skips the rest, and keeps a log.
struct Log {
    enter: usize,
    unique: bool,
    lines: Vec<String>,
}

impl Reader for Log {
    fn value(&mut self, path: &Path<'_>, kind: Kind, _: u64) -> Result<Want, Error> {
        let taken = path.last() == Some(Segment::Key(b"t"));
        Ok(match (taken, self.unique) {
            (true, _) => Want::Take,
            _ if path.depth() > self.enter || !kind.is_container() => Want::Skip,
            (_, true) => Want::EnterUnique,
            (_, false) => Want::Enter,
        })
    }

    fn taken(&mut self, path: &Path<'_>, element: Element<'_>) -> Result<(), Error> {
        self.lines.push(format!("{path} = {element:?}"));
        Ok(())
    }

    fn leave(&mut self, path: &Path<'_>, values: u32, offset: u64) -> Result<(), Error> {
        self.lines.push(format!("{path} has {values}, ends at {offset}"));
        Ok(())
    }
}

fn log(document: &str, chunk: usize, unique: bool) -> (Vec<String>, Option<Error>) {
    let (mut element, mut keys) = ([0; 32], [0; 32]);
    let memory = Memory { element: &mut element, keys: &mut keys };
    let mut cutter = Cutter::new(&Limits::DEFAULT, memory);
    cutter.restart(Some(MemberId(3)));
    let mut log = Log { enter: 2, unique, lines: Vec::new() };
    let mut pieces = document.as_bytes().chunks(chunk);
    let fed = pieces.try_for_each(|piece| cutter.feed(piece, &mut log));
    let error = fed.and_then(|()| cutter.finish(&mut log).map(|_| ())).err();
    (log.lines, error)
}

#[test]
fn walks_takes_and_skips() {
    let document = r#" {"a": {"t": [1, {"t": 2}], "x": {"t": {}}}, "t": -1.5e3 , "b": [0, {"t" : "v"}]}"#;
    for chunk in 1..=document.len() {
        let (lines, error) = log(document, chunk, false);
        assert_eq!(error, None);
        assert_eq!(lines[0], "a.t = [1, {\\\"t\\\": 2}] at byte 13");
        assert_eq!(lines[1], "a.x.t = {} at byte 39");
        assert_eq!(lines[2], "a.x has 1, ends at 41");
        assert_eq!(lines[4], "t = -1.5e3 at byte 50");
        assert_eq!(lines[5], "b[1].t = \\\"v\\\" at byte 75");
        assert_eq!(lines[8], " has 3, ends at 80");
        assert_eq!(lines.len(), 9);
    }
}

#[test]
fn refuses_a_repeated_key_where_asked() {
    let document = r#"{"a": {"b": 1, "c": 1, "\u0062": 2}}"#;
    for chunk in 1..=document.len() {
        assert_eq!(log(document, chunk, false).1, None);
        let error = log(document, chunk, true).1.unwrap();
        let text = "E122 duplicate key b in one JSON object (member 3, byte 23); expected each key once";
        assert_eq!(brief(&error), text);
    }
    assert_eq!(log(r#"{"a": {"b": 1}, "b": {"a": 1}}"#, 9, true).1, None);
}

#[test]
fn refuses_a_root_that_is_no_object() {
    let error = log("[]", 9, false).1.unwrap();
    let text = "E121 malformed JSON: found an array (member 3, byte 0); expected an object";
    assert_eq!(brief(&error), text);
}

/// The message without what to do.
fn brief(error: &Error) -> String {
    error.in_brief(&NoNames).to_string()
}
