//! Reading `replica_groups` and `src_target_pairs`: counts and ranks, as they come.

use super::super::build::{Build, beyond, broken};
use super::super::table::Table;
use crate::error::Error;
use crate::json::{Element, Kind, Want};
use zerocopy::little_endian::U32;

/// Levels of arrays around every rank (manifests.md §9.1, §9.2).
const LEVELS: usize = 3;

/// State of one of the two keys.
#[derive(Debug)]
pub(super) struct RanksDraft {
    /// The counts and ranks so far.
    pub(super) table: Table,
    /// Where the counts of the open arrays stand.
    open: [u32; LEVELS],
    pub(super) bad: bool,
    /// Each innermost array must have two ranks.
    pairs: bool,
}

impl RanksDraft {
    pub(super) const fn new(pairs: bool) -> Self {
        Self { table: Table::EMPTY, open: [0; LEVELS], bad: false, pairs }
    }

    /// A value with `level` arrays around it begins.
    pub(super) fn value(
        &mut self,
        build: &mut Build<'_, '_>,
        level: usize,
        kind: Kind,
    ) -> Result<Want, Error> {
        match (kind, self.open.get_mut(level)) {
            (Kind::Array, Some(slot)) => {
                *slot = self.table.len();
                self.push(build, 0)?;
                Ok(Want::Enter)
            }
            (Kind::Number, None) => Ok(Want::Take),
            _ => {
                self.bad = true;
                Ok(Want::Skip)
            }
        }
    }

    /// A rank.
    pub(super) fn rank(&mut self, build: &mut Build<'_, '_>, value: Element<'_>) -> Result<(), Error> {
        let Some(rank) = value.as_u32() else {
            self.bad = true;
            return Ok(());
        };
        self.push(build, rank)
    }

    /// An array with `level` arrays around it ended.
    pub(super) fn leave(
        &mut self,
        build: &mut Build<'_, '_>,
        level: usize,
        values: u32,
    ) -> Result<(), Error> {
        let at = self.open.get(level).copied().ok_or_else(|| broken("an array of ranks"))?;
        if let Some(count) = self.table.get_mut::<U32>(build.arena, at) {
            count.set(values);
        }
        let innermost = level.saturating_add(1) == LEVELS;
        self.bad |= self.pairs && innermost && values != 2;
        Ok(())
    }

    fn push(&mut self, build: &mut Build<'_, '_>, word: u32) -> Result<(), Error> {
        if self.table.len() >= build.limits.collective_elements {
            return Err(beyond(b"groups and ranks", build.limits.collective_elements));
        }
        build.push(&mut self.table, &U32::new(word))
    }
}
