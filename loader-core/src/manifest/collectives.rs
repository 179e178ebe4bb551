//! `replica_groups` and `src_target_pairs` (manifests.md §9), kept as counts and ranks.

use super::table::Table;
use crate::arena::Tail;
use zerocopy::little_endian::U32;

/// A nested array of ranks, three levels deep.
///
/// The stored form is, level by level, the number of items and then the items; ranks are leaves.
#[derive(Clone, Copy, Debug)]
pub struct Ranks<'m> {
    tail: Tail<'m>,
    table: &'m Table,
}

impl<'m> Ranks<'m> {
    pub(crate) const fn new(tail: Tail<'m>, table: &'m Table) -> Self {
        Self { tail, table }
    }

    /// Word `at` of the stored form.
    pub(crate) fn word(&self, at: u32) -> Option<u32> {
        self.table.get::<U32>(self.tail, at).map(|word| word.get())
    }

    /// Number of outer entries: topologies, or sets of pairs.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.word(0).unwrap_or(0)
    }

    /// True without outer entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The outer entries.
    pub fn iter(&self) -> impl Iterator<Item = RankSet<'m>> + use<'m> {
        let ranks = *self;
        let mut at = 1;
        (0..self.len()).map_while(move |_| {
            let set = RankSet { ranks, at };
            at = ranks.skip(at, 2)?;
            Some(set)
        })
    }

    /// Position after the array of `levels` levels that starts at `at`.
    fn skip(&self, at: u32, levels: u32) -> Option<u32> {
        let count = self.word(at)?;
        let mut next = at.checked_add(1)?;
        if levels <= 1 {
            return next.checked_add(count);
        }
        for _ in 0..count {
            let inner = self.word(next)?;
            next = next.checked_add(1)?.checked_add(inner)?;
        }
        Some(next)
    }
}

/// One topology of groups, or one set of pairs.
#[derive(Clone, Copy, Debug)]
pub struct RankSet<'m> {
    ranks: Ranks<'m>,
    at: u32,
}

impl<'m> RankSet<'m> {
    /// Number of groups or pairs.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.ranks.word(self.at).unwrap_or(0)
    }

    /// True without groups or pairs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The groups or pairs.
    pub fn iter(&self) -> impl Iterator<Item = RankGroup<'m>> + use<'m> {
        let ranks = self.ranks;
        let mut at = self.at.saturating_add(1);
        (0..self.len()).map_while(move |_| {
            let group = RankGroup { ranks, at };
            at = ranks.skip(at, 1)?;
            Some(group)
        })
    }
}

/// One group of ranks, or one pair.
#[derive(Clone, Copy, Debug)]
pub struct RankGroup<'m> {
    ranks: Ranks<'m>,
    at: u32,
}

impl<'m> RankGroup<'m> {
    /// Number of ranks.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.ranks.word(self.at).unwrap_or(0)
    }

    /// True without ranks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ranks.
    pub fn iter(&self) -> impl Iterator<Item = u32> + use<'m> {
        let (ranks, at) = (self.ranks, self.at);
        (1..=self.len()).map_while(move |n| ranks.word(at.checked_add(n)?))
    }
}
