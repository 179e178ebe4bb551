//! `act_info.json`: which files an activation set has (manifests.md §13.4).

use super::super::build::{Build, Document, Slot, full};
use super::super::record::{ActInfoRecord, Text};
use super::super::table::Table;
use crate::error::Error;
use crate::json::{Element, Kind, Path, Want};

/// Entries that are looked through for a set; shipped rosters have at most 21.
pub(crate) const SETS_MAX: u32 = 1024;

/// State while the document streams by. The roster is optional: what is malformed is left out.
#[derive(Debug)]
pub(crate) struct ActInfoReader {
    pub(crate) sets: Table,
    name: Slot<Text>,
    bkt: Slot<Text>,
    ctrl: Slot<Text>,
    profile: Slot<Text>,
}

impl ActInfoReader {
    pub(crate) const fn new() -> Self {
        const NONE: Slot<Text> = Slot::Absent;
        Self { sets: Table::EMPTY, name: NONE, bkt: NONE, ctrl: NONE, profile: NONE }
    }
}

impl Document for ActInfoReader {
    fn value(&mut self, _: &mut Build<'_, '_>, path: &Path<'_>, _: Kind, _: u64) -> Result<Want, Error> {
        Ok(match path.depth() {
            0 => Want::Enter,
            1 | 2 if path.key(0) == b"act_func_sets" => {
                (self.name, self.bkt) = (Slot::Absent, Slot::Absent);
                (self.ctrl, self.profile) = (Slot::Absent, Slot::Absent);
                Want::Enter
            }
            3 if matches!(path.key(2), b"name" | b"bkt_bin" | b"ctrl_bin" | b"profile_json") => Want::Take,
            _ => Want::Skip,
        })
    }

    fn taken(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, value: Element<'_>) -> Result<(), Error> {
        let slot = match path.key(2) {
            b"name" => &mut self.name,
            b"bkt_bin" => &mut self.bkt,
            b"ctrl_bin" => &mut self.ctrl,
            _ => &mut self.profile,
        };
        if slot.is_absent() {
            slot.set(build.keep_string(value)?);
        }
        Ok(())
    }

    fn leave(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, _: u32) -> Result<(), Error> {
        let (Some(name), Some(bkt), Some(ctrl)) = (self.name.get(), self.bkt.get(), self.ctrl.get()) else {
            return Ok(());
        };
        if path.depth() != 2 || self.sets.len() >= SETS_MAX {
            return Ok(());
        }
        let profile = self.profile.get().unwrap_or(Text::EMPTY);
        let record = ActInfoRecord { name, bkt, ctrl, profile };
        self.sets.push(build.arena, record).map(drop).map_err(full)
    }

    fn finish(&mut self, _: &mut Build<'_, '_>) -> Result<(), Error> {
        Ok(())
    }
}
