//! Replica groups and source-target pairs (lowering.md §5.8).

use super::Emit;
use super::pools::Pool;
use crate::arena::ArenaRef;
use crate::error::Error;
use crate::lower::input::{Input, RankStep};
use crate::lower::record::{Counted, Group, Pair, SrcTgtSet, Subgroup};
use core::mem::offset_of;
use zerocopy::IntoBytes;
use zerocopy::little_endian::{U32, U64};

/// One of the two nests of three levels, as it is filled: groups of subgroups of u32 ranks, or sets of pairs of two
/// u64 ranks, which stand in the pair itself.
struct Nest {
    pairs: bool,
    /// Groups or sets, and subgroups or pairs.
    outer: Pool,
    inner: Pool,
    /// Where the present group or set counts what is in it.
    group: ArenaRef,
    /// The present subgroup or pair, and how many ranks it has.
    subgroup: ArenaRef,
    ranks: u32,
}

/// Where a set counts its pairs; a group does so at its start.
const PAIRS: u32 = 8;
const _: () = assert!(offset_of!(SrcTgtSet, pairs) == 8 && offset_of!(SrcTgtSet, num_pairs) == 16);
const _: () = assert!(size_of::<Group>() == 16 && size_of::<Subgroup>() == 16 && size_of::<Pair>() == 16);

impl<I: Input> Emit<'_, '_, I> {
    #[inline(never)]
    pub(super) fn collectives(&mut self) -> Result<(), Error> {
        self.kbin.replica_groups = self.ranks(false);
        self.kbin.src_target_pairs = self.ranks(true);
        if I::CHECKED {
            return Ok(());
        }
        let (subject, most) = (self.subject, u64::from(self.subject.limits.collective_elements));
        let used = |pool| u64::from(self.found.used(pool));
        let members = used(Pool::Ranks).saturating_mul(4).next_multiple_of(8);
        subject.limit("replica groups", used(Pool::Groups), most)?;
        subject.limit("replica subgroups", used(Pool::Subgroups), most)?;
        subject.limit("bytes of replica group members", members, most.saturating_mul(8))?;
        subject.limit("sets of source-target pairs", used(Pool::PairSets), most)?;
        subject.limit("source-target pairs", used(Pool::Pairs), most)
    }

    #[inline(never)]
    fn ranks(&mut self, pairs: bool) -> Counted {
        let subject = self.subject;
        let (outer, inner) =
            if pairs { (Pool::PairSets, Pool::Pairs) } else { (Pool::Groups, Pool::Subgroups) };
        let items = self.open(outer);
        self.open(inner);
        let null = ArenaRef::NULL;
        let mut nest = Nest { pairs, outer, inner, group: null, subgroup: null, ranks: 0 };
        if pairs {
            subject.input.src_target_pairs(subject.sg).for_each(|step| self.rank_step(&mut nest, step));
        } else {
            self.open(Pool::Ranks);
            subject.input.replica_groups(subject.sg).for_each(|step| self.rank_step(&mut nest, step));
        }
        Counted { items, count: U64::new(u64::from(items.count())) }
    }

    #[inline(never)]
    fn rank_step(&mut self, nest: &mut Nest, step: RankStep) {
        match step {
            RankStep::Group => {
                nest.group = self.part(nest.outer, 1);
                if nest.pairs {
                    nest.group.off.set(nest.group.off.get().saturating_add(PAIRS));
                }
            }
            RankStep::Subgroup => {
                nest.subgroup = self.part(nest.inner, 1);
                nest.ranks = 0;
                self.one_more(nest.group, nest.subgroup.off);
                // Lists of ranks start on multiples of 8.
                if !nest.pairs && !self.found.used(Pool::Ranks).is_multiple_of(2) {
                    self.part(Pool::Ranks, 1);
                }
            }
            RankStep::Rank(rank) => {
                let place = if nest.pairs {
                    let both = ArenaRef { len: U32::new(2), ..nest.subgroup };
                    both.at::<U64>(nest.ranks)
                } else {
                    self.part(Pool::Ranks, 1)
                };
                nest.ranks = nest.ranks.saturating_add(1);
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
