#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
extern crate std;
use super::{Area, Marks, Paging, Sizes, layout, place};

use std::string::ToString;

const MIB: u64 = 1 << 20;

#[test]
fn paged_regions_do_not_cross_and_contiguous_ones_may() {
    let paged = Paging::new(64, false).unwrap();
    let contiguous = Paging::new(64, true).unwrap();
    assert_eq!(place(10, 60, &paged).unwrap(), (64, 124));
    assert_eq!(place(10, 60, &contiguous).unwrap(), (10, 70));
    assert_eq!(place(10, 54, &paged).unwrap(), (10, 64));
    assert!(place(u64::MAX, 1, &paged).is_err());
}

#[test]
fn page_sizes_are_bounded() {
    assert_eq!(Paging::new(0, true).unwrap_err().id().to_string(), "L905");
    assert!(Paging::new(1 << 32, true).is_err());
    assert!(Paging::new((1 << 32) - 1, true).is_ok());
}

#[test]
fn contiguous_pages_count_from_the_top() {
    let paging = Paging::new(64, true).unwrap();
    assert_eq!(paging.locate(0, 4), Some((3, 0)));
    assert_eq!(paging.locate(200, 4), Some((0, 8)));
    assert_eq!(paging.locate(256, 4), None);
    let paged = Paging::new(64, false).unwrap();
    assert_eq!(paged.locate(200, 4), Some((3, 8)));
    assert_eq!(paged.locate(0, 0), None);
    assert!(paging.holds(60, 8, 2) && !paging.holds(125, 4, 2) && !paging.holds(u64::MAX, 2, 2));
    assert!(paging.fits(60, 8) && !paged.fits(60, 8) && paged.fits(56, 8) && !paged.fits(60, u64::MAX));
}

#[test]
fn a_group_shares_one_region_on_core_0() {
    let paging = Paging::new(64 * MIB, true).unwrap();
    let sizes = [Sizes { local: MIB, shared: 3 }, Sizes { local: 64 * MIB + 1, shared: 8 }];
    let found = layout(&sizes, &paging, false).unwrap();
    assert_eq!((found.shared_size, found.local_offset, found.pages), (8, [8, 0], [1, 2]));
    let same = layout(&sizes, &paging, true).unwrap();
    assert_eq!((same.local_offset, same.pages), ([8, MIB + 8], [2, 0]));
    assert!(layout(&[Sizes::default(); 3], &paging, false).is_err());
    let tiny = Paging::new(1, true).unwrap();
    assert_eq!(layout(&sizes, &tiny, false).unwrap_err().id().to_string(), "L907");
}

#[test]
fn areas_of_one_scratchpad_stand_behind_each_other() {
    let mut marks = Marks::default();
    for (area, end) in
        [(Area::Main, 100), (Area::Local, 7), (Area::Shared, 50), (Area::Sharded, 5), (Area::Main, 60)]
    {
        marks.reach(area, end);
    }
    assert_eq!((marks.local_size(), marks.shared_size()), (Some(107), Some(55)));
    assert_eq!((marks.base(Area::Local), marks.base(Area::Sharded), marks.base(Area::Main)), (100, 50, 0));
    marks.reach(Area::Local, u64::MAX);
    assert_eq!(marks.local_size(), None);
}
