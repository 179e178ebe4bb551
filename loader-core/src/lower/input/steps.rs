//! Rank arrays of a manifest, step by step.

use super::RankStep;
use crate::manifest::Ranks;

/// The steps through three-level arrays. `[[]]` is one group without subgroups (lowering.md §2.10); where a file
/// leaves outer levels out, they are supplied.
pub(super) struct Steps<'m> {
    ranks: Option<Ranks<'m>>,
    /// The next word of the stored form.
    at: u32,
    /// Outer entries that were not begun.
    sets: u32,
    /// Groups that have no ranks to come.
    bare: u32,
    /// Groups of the entry that were not begun.
    groups: u32,
    /// Ranks of the group that are to come.
    left: u32,
}

impl<'m> Steps<'m> {
    pub(super) fn new(ranks: Option<Ranks<'m>>) -> Self {
        let at = u32::from(ranks.is_some_and(|ranks| ranks.depth() == 3));
        Self { ranks, at, sets: ranks.map_or(0, |ranks| ranks.len()), bare: 0, groups: 0, left: 0 }
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

    /// An outer entry begins: how many groups stand for it.
    fn begin(&mut self) -> Option<()> {
        let ranks = self.ranks?;
        let groups = if ranks.depth() >= 2 { self.word()? } else { 1 };
        if ranks.depth() == 3 || ranks.words() > self.at.saturating_add(groups) {
            (self.bare, self.groups) = (1, groups);
        } else {
            // Without ranks the two-level `[[], []]` lists groups, and the one-level `[]` lists none.
            self.bare = if ranks.depth() == 2 { groups } else { 0 };
        }
        Some(())
    }
}

impl Iterator for Steps<'_> {
    type Item = RankStep;

    #[inline(never)]
    fn next(&mut self) -> Option<RankStep> {
        loop {
            if Self::one_of(&mut self.bare) {
                return Some(RankStep::Group);
            }
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
            self.begin()?;
        }
    }
}
