#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
use super::{Arena, ArenaFull, ArenaRef, NULL_AREA};
use zerocopy::little_endian::{U32, U64};

#[test]
fn head_and_tail_meet_exactly() {
    let mut memory = [0xAAu8; 64];
    let mut arena = Arena::new(&mut memory).unwrap();
    let head = arena.alloc::<U64>(3).unwrap();
    assert_eq!(head.off.get(), 16);
    let tail = arena.alloc_tail::<U32>(3).unwrap();
    assert_eq!(tail.0.get(), 16);
    assert_eq!(arena.available(), 8);
    assert_eq!(arena.alloc::<u8>(9), Err(ArenaFull { needed: 16, available: 8 }));
    assert_eq!(arena.alloc::<u8>(8).unwrap().off.get(), 40);
    assert_eq!(arena.high_water(), 64);
    assert_eq!(arena.slice::<U64>(head).unwrap(), [U64::ZERO; 3]);
}

#[test]
fn release_gives_back_both_ends() {
    let mut memory = [0u8; 64];
    let mut arena = Arena::new(&mut memory).unwrap();
    let mark = arena.mark();
    arena.alloc::<u8>(1).unwrap();
    arena.alloc_tail::<u8>(1).unwrap();
    arena.release(mark);
    assert_eq!(arena.available(), 64 - NULL_AREA);
    assert_eq!(arena.high_water(), NULL_AREA + 16);
}

#[test]
fn refs_survive_seals() {
    let mut memory = [0u8; 128];
    let mut arena = Arena::new(&mut memory).unwrap();
    let a = arena.alloc_bytes(b"first").unwrap();
    let t = arena.alloc_tail_bytes(b"table").unwrap();
    let (one, table) = (arena.seal_head(), arena.seal_tail());
    let b = arena.alloc_bytes(b"second").unwrap();
    let u = arena.alloc_tail_bytes(b"scratch").unwrap();
    assert_eq!(one.slice::<u8>(a).unwrap(), b"first");
    assert_eq!(table.slice::<u8>(t, 5).unwrap(), b"table");
    assert_eq!(arena.slice::<u8>(b).unwrap(), b"second");
    assert_eq!(arena.tail_slice::<u8>(u, 7).unwrap(), b"scratch");
    assert!(arena.slice::<u8>(a).is_none());
    assert!(one.slice::<u8>(b).is_none());
}

#[test]
fn null_and_wild_refs_are_harmless() {
    let mut memory = [0u8; 32];
    let arena = Arena::new(&mut memory).unwrap();
    assert!(arena.slice::<U64>(ArenaRef::NULL).unwrap().is_empty());
    let wild = ArenaRef { off: U32::new(u32::MAX), len: U32::new(u32::MAX) };
    assert!(arena.slice::<U64>(wild).is_none());
    assert!(wild.nth::<U64>(3).is_none());
}

#[test]
fn too_small_for_the_null_area() {
    let mut memory = [0u8; 15];
    assert!(Arena::new(&mut memory).is_err());
}
