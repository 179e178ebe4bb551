//! Reading the KELF: its three keys (manifests.md §5.1).

use crate::error::Error;
use crate::json::{Element, Kind, Path, Want};
use crate::manifest::build::{Build, Document, Slot, full};
use crate::manifest::record::Text;
use crate::manifest::table::Table;
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// One entry of `graphs`.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct GraphEntry {
    pub(crate) name: Text,
    pub(crate) definition: Text,
    /// Not 0 if one of the two is absent or no string.
    pub(crate) bad: U32,
}

/// State while the document streams by.
#[derive(Debug)]
pub(crate) struct KelfReader {
    pub(crate) version: Slot<Text>,
    pub(crate) target: Slot<Text>,
    pub(crate) graphs_are_array: Slot<bool>,
    pub(crate) graphs: Table,
    name: Slot<Text>,
    definition: Slot<Text>,
}

impl KelfReader {
    pub(crate) const fn new() -> Self {
        Self {
            version: Slot::Absent,
            target: Slot::Absent,
            graphs_are_array: Slot::Absent,
            graphs: Table::EMPTY,
            name: Slot::Absent,
            definition: Slot::Absent,
        }
    }

    fn end_graph(&mut self, build: &mut Build<'_, '_>) -> Result<(), Error> {
        let (name, definition) = (self.name.get(), self.definition.get());
        let entry = GraphEntry {
            name: name.unwrap_or(Text::EMPTY),
            definition: definition.unwrap_or(Text::EMPTY),
            bad: U32::new(u32::from(name.and(definition).is_none())),
        };
        self.graphs.push(build.arena, entry).map_err(full)?;
        self.name = Slot::Absent;
        self.definition = Slot::Absent;
        Ok(())
    }
}

impl Document for KelfReader {
    fn value(
        &mut self,
        build: &mut Build<'_, '_>,
        path: &Path<'_>,
        kind: Kind,
        _: u64,
    ) -> Result<Want, Error> {
        Ok(match (path.depth(), path.key(0)) {
            (0, _) => Want::Enter,
            (1, b"version" | b"target") => Want::Take,
            (1, b"graphs") if self.graphs_are_array.is_absent() => {
                self.graphs_are_array = Slot::Got(kind == Kind::Array);
                if kind == Kind::Array { Want::Enter } else { Want::Skip }
            }
            (2, _) if kind == Kind::Object => Want::Enter,
            (2, _) => {
                self.end_graph(build)?;
                Want::Skip
            }
            (3, _) if matches!(path.key(2), b"name" | b"definition") => Want::Take,
            _ => Want::Skip,
        })
    }

    fn taken(
        &mut self,
        build: &mut Build<'_, '_>,
        path: &Path<'_>,
        element: Element<'_>,
    ) -> Result<(), Error> {
        let text = build.keep_string(element)?;
        match (path.depth(), path.key(0), path.key(2)) {
            (1, b"version", _) => self.version.set(text),
            (1, _, _) => self.target.set(text),
            (_, _, b"name") => self.name.set(text),
            _ => self.definition.set(text),
        }
        Ok(())
    }

    fn leave(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, _: u32) -> Result<(), Error> {
        if path.depth() == 2 { self.end_graph(build) } else { Ok(()) }
    }

    fn finish(&mut self, _: &mut Build<'_, '_>) -> Result<(), Error> {
        Ok(())
    }
}
