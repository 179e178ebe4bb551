//! A whole file as a push parser: header, gates, digest and archive in one pass (container.md §7, §8).
//!
//! ```
//! use loader_core::container::{Digesting, Entry, Events, Layer, Reader, Workspace};
//! use loader_core::{error::Error, limits::Limits, policy::Policy};
//!
//! struct Count(u32);
//! impl Events for Count {
//!     fn entry(&mut self, _: &Entry<'_>) -> Result<(), Error> {
//!         self.0 += 1;
//!         Ok(())
//!     }
//!     fn data(&mut self, _: u64, _: &[u8]) -> Result<(), Error> {
//!         Ok(())
//!     }
//!     fn end(&mut self) -> Result<(), Error> {
//!         Ok(())
//!     }
//! }
//!
//! let (mut layers, mut names) = ([Layer::new()], [0; 768]);
//! let work = Workspace { input: &mut [0; 1], layers: &mut layers, names: &mut names, extents: &mut [] };
//! let mut reader = Reader::new(Some(16), work, &Limits::DEFAULT, &Policy::DEFAULT, Digesting::Verify);
//! let mut count = Count(0);
//! reader.feed(b"no NEFF at all..", &mut count);
//! assert_eq!(reader.finish(&mut count).unwrap_err().id().to_string(), "C106");
//! ```

use super::archive::Archive;
use super::digest::{Algorithm, DigestVerdict, Hasher};
use super::events::{Events, remark};
use super::header::{HEADER_BYTES, Header, HeaderView, PAYLOAD_OFFSET};
use super::workspace::Workspace;
use super::{PayloadShape, gates, guard};
use crate::error::{ContainerCode, Error, Stage};
use crate::limits::Limits;
use crate::policy::Policy;
use core::ops::Range;

/// What to do about the payload digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digesting {
    /// Nothing.
    Skip,
    /// Compute it and report how the header holds it.
    Report,
    /// Refuse a file whose header does not hold it.
    Verify,
}

impl Digesting {
    /// What a policy asks for.
    #[must_use]
    pub const fn of(policy: &Policy) -> Self {
        if policy.verify_digest {
            Self::Verify
        } else if policy.report_digest() {
            Self::Report
        } else {
            Self::Skip
        }
    }
}

/// Whether more bytes can change the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// They can.
    More,
    /// They cannot; [`Reader::finish`] may be called without them.
    Done,
}

/// What a whole file turned out to be.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// The header's fields.
    pub header: Header,
    /// The payload digest and how the header holds it.
    pub digest: DigestVerdict,
    /// The payload as it was found.
    pub payload: PayloadShape,
}

/// Takes a file's bytes from the first on, in pieces of any length. The short fields come first, where code reaches them
/// with short offsets.
#[derive(Debug)]
#[repr(C)]
pub struct Reader<'w> {
    size: Option<u64>,
    /// File bytes taken so far.
    taken: u64,
    digesting: Digesting,
    /// The caller computes the digest.
    elsewhere: bool,
    /// The header was refused, or the window is complete.
    closed: bool,
    algorithm: Option<Algorithm>,
    result: Result<(), Error>,
    policy: Policy,
    digest: Option<DigestVerdict>,
    hasher: Option<Hasher>,
    header: Option<Header>,
    head: [u8; HEADER_BYTES],
    archive: Archive<'w>,
}

impl<'w> Reader<'w> {
    /// A reader for a file of `size` bytes; `None` if that is only known at its end, as with a pipe.
    #[must_use]
    pub fn new(
        size: Option<u64>,
        work: Workspace<'w>,
        limits: &Limits,
        policy: &Policy,
        digesting: Digesting,
    ) -> Self {
        Self {
            size,
            policy: *policy,
            digesting,
            elsewhere: false,
            head: [0; HEADER_BYTES],
            taken: 0,
            header: None,
            algorithm: None,
            hasher: None,
            digest: None,
            archive: Archive::new(work, limits),
            closed: false,
            result: Ok(()),
        }
    }

    /// Leaves the digest to the caller, as one with a second processor wants: see [`Self::digest_due`]. To be
    /// called before the first byte.
    pub const fn leave_digest(&mut self) {
        self.elsewhere = true;
    }

    /// Which digest the caller owes, and of which bytes of the file; once the header has passed its gates.
    #[must_use]
    pub fn digest_due(&self) -> Option<(Algorithm, Range<u64>)> {
        let due = self.elsewhere && self.digesting != Digesting::Skip;
        let header = self.header.as_ref().filter(|_| due)?;
        Some((self.algorithm?, PAYLOAD_OFFSET..header.payload_end()))
    }

    /// Takes that digest, when all of the file was fed and before [`Self::finish`]. Without it the digest
    /// counts as not matching.
    pub fn give_digest(&mut self, computed: [u8; 32]) {
        if let (Some(header), Some(algorithm), Some(verdict)) =
            (&self.header, self.algorithm, &mut self.digest)
        {
            *verdict = DigestVerdict::new(header, algorithm, computed);
        }
    }

    /// The header, once it was read and is long enough; also for a file that is refused later.
    #[must_use]
    pub const fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// The digest verdict, once it is known; also for a file that is refused later.
    #[must_use]
    pub const fn digest(&self) -> Option<&DigestVerdict> {
        self.digest.as_ref()
    }

    /// File bytes taken so far.
    #[must_use]
    pub const fn taken(&self) -> u64 {
        self.taken
    }

