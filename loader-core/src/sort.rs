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
    let mut act = |act, a, b| match (act, slots.get(a), slots.get(b)) {
        (Act::Compare, Some(a), Some(b)) => order(a, b) == Ordering::Less,
        (Act::Compare, ..) => false,
        (Act::Swap, ..) => {
            swap(slots, a, b);
            false
        }
    };
    // One copy for all types, or one for each.
    if SMALL {
        sort_by::<dyn FnMut(Act, usize, usize) -> bool>(count, &mut act)
    } else {
        sort_by(count, &mut act)
    }
}

/// What a sort asks for: whether the first of two slots is less, or their exchange.
#[derive(Clone, Copy)]
enum Act {
    Compare,
    Swap,
}

fn sort_by<F: FnMut(Act, usize, usize) -> bool + ?Sized>(count: usize, act: &mut F) {
    for start in (0..count / 2).rev() {
        sift(start, count, act);
    }
    for end in (1..count).rev() {
        act(Act::Swap, 0, end);
        sift(0, end, act);
    }
}

/// Lets the slot at `root` sink to its place in the heap of the first `end` slots.
fn sift<F: FnMut(Act, usize, usize) -> bool + ?Sized>(mut root: usize, end: usize, act: &mut F) {
    loop {
        let mut child = root.saturating_mul(2).saturating_add(1);
        if child >= end {
            return;
        }
        let next = child.saturating_add(1);
        if next < end && act(Act::Compare, child, next) {
            child = next;
        }
        if !act(Act::Compare, root, child) {
            return;
        }
        act(Act::Swap, root, child);
        root = child;
    }
}
