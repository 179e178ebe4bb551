//! Replica groups and source-target pairs (lowering.md §5.8).

use super::Emit;
use crate::arena::ArenaRef;
use crate::lower::input::{Input, RankStep};
use crate::lower::record::{Counted, Group, Pair, SrcTgtSet, Subgroup};
use core::mem::offset_of;
use zerocopy::IntoBytes;
use zerocopy::little_endian::{U32, U64};

/// One of the two nests of three levels, as it is filled: groups of subgroups of u32 ranks, or sets of pairs of two
/// u64 ranks, which stand in the pair itself.
struct Nest {
    pairs: bool,
    /// Groups or sets that are to come, and where the present one counts what is in it.
    outer: ArenaRef,
    group: ArenaRef,
    /// Subgroups or pairs that are to come, and the present one.
    inner: ArenaRef,
    subgroup: ArenaRef,
    /// Room for the ranks that are to come.
    ranks: ArenaRef,
}

/// Bytes of a group or a set; where it counts what is in it; bytes of a rank.
const fn sizes(pairs: bool) -> (u32, u32, u32) {
    const { assert!(size_of::<Group>() == 16 && size_of::<SrcTgtSet>() == 32) };
    const { assert!(offset_of!(SrcTgtSet, pairs) == 8 && offset_of!(SrcTgtSet, num_pairs) == 16) };
    if pairs { (32, 8, 8) } else { (16, 0, 4) }
}

/// Bytes of a subgroup or a pair.
const INNER: u32 = 16;
const _: () = assert!(size_of::<Subgroup>() == 16 && size_of::<Pair>() == 16);

impl<I: Input> Emit<'_, '_, I> {
    #[inline(never)]
    pub(super) fn ranks(&mut self, pairs: bool) -> Counted {
        let (subject, counts) = (self.subject, &self.counts);
        let (groups, subgroups, ranks) = match pairs {
            true => (counts.pair_sets, counts.pairs, 0),
            false => (counts.groups, counts.subgroups, counts.participants),
        };
        let null = ArenaRef::NULL;
        let outer = self.alloc::<u8>(groups.saturating_mul(u64::from(sizes(pairs).0)));
        let inner = self.alloc::<u8>(subgroups.saturating_mul(u64::from(INNER)));
        let ranks = self.alloc::<u8>(ranks);
        let mut nest = Nest { pairs, outer, group: null, inner, subgroup: null, ranks };
        if pairs {
            subject.input.src_target_pairs(subject.sg).for_each(|step| self.rank_step(&mut nest, step));
        } else {
            subject.input.replica_groups(subject.sg).for_each(|step| self.rank_step(&mut nest, step));
        }
        let len = U32::new(u32::try_from(groups).unwrap_or(u32::MAX));
        Counted { items: ArenaRef { len, ..outer }, count: U64::new(groups) }
    }

    #[inline(never)]
    fn rank_step(&mut self, nest: &mut Nest, step: RankStep) {
        let (outer, counted, rank_bytes) = sizes(nest.pairs);
        match step {
            RankStep::Group => {
                nest.group = self.part(&mut nest.outer, outer);
                nest.group.off.set(nest.group.off.get().saturating_add(counted));
            }
            RankStep::Subgroup => {
                nest.subgroup = self.part(&mut nest.inner, INNER);
                self.one_more(nest.group, nest.subgroup.off);
                if nest.pairs {
                    nest.ranks = nest.subgroup;
                } else if nest.ranks.off.get() & 4 != 0 {
                    // Lists of ranks start on multiples of 8.
                    self.part(&mut nest.ranks, rank_bytes);
                }
            }
            RankStep::Rank(rank) => {
                let place = self.part(&mut nest.ranks, rank_bytes);
                self.fill(place.off.get(), U32::new(rank).as_bytes());
                if !nest.pairs {
                    self.one_more(nest.subgroup, place.off);
                }
            }
        }
    }

    /// Counts one more in a list that starts with the item at `first`.
    fn one_more(&mut self, list: ArenaRef, first: U32) {
        let place = ArenaRef { len: U32::new(1), ..list };
        let Some(list) = self.get_mut::<Counted>(place) else { return };
        if list.items.is_null() {
            list.items.off = first;
        }
        list.items.len.set(list.items.len.get().saturating_add(1));
        list.count.set(list.count.get().saturating_add(1));
    }
}
