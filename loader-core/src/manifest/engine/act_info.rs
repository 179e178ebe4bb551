//! `act_info.json`: which files an activation set has (manifests.md §13.4).

use super::super::build::{Build, Document};
use super::super::fields::{Fields, Type, fields};
use super::super::record::ActInfoRecord;
use super::super::table::Table;
use crate::error::Error;
use crate::json::{Element, Kind, Path, Want};
use zerocopy::FromZeros;

/// Entries that are looked through for a set; shipped rosters have at most 21.
pub(crate) const SETS_MAX: u32 = 1024;

fields! {
    /// Keys of an entry.
    Key for ActInfoRecord {
        Name = b"name": Type::Text => name,
        BktBin = b"bkt_bin": Type::Text => bkt,
        CtrlBin = b"ctrl_bin": Type::Text => ctrl,
        ProfileJson = b"profile_json": Type::Text => profile,
    }
}

/// State while the document streams by. The roster is optional: what is malformed is left out.
#[derive(Debug)]
pub(crate) struct ActInfoReader {
    pub(crate) sets: Table,
    said: Fields<Key>,
}

impl ActInfoReader {
    pub(crate) const fn new() -> Self {
        Self { sets: Table::EMPTY, said: Fields::NONE }
    }
}

impl Document for ActInfoReader {
    fn value(&mut self, _: &mut Build<'_, '_>, path: &Path<'_>, _: Kind, _: u64) -> Result<Want, Error> {
        Ok(match path.depth() {
            1 | 2 if path.key(0) == b"act_func_sets" => {
                self.said.begin();
                Want::Enter
            }
            3 if Key::of(path.key(2)) != Key::Other => Want::Take,
            _ => Want::Skip,
        })
    }

    fn taken(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, value: Element<'_>) -> Result<(), Error> {
        self.said.take(build, Key::of(path.key(2)), value)
    }

    fn leave(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, _: u32) -> Result<(), Error> {
        let whole = [Key::Name, Key::BktBin, Key::CtrlBin].into_iter().all(|key| self.said.has(key));
        if !whole || path.depth() != 2 || self.sets.len() >= SETS_MAX {
            return Ok(());
        }
        let mut record = ActInfoRecord::new_zeroed();
        self.said.place(&mut record);
        build.push(&mut self.sets, &record)
    }
}
