#![allow(
    clippy::as_conversions,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

extern crate std;

use super::{
    Entry, Half, Lap, Marks, capacity, control_word, rebase, ring_pointer, template, template_parts,
};

#[test]
fn capacities() {
    let linear = [(0, 64), (31, 64), (32, 48), (48, 64), (49, 80), (1000, 1024), (1008, 1024), (1009, 1040)];
    for (entries, slots) in linear {
        assert_eq!(capacity(entries, false), Some(slots), "linear {entries}");
    }
    for (entries, slots) in [(31, 64), (32, 64), (48, 64), (49, 128), (50, 128)] {
        assert_eq!(capacity(entries, true), Some(slots), "wrapping {entries}");
    }
    assert_eq!(capacity(u32::MAX, false), None);
}

#[test]
fn control_words() {
    let first = Marks { first: true, ..Marks::default() };
    let last = Marks { last: true, barrier: true, ..Marks::default() };
    let alone = Marks { first: true, last: true, ..Marks::default() };
    assert_eq!(control_word(65536, 1, first), Some(0x0500_0000));
    assert_eq!(control_word(0x200, 1, last), Some(0x4900_0200));
    assert_eq!(control_word(4, 1, alone), Some(0x0D00_0004));
    assert_eq!(control_word(0, 1, alone), None);
    assert_eq!(control_word(65537, 1, alone), None);
}

#[test]
fn laps_go_round() {
    let mut lap = Lap::new(3);
    let stamped = [(); 14].map(|()| {
        let at = lap.at();
        let mut entry = Entry { control: 0x0C00_0040.into(), ..Entry::default() };
        lap.stamp(&mut entry);
        (at.0, entry.control.get() >> 24 & 3, entry.control.get() & !0x0300_0000)
    });
    let laps = [1, 1, 1, 2, 2, 2, 3, 3, 3, 0, 0, 0, 1, 1];
    for (index, (at, id, rest)) in (0u32..).zip(stamped) {
        assert_eq!((at, id, rest), (index % 3, laps[index as usize], 0x0C00_0040));
    }
    assert_eq!(Lap::new(64).at(), (0, 1));
}

#[test]
fn templates() {
    assert_eq!(template(7, 0x1000), Some(0x2000_0070_0000_1000));
    assert_eq!(template(1 << 19, 0), None);
    assert_eq!(template(0, 1 << 36), None);
    assert_eq!(template_parts(0x2000_0070_0000_1000), Some((7, 0x1000)));
    assert_eq!(template_parts(0x70_0000_1000), None);
}

#[test]
fn pointers_and_rebasing() {
    assert_eq!(ring_pointer(0x4000_0000_0000_0010), Ok(Some((Half::Tx, 0x10))));
    assert_eq!(ring_pointer(0x8000_0000_0000_0010), Ok(Some((Half::Rx, 0x10))));
    assert_eq!(ring_pointer(0x10), Ok(None));
    assert!(ring_pointer(0xC000_0000_0000_0010).is_err());
    let moved = [0xFFF, 0x1000, 0x1FFF, 0x2000].map(|at| rebase(at, 0x1000, 0x1000, 0x1100));
    assert_eq!(moved, [0xFFF, 0x1100, 0x20FF, 0x2000]);
}
