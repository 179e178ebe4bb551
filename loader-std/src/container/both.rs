//! Two takers of one pass.

use loader_core::container::{Entry, Events, Header};
use loader_core::error::Error;

/// Tells every event to both, to the first one first.
pub(crate) struct Both<'e, A, B> {
    pub(crate) first: A,
    pub(crate) second: &'e mut B,
}

impl<A: Events, B: Events> Events for Both<'_, A, B> {
    fn header(&mut self, header: &Header) -> Result<(), Error> {
        self.first.header(header)?;
        self.second.header(header)
    }

    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        self.first.entry(entry)?;
        self.second.entry(entry)
    }

    fn data(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.first.data(offset, bytes)?;
        self.second.data(offset, bytes)
    }

    fn hole(&mut self, offset: u64, length: u64) -> Result<(), Error> {
        self.first.hole(offset, length)?;
        self.second.hole(offset, length)
    }

    fn end(&mut self) -> Result<(), Error> {
        self.first.end()?;
        self.second.end()
    }

    fn note(&mut self, note: Error) {
        self.first.note(note);
        self.second.note(note);
    }
}

/// Takes nothing.
pub(crate) struct Unheard;

impl Events for Unheard {
    fn entry(&mut self, _: &Entry<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn data(&mut self, _: u64, _: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn hole(&mut self, _: u64, _: u64) -> Result<(), Error> {
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
