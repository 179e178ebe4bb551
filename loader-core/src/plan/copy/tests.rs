#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

extern crate std;

use super::{cuts, pieces};
use std::vec::Vec;

fn lengths(total: u64) -> Vec<u64> {
    pieces(total).map(|range| range.end - range.start).collect()
}

#[test]
fn pieces_of_every_class() {
    assert_eq!(lengths(0), []);
    assert_eq!(lengths(1), [1]);
    assert_eq!(lengths(0x3FFF), [0x3FFF]);
    assert_eq!(lengths(0x4000), [0x2000, 0x2000]);
    assert_eq!(lengths(0x4001), [0x2000, 0x2000, 1]);
    assert_eq!(lengths(0x10_0000), [0x8_0000, 0x8_0000]);
    assert_eq!(lengths(0x10_0001), [0x10_0000, 1]);
    assert_eq!(lengths(0x28_0000), [0x10_0000, 0x10_0000, 0x8_0000]);
}

#[test]
fn a_part_is_cut_at_the_same_borders() {
    let all: Vec<_> = cuts(0x28_0000, 0x0F_FFFF..0x20_0001).collect();
    assert_eq!(all, [0x0F_FFFF..0x10_0000, 0x10_0000..0x20_0000, 0x20_0000..0x20_0001]);
}
