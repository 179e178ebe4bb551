#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

extern crate std;

use super::{Paging, regions};

const MIB: u64 = 1 << 20;

#[test]
fn two_measured_graphs() {
    let sizes = [(532_721_668, 0), (19_013_632, 0)];
    let paged = Paging { page: 64 * MIB, contiguous: false };
    let laid = regions(paged, &sizes).unwrap();
    assert_eq!((laid.local, paged.pages(laid.end)), ([0, 536_870_912], Some(9)));
    let contiguous = Paging { contiguous: true, ..paged };
    let laid = regions(contiguous, &sizes).unwrap();
    assert_eq!((laid.local, contiguous.pages(laid.end)), ([0, 532_721_668], Some(9)));
    assert_eq!(contiguous.locate(0, 1, 9), Some((8, 0)));
}

#[test]
fn shared_region_comes_first() {
    let paging = Paging { page: 512 * MIB, contiguous: false };
    let laid = regions(paging, &[(100 * MIB, 600 * MIB), (50 * MIB, 500 * MIB)]).unwrap();
    assert_eq!((laid.local, paging.pages(laid.end)), ([600 * MIB, 700 * MIB], Some(2)));
    let laid = regions(paging, &[(450 * MIB, 600 * MIB), (50 * MIB, 500 * MIB)]).unwrap();
    assert_eq!((laid.local, paging.pages(laid.end)), ([1024 * MIB, 1474 * MIB], Some(3)));
}

#[test]
fn what_does_not_fit_a_page() {
    let paging = Paging { page: 512 * MIB, contiguous: false };
    assert_eq!(paging.locate(500 * MIB, 100 * MIB, 2), None);
    assert_eq!(paging.locate(512 * MIB, 512 * MIB, 2), Some((1, 0)));
    assert_eq!(paging.locate(u64::MAX, 2, 2), None);
    assert_eq!(paging.locate(1024 * MIB, 1, 2), None);
}
