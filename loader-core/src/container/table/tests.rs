#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::as_conversions)]
extern crate std;
use super::{Builder, Kept, MemberTable};
use crate::arena::Arena;
use crate::error::{Ignored, NoteList};
use crate::source::MemberId;
use std::format;
use std::vec;
use std::vec::Vec;

fn table<'m>(memory: &'m mut [u8], names: &[&[u8]], notes: &mut NoteList<4>) -> MemberTable<'m> {
    let mut arena = Arena::new(memory).unwrap();
    let mut builder = Builder::default();
    for (size, name) in names.iter().enumerate() {
        builder.push(&mut arena, name, size as u64, Kept::No).unwrap();
    }
    builder.finish(&mut arena, notes).unwrap()
}

#[test]
fn the_last_of_equal_names_counts() {
    let (mut memory, mut notes) = (vec![0; 4096], NoteList::new());
    let table = table(&mut memory, &[b"b", b"a", b"b", b"", b"a/b"], &mut notes);
    let names: Vec<_> = table.iter_sorted().map(|m| (m.name, m.size)).collect();
    assert_eq!(names, [(&b""[..], 3), (b"a", 1), (b"a/b", 4), (b"b", 2)]);
    let ids: Vec<_> = table.iter().map(|m| m.name).collect();
    assert_eq!(ids, [&b"a"[..], b"b", b"", b"a/b"]);
    assert_eq!(table.find(&[b"a", b"/", b"b"]).unwrap().id, MemberId(3));
    assert_eq!(table.find(&[]).unwrap().size, 3);
    assert!(table.find(&[b"A"]).is_none());
    assert_eq!(notes.kept()[0].id().to_string(), "W705");
}

#[test]
fn every_name_of_many_is_found() {
    let names: Vec<_> = (0..5000).map(|n| format!("sg{:02}/{n}.bin", n % 7)).collect();
    let slices: Vec<_> = names.iter().map(|n| n.as_bytes()).collect();
    let (mut memory, mut notes) = (vec![0; 1 << 20], NoteList::new());
    let table = table(&mut memory, &slices, &mut notes);
    assert!(!table.slots.is_empty());
    for (id, name) in slices.iter().enumerate() {
        assert_eq!(table.find(&[name]).unwrap().id.0 as usize, id);
        assert_eq!(table.search(&[name]).unwrap().id.0 as usize, id);
    }
    assert!(table.find(&[b"sg00/x"]).is_none());
}

#[test]
fn a_small_arena_is_a_clean_error() {
    let mut memory = [0; 96];
    let mut arena = Arena::new(&mut memory).unwrap();
    let mut builder = Builder::default();
    builder.push(&mut arena, b"a", 0, Kept::No).unwrap();
    let error = builder.finish(&mut arena, &mut Ignored).unwrap_err();
    assert_eq!(error.id().to_string(), "C801");
}

use std::string::ToString;
