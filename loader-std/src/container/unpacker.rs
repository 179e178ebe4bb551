//! Members in memory, by name, for tools that want some of them.

use super::Remarks;
use crate::file::Buffers;
use crate::members::kept_name;
use crate::room;
use loader_core::container::{Digesting, Entry, Events, Reader, drive};
use loader_core::error::{ContainerCode, Error, Notes, Stage};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_core::source::Source;
use std::collections::BTreeMap;

/// Reads a whole file and hands out what is in it. Returns its refusal, if it is refused.
///
/// # Errors
/// The source's refusal to be read.
pub fn read<S: Source>(
    source: &mut S,
    buffers: &mut Buffers,
    policy: &Policy,
    limits: &Limits,
    events: &mut impl Events,
) -> Result<Option<Error>, Error> {
    let mut work = buffers.workspace();
    let input = std::mem::take(&mut work.input);
    let mut reader = Reader::new(source.len(), work, limits, policy, Digesting::of(policy));
    drive(source, input, &mut reader, events)?;
    Ok(reader.finish(events).err())
}

/// Keeps the content of every member whose name is wanted.
#[derive(Debug)]
pub struct Unpacker<W> {
    wanted: W,
    /// What was kept; of several members of one name the last.
    pub members: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Remarks.
    pub notes: Remarks,
    /// The member that comes, and its bytes.
    current: Option<(Vec<u8>, u64)>,
}

impl<W: Fn(&[u8]) -> bool> Unpacker<W> {
    /// Keeps nothing yet.
    pub const fn new(wanted: W) -> Self {
        Self { wanted, members: BTreeMap::new(), notes: Remarks::new(), current: None }
    }
}

impl<W: Fn(&[u8]) -> bool> Events for Unpacker<W> {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        let name = entry.table_name().filter(|name| (self.wanted)(name));
        self.current = name.map(kept_name).transpose()?.map(|name| (name, entry.size));
        if let Some((name, _)) = &self.current {
            self.members.insert(name.clone(), Vec::new());
        }
        Ok(())
    }

    fn data(&mut self, _: u64, bytes: &[u8]) -> Result<(), Error> {
        let Some((name, size)) = &self.current else { return Ok(()) };
        let Some(member) = self.members.get_mut(name) else { return Ok(()) };
        room::append(member, bytes)
            .map_err(|_| Error::new(Stage::Unpack, ContainerCode::StoreFull).numbers(*size, 0).name(name))
    }

    fn end(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn note(&mut self, note: Error) {
        self.notes.note(note);
    }
}