    /// Takes the next bytes. What is wrong with them is kept for [`Self::finish`].
    #[inline(never)]
    pub fn feed<E: Events>(&mut self, bytes: &[u8], events: &mut E) -> Progress {
        let mut rest = bytes;
        if self.taken < PAYLOAD_OFFSET {
            rest = self.head(rest, events);
        }
        if !rest.is_empty() {
            self.window(rest, events);
        }
        if self.closed && self.size.is_some() { Progress::Done } else { Progress::More }
    }

    /// Gathers the header; returns what follows it.
    fn head<'b, E: Events>(&mut self, bytes: &'b [u8], events: &mut E) -> &'b [u8] {
        let have = usize::try_from(self.taken).unwrap_or(HEADER_BYTES);
        let room = self.head.get_mut(have..).unwrap_or(&mut []);
        let (piece, rest) = bytes.split_at_checked(room.len()).unwrap_or((bytes, &[]));
        if let Some(room) = room.get_mut(..piece.len()) {
            crate::bytes::copy(room, piece);
        }
        self.took(piece.len());
        if self.taken == PAYLOAD_OFFSET {
            self.open(events);
        }
        rest
    }

    fn took(&mut self, count: usize) {
        self.taken = self.taken.saturating_add(u64::try_from(count).unwrap_or(0));
    }

    /// Judges the header as far as the size is known.
    fn open<E: Events>(&mut self, events: &mut E) {
        let size = self.size.unwrap_or(u64::MAX);
        match self.judge(size) {
            Ok(algorithm) => {
                self.algorithm = Some(algorithm);
                let wanted = self.digesting != Digesting::Skip && !self.elsewhere;
                self.hasher = wanted.then(|| Hasher::new(algorithm));
                let Some(header) = &self.header else { return };
                let empty = header.data_size == 0;
                self.result = events.header(header);
                self.closed = self.result.is_err();
                if empty {
                    self.window_ends(events);
                }
            }
            Err(error) => {
                self.result = Err(error);
                self.closed = true;
            }
        }
    }

    /// The gates of S0 and S1 in the reference's order, for a file of that size. Keeps the header.
    #[inline(never)]
    fn judge(&mut self, size: u64) -> Result<Algorithm, Error> {
        let view = HeaderView::of(&self.head).filter(|_| self.taken >= PAYLOAD_OFFSET);
        let view = guard::whole(view, size).inspect_err(|_| self.header = None)?;
        let header = self.header.get_or_insert_with(|| Header::parse(view));
        guard::lnc(header, &self.policy)?;
        gates::header(header, size, &self.policy)
    }

    /// Payload bytes and what follows them.
    fn window<E: Events>(&mut self, bytes: &[u8], events: &mut E) {
        let end = self.header.as_ref().map_or(0, Header::payload_end);
        let left = usize::try_from(end.saturating_sub(self.taken)).unwrap_or(usize::MAX);
        let piece = bytes.get(..left).unwrap_or(bytes);
        if !self.closed && !piece.is_empty() {
            if let Some(hasher) = &mut self.hasher {
                hasher.update(piece);
            }
            self.archive.feed(piece, events);
            let skipped = self.digesting == Digesting::Skip;
            if piece.len() == left || (skipped && self.archive.result().is_some()) {
                self.window_ends(events);
            }
        }
        self.took(bytes.len());
    }

    fn window_ends<E: Events>(&mut self, events: &mut E) {
        self.closed = true;
        if self.result.is_ok() {
            self.result = self.archive.finish(events);
        }
        if let (Some(header), Some(algorithm)) = (&self.header, self.algorithm) {
            self.digest = Some(match self.hasher.take() {
                Some(hasher) => DigestVerdict::new(header, algorithm, hasher.finish()),
                None => DigestVerdict::not_computed(header, algorithm),
            });
        }
    }

    /// The file ends here. The first refusal in the reference's order counts: preflight, logical-core
    /// size, version, features, sizes, package, digest, archive.
    ///
    /// # Errors
    /// That refusal; or what [`Events`] answered.
    #[inline(never)]
    pub fn finish<E: Events>(&mut self, events: &mut E) -> Result<Summary, Error> {
        let size = self.size.unwrap_or(self.taken);
        self.judge(size)?;
        if !self.closed {
            return Err(Error::new(Stage::Unpack, ContainerCode::Changed).offset(self.taken));
        }
        let (Some(header), Some(digest)) = (&self.header, &self.digest) else {
            return Err(self
                .result
                .err()
                .unwrap_or_else(|| Error::internal(Stage::Unpack, "digest verdict")));
        };
        self.check_digest(header, digest)?;
        self.result?;
        self.last_remarks(size, header, digest, events);
        let (header, digest) = (*header, *digest);
        let payload = PayloadShape {
            layers: self.archive.depth(),
            gzip_members: self.archive.gzip_members(),
            trailers_fit: self.archive.trailers_fit(),
            archive_bytes: self.archive.position(),
        };
        Ok(Summary { header, digest, payload })
    }

    fn check_digest(&self, header: &Header, digest: &DigestVerdict) -> Result<(), Error> {
        match self.digesting {
            Digesting::Verify => digest.judge(header, self.policy.strict_digest()),
            Digesting::Skip | Digesting::Report => Ok(()),
        }
    }

    fn last_remarks<E: Events>(&self, size: u64, header: &Header, digest: &DigestVerdict, events: &mut E) {
        let trailing = size.saturating_sub(header.payload_end());
        if trailing > 0 {
            remark(events, || {
                let note = Error::new(Stage::Unpack, ContainerCode::WTrailing).numbers(trailing, 0);
                note.offset(header.payload_end())
            });
        }
        if digest.computed.is_some() && !digest.matches() {
            remark(events, || Error::new(Stage::Unpack, ContainerCode::WNotVerified));
        }
    }
}
