#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
extern crate std;
use super::*;
use std::vec;

#[test]
fn locates_without_gaps() {
    let (mut chunk, mut left) = (0, FIRST);
    for index in 0..if cfg!(miri) { 200 } else { 20_000 } {
        if left == 0 {
            chunk += 1;
            left = FIRST << (chunk / 2);
        }
        let size = FIRST << (chunk / 2);
        assert_eq!(locate(index), (chunk, size, size - left), "{index}");
        left -= 1;
    }
}

#[test]
fn keeps_what_was_pushed() {
    let mut memory = vec![0u8; 1 << 16];
    let mut arena = Arena::new(&mut memory).unwrap();
    let mut table = Table::EMPTY;
    for n in 0..1000u32 {
        assert_eq!(table.push(&mut arena, U32::new(n * 3)).unwrap(), n);
    }
    table.get_mut::<U32>(&mut arena, 500).unwrap().set(7);
    let tail = arena.seal_tail();
    assert_eq!(table.get::<U32>(tail, 999).unwrap().get(), 2997);
    assert_eq!(table.get::<U32>(tail, 500).unwrap().get(), 7);
    assert!(table.get::<U32>(tail, 1000).is_none());
}

#[test]
fn a_full_arena_is_an_error() {
    let mut memory = [0u8; 64];
    let mut arena = Arena::new(&mut memory).unwrap();
    let mut table = Table::EMPTY;
    for n in 0..8u32 {
        table.push(&mut arena, U32::new(n)).unwrap();
    }
    assert!(table.push(&mut arena, U32::new(8)).is_err());
    assert_eq!(table.len(), 8);
}
