#![allow(
    clippy::as_conversions,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

extern crate std;

use super::{device_range, source_position};
use crate::lower::record::{PatchEntry, PatchSection, PatchType};
use std::vec::Vec;

fn patch(kind: PatchType, count: u32, offset: u32, section: PatchSection) -> PatchEntry {
    PatchEntry { offset: offset.into(), count: count.into(), kind, section }
}

fn main_at(patches: &[PatchEntry], start: u32, target: u32) -> Option<u32> {
    source_position(patches, PatchSection::MAIN, start, 1, target)
}

#[test]
fn expansions_and_deletions() {
    let patches = [
        patch(PatchType::INSERT, 10, 0, PatchSection::PREAMBLE),
        patch(PatchType::INSERT, 5, 704, PatchSection::MAIN),
        patch(PatchType::DELETE, 1, 1088, PatchSection::MAIN),
        patch(PatchType::INSERT, 7, 1152, PatchSection::POSTAMBLE),
    ];
    let at = |target| main_at(&patches, 640, target);
    assert_eq!(at(640), Some(1));
    assert_eq!([704, 768, 1024].map(at), [Some(2); 3]);
    assert_eq!(at(1088), Some(4));
    assert_eq!(at(700), None);
    assert_eq!(at(576), None);
}

#[test]
fn several_records_at_one_place() {
    let patches = [
        patch(PatchType::DELETE, 1, 64, PatchSection::MAIN),
        patch(PatchType::DELETE, 1, 64, PatchSection::MAIN),
        patch(PatchType::INSERT, 2, 64, PatchSection::MAIN),
    ];
    let at = |target| main_at(&patches, 0, target);
    assert_eq!(at(0), Some(1));
    assert_eq!([64, 128, 192].map(at), [Some(4); 3]);
    assert_eq!(at(256), Some(5));
}

#[test]
fn both_directions_agree_on_random_programs() {
    let mut seed = 1u32;
    let mut random = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % below
    };
    for _ in 0..if cfg!(miri) { 10 } else { 200 } {
        let mut patches = Vec::new();
        let mut truth = Vec::new();
        let mut at = 64;
        for _ in 0..random(40) + 1 {
            let slots = [1, 1, 1, 0, 3][random(5) as usize];
            match slots {
                0 => patches.push(patch(PatchType::DELETE, 1, at, PatchSection::MAIN)),
                1 => {}
                more => patches.push(patch(PatchType::INSERT, more - 1, at, PatchSection::MAIN)),
            }
            truth.push((at, slots));
            at += slots * 64;
        }
        for (index, &(at, slots)) in truth.iter().enumerate() {
            let number = index as u32 + 1;
            let found = device_range(&patches, PatchSection::MAIN, 64, 1, number);
            assert_eq!(found, Some((at, slots)), "{truth:?}");
            for slot in 0..slots {
                assert_eq!(main_at(&patches, 64, at + slot * 64), Some(number), "{truth:?}");
            }
        }
    }
}
