//! Reading `replica_groups` and `src_target_pairs`: counts and ranks, as they come.

use super::super::build::{Build, beyond, broken};
use super::super::table::Table;
use crate::error::Error;
use crate::json::{Element, Kind, Want};
use zerocopy::little_endian::U32;

/// Levels of arrays around every rank (manifests.md §9.1, §9.2).
const LEVELS: usize = 3;

/// State of one of the two keys.
#[derive(Debug, Default)]
pub(super) struct RanksDraft {
    /// Where the counts of the open arrays stand.
    open: [u32; LEVELS],
    pub(super) bad: bool,
    /// Each innermost array must have two ranks.
    pairs: bool,
}

impl RanksDraft {
    pub(super) fn begin(&mut self, pairs: bool) {
        *self = Self { pairs, ..Self::default() };
    }

    /// A value with `level` arrays around it begins.
    pub(super) fn value(
        &mut self,
        build: &mut Build<'_, '_>,
        table: &mut Table,
        level: usize,
        kind: Kind,
    ) -> Result<Want, Error> {
        match (kind, self.open.get_mut(level)) {
            (Kind::Array, Some(slot)) => {
                *slot = self::push(build, table, 0)?;
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
    pub(super) fn rank(
        &mut self,
        build: &mut Build<'_, '_>,
        table: &mut Table,
        value: Element<'_>,
    ) -> Result<(), Error> {
        let Some(rank) = value.as_u32() else {
            self.bad = true;
            return Ok(());
        };
        push(build, table, rank).map(drop)
    }

    /// An array with `level` arrays around it ended.
    pub(super) fn leave(
        &mut self,
        build: &mut Build<'_, '_>,
        table: &Table,
        level: usize,
        values: u32,
    ) -> Result<(), Error> {
        let at = self.open.get(level).copied().ok_or_else(|| broken("an array of ranks"))?;
        if let Some(count) = table.get_mut::<U32>(build.arena, at) {
            count.set(values);
        }
        let innermost = level.saturating_add(1) == LEVELS;
        self.bad |= self.pairs && innermost && values != 2;
        Ok(())
    }
}

fn push(build: &mut Build<'_, '_>, table: &mut Table, word: u32) -> Result<u32, Error> {
    if table.len() >= build.limits.collective_elements {
        return Err(beyond(b"groups and ranks", build.limits.collective_elements));
    }
    let at = table.len();
    build.push(table, &U32::new(word))?;
    Ok(at)
}
