//! Rank arrays of a manifest, step by step.

use super::RankStep;
use crate::manifest::Ranks;

/// The steps through three-level arrays. `[[]]` is one group without subgroups (lowering.md §2.10).
pub(super) struct Steps<'m> {
    ranks: Option<Ranks<'m>>,
    /// The next word of the stored form.
    at: u32,
    /// Outer entries that were not begun.
    sets: u32,
    /// Groups of the entry that were not begun.
    groups: u32,
    /// Ranks of the group that are to come.
    left: u32,
}

impl<'m> Steps<'m> {
    pub(super) fn new(ranks: Option<Ranks<'m>>) -> Self {
        Self { ranks, at: 1, sets: ranks.map_or(0, |ranks| ranks.len()), groups: 0, left: 0 }
    }

    /// One of `left`, if there is one.
    fn one_of(left: &mut u32) -> bool {
        let fewer = left.checked_sub(1);
        *left = fewer.unwrap_or(0);
        fewer.is_some()
    }

    fn word(&mut self) -> Option<u32> {
        let word = self.ranks?.word(self.at)?;
        self.at = self.at.checked_add(1)?;
        Some(word)
    }
}

impl Iterator for Steps<'_> {
    type Item = RankStep;

    #[inline(never)]
    fn next(&mut self) -> Option<RankStep> {
        if Self::one_of(&mut self.left) {
            return self.word().map(RankStep::Rank);
        }
        if Self::one_of(&mut self.groups) {
            self.left = self.word()?;
            return Some(RankStep::Subgroup);
        }
        if !Self::one_of(&mut self.sets) {
            return None;
        }
        self.groups = self.word()?;
        Some(RankStep::Group)
    }
}
