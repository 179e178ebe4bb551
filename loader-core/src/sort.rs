//! Sorting in place, without recursion over the input.

use crate::arena::Record;
use crate::boundary;
use crate::bytes::swap;
use crate::layout::SMALL;
use core::cmp::Ordering;
use zerocopy::IntoBytes;

/// Sorts `slots` by `order`; the order of equal ones is not kept.
pub(crate) fn sort<T: Record>(slots: &mut [T], order: impl FnMut(&T, &T) -> Ordering) {
    if SMALL { heap_sort(slots, order) } else { boundary::sort(slots, order) }
}

/// Sorts `slots` by what `key` says.
pub(crate) fn sort_by_key<T: Record, K: Ord>(slots: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort(slots, |a, b| key(a).cmp(&key(b)));
}

/// A heap sort.
pub(crate) fn heap_sort<T: Record>(slots: &mut [T], mut order: impl FnMut(&T, &T) -> Ordering) {
    if SMALL {
        let mut less = |a: &[u8], b: &[u8]| match (T::ref_from_bytes(a), T::ref_from_bytes(b)) {
            (Ok(a), Ok(b)) => order(a, b) == Ordering::Less,
            _ => false,
        };
        return sort_bytes(slots.as_mut_bytes(), size_of::<T>(), &mut less);
    }
    sort_by(slots.len(), &mut |act, a, b| match (act, slots.get(a), slots.get(b)) {
        (Act::Compare, Some(a), Some(b)) => order(a, b) == Ordering::Less,
        (Act::Compare, ..) => false,
        (Act::Swap, ..) => {
            swap(slots, a, b);
            false
        }
    });
}

/// The same for records of `size` bytes: one copy for all types.
#[inline(never)]
fn sort_bytes(bytes: &mut [u8], size: usize, less: &mut dyn FnMut(&[u8], &[u8]) -> bool) {
    let size = size.max(1);
    let count = bytes.len().checked_div(size).unwrap_or(0);
    sort_by(count, &mut |act, a, b| {
        // The first of the two comes first.
        let mut records = bytes.chunks_exact_mut(size);
        let (one, between) = (records.nth(a), b.saturating_sub(a).saturating_sub(1));
        let Some((one, other)) = one.zip(records.nth(between)) else { return false };
        if let Act::Compare = act {
            return less(one, other);
        }
        one.iter_mut().zip(other).for_each(|(one, other)| core::mem::swap(one, other));
        false
    });
}

/// What a sort asks for: whether the first of two slots is less, or their exchange.
#[derive(Clone, Copy)]
enum Act {
    Compare,
    Swap,
}

fn sort_by<F: FnMut(Act, usize, usize) -> bool>(count: usize, act: &mut F) {
    for start in (0..count / 2).rev() {
        sift(start, count, act);
    }
    for end in (1..count).rev() {
        act(Act::Swap, 0, end);
        sift(0, end, act);
    }
}

/// Lets the slot at `root` sink to its place in the heap of the first `end` slots.
fn sift<F: FnMut(Act, usize, usize) -> bool>(mut root: usize, end: usize, act: &mut F) {
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
