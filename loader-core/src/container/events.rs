//! What a walk over a file reports, in file order.

use super::header::Header;
use crate::error::Error;

/// What an archive entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file, or something unknown that is read like one.
    File,
    /// A folder; never in the table.
    Directory,
    /// A hard link, in the table as what its body holds (usually nothing).
    HardLink,
    /// A symbolic link, in the table as empty.
    SymLink,
    /// A character device, in the table as empty.
    CharDevice,
    /// A block device, in the table as empty.
    BlockDevice,
    /// A FIFO, in the table as empty.
    Fifo,
}

impl Kind {
    /// Lower-case word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::HardLink => "hardlink",
            Self::SymLink => "symlink",
            Self::CharDevice => "chardev",
            Self::BlockDevice => "blockdev",
            Self::Fifo => "fifo",
        }
    }
}

/// Members whose name ends with these bytes are dropped while unpacking (container.md §10 step 3).
pub const DROPPED_SUFFIX: &[u8] = b"wavegraph-bin.json";

/// One entry of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Counts the entries of the archive, dropped ones included.
    pub index: u32,
    /// The name as the archive has it.
    pub raw_name: &'a [u8],
    /// What it is.
    pub kind: Kind,
    /// Content bytes.
    pub size: u64,
    /// Where its first header block starts in the archive.
    pub header_offset: u64,
}

impl<'a> Entry<'a> {
    /// The key of the member table: one leading `./` removed. `None` for entries that are dropped.
    #[must_use]
    pub fn table_name(&self) -> Option<&'a [u8]> {
        let name = self.raw_name.strip_prefix(b"./").unwrap_or(self.raw_name);
        (self.kind != Kind::Directory && !name.ends_with(DROPPED_SUFFIX)).then_some(name)
    }
}

static ZEROS: [u8; ZEROS_BYTES] = [0; ZEROS_BYTES];
const ZEROS_BYTES: usize = if crate::layout::SMALL { 64 } else { 4096 };

/// Hands out `length` zero bytes in pieces: the content of a hole, `offset` bytes into an entry.
///
/// # Errors
/// Those of `take`, which end it.
pub fn zeros(
    offset: u64,
    length: u64,
    mut take: impl FnMut(u64, &[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let (mut at, end) = (offset, offset.saturating_add(length));
    while at < end {
        let left = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
        let piece = ZEROS.get(..left.min(ZEROS.len())).unwrap_or(&ZEROS);
        take(at, piece)?;
        at = at.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
    }
    Ok(())
}

/// Takes what a [`super::Reader`] finds. The same bytes give the same events however they are cut, except
/// for how [`Events::data`] is cut.
pub trait Events {
    /// The header passed every gate that can be judged so far.
    ///
    /// # Errors
    /// Ends the walk.
    fn header(&mut self, header: &Header) -> Result<(), Error> {
        let _ = header;
        Ok(())
    }

    /// An entry begins.
    ///
    /// # Errors
    /// Ends the walk.
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error>;

    /// Content of the entry that began last; `offset` counts from its start. Not called for folders.
    ///
    /// # Errors
    /// Ends the walk.
    fn data(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error>;

    /// `length` zero bytes of content that the archive does not hold (a sparse member).
    ///
    /// # Errors
    /// Ends the walk.
    fn hole(&mut self, offset: u64, length: u64) -> Result<(), Error> {
        zeros(offset, length, |at, piece| self.data(at, piece))
    }

    /// The entry's content is complete. Not called for folders.
    ///
    /// # Errors
    /// Ends the walk.
    fn end(&mut self) -> Result<(), Error>;

    /// A remark that stops nothing.
    fn note(&mut self, note: Error) {
        let _ = note;
    }
}

/// Makes a remark, where there is somebody to hear it: in small code nobody, as with
/// [`Notes`](crate::error::Notes).
pub(super) fn remark<E: Events>(events: &mut E, make: impl FnOnce() -> Error) {
    if !crate::layout::SMALL {
        events.note(make());
    }
}

/// The same walk for whoever listens: where code must be small, one copy of it serves all.
pub(super) struct Shared<'e>(pub(super) &'e mut dyn Events);

impl Events for Shared<'_> {
    fn header(&mut self, header: &Header) -> Result<(), Error> {
        self.0.header(header)
    }

    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        self.0.entry(entry)
    }

    fn data(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.0.data(offset, bytes)
    }

    fn hole(&mut self, offset: u64, length: u64) -> Result<(), Error> {
        self.0.hole(offset, length)
    }

    fn end(&mut self) -> Result<(), Error> {
        self.0.end()
    }

    fn note(&mut self, note: Error) {
        self.0.note(note);
    }
}
