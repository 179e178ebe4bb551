//! Replica groups and source-target pairs (lowering.md §5.8).

use super::Emit;
use crate::arena::ArenaRef;
use crate::error::Error;
use crate::lower::input::{Input, RankStep};
use crate::lower::record::{Counted, Group, Kbin, Pair, SrcTgtSet, Subgroup};
use zerocopy::little_endian::{U32, U64};

/// How many groups and subgroups a walk through three levels has begun.
#[derive(Clone, Copy, Default)]
struct At {
    groups: u32,
    subgroups: u32,
}

/// `count` elements of an array from element `first` on; null for none.
fn part<T>(array: ArenaRef, first: u32, count: u32) -> ArenaRef {
    match array.nth::<T>(first) {
        Some(place) if count > 0 => ArenaRef { off: place.off, len: U32::new(count) },
        _ => ArenaRef::NULL,
    }
}

fn counted(items: ArenaRef, count: u64) -> Counted {
    Counted { items, count: U64::new(count) }
}

/// Where the next array of ranks starts, behind one of `count`; arrays start on multiples of 8.
fn behind_ranks(off: u32, count: u32) -> u32 {
    off.saturating_add(count.saturating_mul(4).saturating_add(7) & !7)
}

impl<I: Input> Emit<'_, '_, I> {
    #[inline(never)]
    pub(super) fn replica_groups(&mut self, kbin: &mut Kbin) -> Result<(), Error> {
        let groups = self.alloc::<Group>(self.counts.groups)?;
        let subgroups = self.alloc::<Subgroup>(self.counts.subgroups)?;
        let mut ranks = self.alloc::<u8>(self.counts.participants)?;
        let subject = self.subject;
        let broken = || subject.broken("a rank outside its arrays");
        let (mut at, mut first, mut own) = (At::default(), 0, 0u32);
        for step in subject.input.replica_groups(subject.sg) {
            match step {
                RankStep::Group => {
                    first = at.subgroups;
                    at.groups = at.groups.saturating_add(1);
                }
                RankStep::Subgroup => {
                    ranks.off = U32::new(behind_ranks(ranks.off.get(), own));
                    own = 0;
                    at.subgroups = at.subgroups.saturating_add(1);
                }
                RankStep::Rank(rank) => {
                    let list = ArenaRef { off: ranks.off, len: U32::new(own.saturating_add(1)) };
                    self.put(list.nth::<U32>(own).ok_or_else(broken)?, U32::new(rank))?;
                    own = own.saturating_add(1);
                    let index = at.subgroups.checked_sub(1).ok_or_else(broken)?;
                    self.put_nth(subgroups, index, Subgroup { participants: counted(list, u64::from(own)) })?;
                    continue;
                }
            }
            let count = at.subgroups.saturating_sub(first);
            let list = counted(part::<Subgroup>(subgroups, first, count), u64::from(count));
            self.put_nth(groups, at.groups.checked_sub(1).ok_or_else(broken)?, Group { subgroups: list })?;
        }
        kbin.replica_groups = counted(groups, self.counts.groups);
        Ok(())
    }

    #[inline(never)]
    pub(super) fn src_target_pairs(&mut self, kbin: &mut Kbin) -> Result<(), Error> {
        let sets = self.alloc::<SrcTgtSet>(self.counts.pair_sets)?;
        let pairs = self.alloc::<Pair>(self.counts.pairs)?;
        let subject = self.subject;
        let (mut at, mut first, mut pair) = (At::default(), 0, Pair::default());
        let mut ranks = 0u8;
        for step in subject.input.src_target_pairs(subject.sg) {
            match step {
                RankStep::Group => {
                    first = at.subgroups;
                    at.groups = at.groups.saturating_add(1);
                }
                RankStep::Subgroup => {
                    (pair, ranks) = (Pair::default(), 0);
                    at.subgroups = at.subgroups.saturating_add(1);
                }
                RankStep::Rank(rank) => {
                    let slot = if ranks == 0 { &mut pair.source } else { &mut pair.target };
                    *slot = U64::new(u64::from(rank));
                    ranks = ranks.saturating_add(1);
                }
            }
            if let Some(index) = at.subgroups.checked_sub(1).filter(|_| at.subgroups > first) {
                self.put_nth(pairs, index, pair)?;
            }
            let own = at.subgroups.saturating_sub(first);
            let index = at.groups.checked_sub(1).ok_or_else(|| subject.broken("a pair outside a set"))?;
            let set = SrcTgtSet {
                pairs: part::<Pair>(pairs, first, own),
                num_pairs: U64::new(u64::from(own)),
                ..SrcTgtSet::default()
            };
            self.put_nth(sets, index, set)?;
        }
        kbin.src_target_pairs = counted(sets, self.counts.pair_sets);
        Ok(())
    }
}
