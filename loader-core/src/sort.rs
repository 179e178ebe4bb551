//! Sorting in place, without recursion over the input.

use crate::bytes::swap;
use crate::layout::SMALL;
use core::cmp::Ordering;

/// Sorts `slots` by `order`; the order of equal ones is not kept.
pub(crate) fn sort<T>(slots: &mut [T], order: impl FnMut(&T, &T) -> Ordering) {
    if SMALL { heap_sort(slots, order) } else { slots.sort_unstable_by(order) }
}

/// Sorts `slots` by what `key` says.
pub(crate) fn sort_by_key<T, K: Ord>(slots: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort(slots, |a, b| key(a).cmp(&key(b)));
}

/// A heap sort.
pub(crate) fn heap_sort<T>(slots: &mut [T], mut order: impl FnMut(&T, &T) -> Ordering) {
    let count = slots.len();
    for start in (0..count / 2).rev() {
        sift(slots, start, count, &mut order);
    }
    for end in (1..count).rev() {
        swap(slots, 0, end);
        sift(slots, 0, end, &mut order);
    }
}

/// Lets the slot at `root` sink to its place in the heap of the first `end` slots.
fn sift<T>(slots: &mut [T], mut root: usize, end: usize, order: &mut impl FnMut(&T, &T) -> Ordering) {
    let mut less = |slots: &[T], a: usize, b: usize| match (slots.get(a), slots.get(b)) {
        (Some(a), Some(b)) => order(a, b) == Ordering::Less,
        _ => false,
    };
    loop {
        let mut child = root.saturating_mul(2).saturating_add(1);
        if child >= end {
            return;
        }
        let next = child.saturating_add(1);
        if next < end && less(slots, child, next) {
            child = next;
        }
        if !less(slots, root, child) {
            return;
        }
        swap(slots, root, child);
        root = child;
    }
}
