//! Two instruction streams: which ranges of slots were replaced by which.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Bytes of a slot.
const SLOT: usize = 64;
/// Equal slots in a row that show that the streams run together again.
const AGREE: usize = 3;
/// Slots that are looked through for that, on both sides together.
const WINDOW: usize = 512;
/// Comparisons after which the rest is given as one range.
const BUDGET: usize = 1 << 24;

/// A range of one stream that stands where another range stood. One of them may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Slots of the first stream.
    pub a: Range<usize>,
    /// Slots of the second stream.
    pub b: Range<usize>,
}

/// One number per slot; a last part of a slot counts as one.
pub(super) fn hashes(stream: &[u8]) -> Vec<u64> {
    let hash = |slot: &[u8]| {
        let mut hasher = DefaultHasher::new();
        slot.hash(&mut hasher);
        hasher.finish()
    };
    stream.chunks(SLOT).map(hash).collect()
}

/// The ranges that differ, in order. Ranges are short where streams run together again within some hundred slots;
/// beyond that one range covers the rest up to the common end.
#[must_use]
pub fn replaced(a: &[u64], b: &[u64]) -> Vec<Replaced> {
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    // The common end must not reach into the common start.
    let tail = tail.min(a.len().min(b.len()) - head);
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    let (mut i, mut j) = (head, head);
    let (mut found, mut budget) = (Vec::new(), BUDGET);
    while i < a.len() || j < b.len() {
        if a.get(i).is_some_and(|slot| Some(slot) == b.get(j)) {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (skip_a, skip_b) = meet(&a[i..], &b[j..], &mut budget).unwrap_or((a.len() - i, b.len() - j));
        split(a, b, &Replaced { a: i..i + skip_a, b: j..j + skip_b }, &mut found);
        (i, j) = (i + skip_a, j + skip_b);
    }
    found
}

/// Adds the range; of slots that were replaced one by one, without those that are the same.
fn split(a: &[u64], b: &[u64], range: &Replaced, found: &mut Vec<Replaced>) {
    if range.a.len() != range.b.len() {
        found.push(range.clone());
        return;
    }
    let mut open = false;
    for (i, j) in range.a.clone().zip(range.b.clone()) {
        let differs = a[i] != b[j];
        match found.last_mut().filter(|_| open) {
            Some(last) if differs => (last.a.end, last.b.end) = (i + 1, j + 1),
            _ if differs => found.push(Replaced { a: i..i + 1, b: j..j + 1 }),
            _ => {}
        }
        open = differs;
    }
}

/// The least skips after which both streams agree for some slots, or end together.
fn meet(a: &[u64], b: &[u64], budget: &mut usize) -> Option<(usize, usize)> {
    for both in 1..=WINDOW {
        // Equal skips first: a replaced slot is likelier than a lost and a new one elsewhere.
        let mut skips: Vec<usize> = (0..=both).collect();
        skips.sort_by_key(|skip| both.abs_diff(2 * skip));
        for skip in skips {
            *budget = budget.checked_sub(1)?;
            if let (Some(a), Some(b)) = (a.get(skip..), b.get(both - skip..))
                && agree(a, b)
            {
                return Some((skip, both - skip));
            }
        }
    }
    None
}

fn agree(a: &[u64], b: &[u64]) -> bool {
    let most = AGREE.min(a.len().max(b.len()));
    a.iter().take(most).eq(b.iter().take(most))
}

#[cfg(test)]
mod tests {
    use super::{Replaced, replaced};
    use std::ops::Range;

    fn found(a: &[u64], b: &[u64]) -> Vec<(Range<usize>, Range<usize>)> {
        replaced(a, b).into_iter().map(|Replaced { a, b }| (a, b)).collect()
    }

    #[test]
    fn equal_streams_differ_nowhere() {
        assert_eq!(found(&[], &[]), []);
        assert_eq!(found(&[1, 2, 3], &[1, 2, 3]), []);
    }

    #[test]
    fn single_slots_are_found() {
        let a: Vec<u64> = (0..20).collect();
        let mut b = a.clone();
        b[6] = 99;
        b[12] = 98;
        assert_eq!(found(&a, &b), [(6..7, 6..7), (12..13, 12..13)]);
        b.insert(16, 97);
        b.remove(1);
        assert_eq!(found(&a, &b), [(1..2, 1..1), (6..7, 5..6), (12..13, 11..12), (16..16, 15..16)]);
    }

    #[test]
    fn what_is_the_same_between_replaced_slots_is_no_part_of_a_range() {
        let a: Vec<u64> = (0..20).collect();
        let mut b = a.clone();
        for at in [4, 6, 7, 9] {
            b[at] = 99;
        }
        assert_eq!(found(&a, &b), [(4..5, 4..5), (6..8, 6..8), (9..10, 9..10)]);
    }

    #[test]
    fn repeated_slots_do_not_confuse_it() {
        assert_eq!(found(&[7, 7, 7], &[7, 7]), [(2..3, 2..2)]);
        assert_eq!(found(&[7, 7], &[7, 7, 7, 7]), [(2..2, 2..4)]);
        assert_eq!(found(&[], &[1]), [(0..0, 0..1)]);
    }

    #[test]
    fn unrelated_streams_are_one_range() {
        let a: Vec<u64> = (0..2000).collect();
        let b: Vec<u64> = (5000..8000).collect();
        assert_eq!(found(&a, &b), [(0..2000, 0..3000)]);
    }

    /// Putting the ranges of `b` in their places turns `a` into `b`.
    #[test]
    fn the_ranges_rebuild_the_second_stream() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..300 {
            let mut stream = || -> Vec<u64> { (0..random(60)).map(|_| random(4)).collect() };
            let (a, b) = (stream(), stream());
            let (mut rebuilt, mut at) = (Vec::<u64>::new(), 0);
            for Replaced { a: old, b: new } in replaced(&a, &b) {
                rebuilt.extend(&a[at..old.start]);
                rebuilt.extend(&b[new]);
                at = old.end;
            }
            rebuilt.extend(&a[at..]);
            assert_eq!(rebuilt, b);
        }
    }
}
