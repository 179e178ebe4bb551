#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

extern crate std;

use super::{Walk, extent};
use crate::lower::record::Dim;
use std::vec::Vec;

fn dims(pairs: &[(u64, i64)]) -> Vec<Dim> {
    pairs.iter().map(|&(size, step)| Dim { size: size.into(), step: step.into() }).collect()
}

fn all(dims: &[Dim], off: u64, unit: u64) -> Vec<(u64, u64)> {
    let mut walk = Walk::new(dims, off, unit).unwrap();
    let mut out = Vec::new();
    while walk.left() > 0 {
        out.push((walk.offset(), walk.left()));
        walk.advance(walk.left());
    }
    out
}

#[test]
fn outer_dimensions_move_fastest_first() {
    let pattern = dims(&[(4, 1), (2, 16), (3, 100)]);
    assert_eq!(all(&pattern, 8, 1), [(8, 4), (24, 4), (108, 4), (124, 4), (208, 4), (224, 4)]);
    assert_eq!(extent(&pattern, 8), Some((8, 228)));
}

#[test]
fn steps_may_go_back_or_stand() {
    let pattern = dims(&[(4, 1), (3, -8)]);
    assert_eq!(all(&pattern, 16, 1), [(16, 4), (8, 4), (0, 4)]);
    assert_eq!(extent(&pattern, 16), Some((0, 20)));
    assert_eq!(extent(&pattern, 15), None);
    assert_eq!(all(&dims(&[(8, 1), (2, 0)]), 0, 1), [(0, 8), (0, 8)]);
}

#[test]
fn a_spread_first_dimension_makes_bytes() {
    assert_eq!(all(&dims(&[(2, 3), (2, 10)]), 0, 1), [(0, 1), (3, 1), (10, 1), (13, 1)]);
}

#[test]
fn units_of_a_cast() {
    let pattern = dims(&[(8, 1), (2, 32)]);
    assert_eq!(all(&pattern, 4, 4), [(4, 2), (36, 2)]);
    assert_eq!(Walk::new(&pattern, 0, 4).unwrap().units(), Some(4));
    assert!(Walk::new(&pattern, 0, 3).is_none());
    assert!(Walk::new(&[], 0, 1).is_none());
    assert!(Walk::new(&dims(&[(0, 1)]), 0, 1).is_none());
    assert!(Walk::new(&dims(&[(u64::MAX, 1), (3, 1)]), 0, 1).unwrap().units().is_none());
    assert_eq!(extent(&dims(&[(u64::MAX, i64::MAX), (u64::MAX, i64::MAX)]), 0), None);
}
