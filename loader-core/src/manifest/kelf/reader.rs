//! Reading the KELF: its three keys (manifests.md §5.1).

use crate::error::Error;
use crate::json::{Element, Kind, Path, Want};
use crate::manifest::build::{Build, Document};
use crate::manifest::fields::{Fields, Type, fields};
use crate::manifest::record::Text;
use crate::manifest::table::{Named, Table};
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

/// One entry of `graphs`.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct GraphEntry {
    pub(crate) name: Text,
    pub(crate) definition: Text,
    /// Not 0 if one of the two is absent or no string.
    pub(crate) bad: U32,
}

impl Named for GraphEntry {}

const _: () = assert!(core::mem::offset_of!(GraphEntry, name) == 0);

fields! {
    /// Keys of the KELF at the top.
    pub(crate) Key for () {
        Version = b"version": Type::Text,
        Target = b"target": Type::Text,
        Graphs = b"graphs": Type::Own,
    }
}

fields! {
    /// Keys of an entry of `graphs`.
    GraphKey for GraphEntry {
        Name = b"name": Type::Text => name,
        Definition = b"definition": Type::Text => definition,
    }
}

/// State while the document streams by.
#[derive(Debug)]
pub(crate) struct KelfReader {
    pub(crate) said: Fields<Key>,
    pub(crate) graphs: Table,
    graph: Fields<GraphKey>,
}

impl KelfReader {
    pub(crate) const fn new() -> Self {
        Self { said: Fields::NONE, graphs: Table::EMPTY, graph: Fields::NONE }
    }

    fn end_graph(&mut self, build: &mut Build<'_, '_>) -> Result<(), Error> {
        let mut entry = GraphEntry::new_zeroed();
        self.graph.place(&mut entry);
        let whole = self.graph.has(GraphKey::Name) && self.graph.has(GraphKey::Definition);
        entry.bad = U32::new(u32::from(!whole));
        self.graph.begin();
        build.push(&mut self.graphs, &entry)
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
        Ok(match (path.depth(), Key::of(path.key(0))) {
            (1, Key::Graphs) if self.said.is_absent(Key::Graphs) => {
                self.said.enter(Key::Graphs, kind, 0);
                if kind == Kind::Array { Want::Enter } else { Want::Skip }
            }
            (1, Key::Version | Key::Target) => Want::Take,
            (2, _) if kind == Kind::Object => Want::Enter,
            (2, _) => {
                self.end_graph(build)?;
                Want::Skip
            }
            (3, _) if GraphKey::of(path.key(2)) != GraphKey::Other => Want::Take,
            _ => Want::Skip,
        })
    }

    fn taken(
        &mut self,
        build: &mut Build<'_, '_>,
        path: &Path<'_>,
        element: Element<'_>,
    ) -> Result<(), Error> {
        match path.depth() {
            1 => self.said.take(build, Key::of(path.key(0)), element),
            _ => self.graph.take(build, GraphKey::of(path.key(2)), element),
        }
    }

    fn leave(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, _: u32) -> Result<(), Error> {
        if path.depth() == 2 { self.end_graph(build) } else { Ok(()) }
    }
}
