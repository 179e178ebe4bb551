//! The books: what processes still hold.

use super::device::Life;
use super::driver::Driver;
use super::memory::Memory;
use core::fmt;

/// Live objects of all processes, or of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// Chunks with the life of a process.
    pub chunks: usize,
    /// Bytes of those chunks.
    pub bytes: u64,
    /// Mapping records.
    pub mappings: usize,
    /// Attach slots.
    pub attached: usize,
    /// Claimed cores.
    pub claims: usize,
    /// Queues that somebody initialised and that do not point to the dummy ring.
    pub queues: usize,
    /// Datastores.
    pub datastores: usize,
    /// Reset requests nobody collected.
    pub resets: usize,
    /// Open files.
    pub opens: usize,
}

impl Books {
    /// Whether nothing is held.
    #[must_use]
    pub fn are_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Books {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { chunks, bytes, mappings, attached, claims, queues, datastores, resets, opens } = self;
        write!(
            f,
            "{chunks} chunks ({bytes} bytes), {mappings} mappings, {attached} attached, {claims} cores claimed, \
             {queues} queues, {datastores} datastores, {resets} resets, {opens} open files"
        )
    }
}

impl<M: Memory> Driver<M> {
    /// What processes hold now.
    pub fn books(&self) -> Books {
        let mut books = Books {
            claims: self.claims.iter().filter(|owner| **owner != 0).count(),
            opens: self.opens.len(),
            ..Books::default()
        };
        for device in &self.devices {
            let held = device.chunks().filter(|chunk| chunk.life == Life::Process);
            for chunk in held {
                books.chunks += 1;
                books.bytes += chunk.bytes;
            }
            books.mappings += device.mappings.len();
            books.attached += device.attach_slots();
            books.datastores += device.datastores.iter().flatten().count();
            books.resets += device.resets.len();
            let queues = device.engines.iter().flat_map(|engine| &engine.queues);
            books.queues += queues.filter(|queue| queue.owner != 0).count();
        }
        books
    }
}
