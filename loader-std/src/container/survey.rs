//! One pass over a file, everything S0 and S1 find out about it, refused or not.

use super::Remarks;
use super::both::{Both, Unheard};
use super::hashing::Hashing;
use crate::file::Buffers;
use crate::members::kept_name;
use loader_core::container::{
    DigestVerdict, Digesting, Entry, Events, Header, PAYLOAD_OFFSET, PayloadShape, Progress, Reader, zeros,
};
use loader_core::error::{ContainerCode, Error, Notes, Stage};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_core::source::Source;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::thread;

/// What a survey keeps besides the verdict.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ask {
    /// The member table.
    pub members: bool,
    /// SHA-256 of every member.
    pub digests: bool,
    /// SHA-256 of the whole file.
    pub file_digest: bool,
}

/// A member in a survey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Content bytes.
    pub size: u64,
    /// SHA-256 of the content, if asked for.
    pub sha256: Option<[u8; 32]>,
}

/// What is known about a file after one pass.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Bytes of the file.
    pub size: u64,
    /// SHA-256 of the file, if asked for.
    pub sha256: Option<[u8; 32]>,
    /// The header, if there is a whole one that is not longer than the file.
    pub header: Option<Header>,
    /// The digest verdict, if the header passed its gates.
    pub digest: Option<DigestVerdict>,
    /// Members by name, as far as the archive could be read.
    pub table: BTreeMap<Vec<u8>, Row>,
    /// Entries of the archive, dropped ones included.
    pub entries: u32,
    /// Content bytes of all members that the loader would keep, replaced ones included.
    pub content: u64,
    /// The payload as it was found; `None` if the file was refused.
    pub payload: Option<PayloadShape>,
    /// The refusal, if there is one.
    pub error: Option<Error>,
    /// Remarks.
    pub notes: Remarks,
}

impl Survey {
    /// True if the loader takes the file, as far as S0 and S1 go.
    #[must_use]
    pub const fn accepted(&self) -> bool {
        self.error.is_none()
    }

    /// The refusal of a load with that policy, as far as S0 and S1 go: a tool surveys a file whose digest does not fit
    /// to its end, a load refuses it, and for that first.
    #[must_use]
    pub fn refusal(&self, policy: &Policy) -> Option<Error> {
        let verified = self.digest.filter(|digest| policy.verify_digest && digest.computed.is_some());
        let digest = self.header.zip(verified);
        digest.and_then(|(header, digest)| digest.judge(&header, policy.strict_digest).err()).or(self.error)
    }

    /// True if the header passed its gates, so that payload facts exist.
    #[must_use]
    pub const fn gates_passed(&self) -> bool {
        self.digest.is_some()
    }
}

/// Files from this size on are worth a second thread for their digest.
const LARGE: u64 = 1 << 20;

/// Reads a file from its start to its end. `progress` is told the bytes done so far. The payload digest of a
/// large file is computed on a second thread.
///
/// # Errors
/// The source's refusal to be read. A refused file is not an error: see [`Survey::error`].
pub fn survey<S: Source>(
    source: &mut S,
    buffers: &mut Buffers,
    policy: &Policy,
    limits: &Limits,
    ask: Ask,
    progress: impl FnMut(u64),
) -> Result<Survey, Error> {
    survey_with(source, buffers, policy, limits, ask, &mut Unheard, progress)
}

/// The same, with the pass's events told to `also` as well. What it answers ends the pass.
///
/// # Errors
/// The source's refusal to be read.
pub fn survey_with<S: Source, E: Events>(
    source: &mut S,
    buffers: &mut Buffers,
    policy: &Policy,
    limits: &Limits,
    ask: Ask,
    also: &mut E,
    progress: impl FnMut(u64),
) -> Result<Survey, Error> {
    let digesting = Digesting::of(policy);
    let beside = digesting != Digesting::Skip && source.len().is_some_and(|len| len >= LARGE);
    let mut work = if beside { buffers.without_input() } else { buffers.workspace() };
    let input = std::mem::take(&mut work.input);
    let reader = Reader::new(source.len(), work, limits, policy, digesting);
    let whole = ask.file_digest.then(Sha256::new);
    let events = Both { first: Gather::new(ask), second: also };
    let mut pass = Pass { reader, events, whole, at: 0, done: false, progress };
    if beside {
        thread::scope(|scope| match Hashing::start(scope) {
            Ok(hashing) => pass.run_beside(source, hashing),
            // No thread to be had: the reader digests as well.
            Err(_) => pass.run(source, &mut vec![0; Buffers::INPUT]),
        })?;
    } else {
        pass.run(source, input)?;
    }
    let Pass { mut reader, mut events, whole, at, .. } = pass;
    let outcome = reader.finish(&mut events);
    let size = source.len().unwrap_or(at);
    Ok(events.first.into_survey(size, whole.map(|whole| whole.finalize().into()), &reader, outcome))
}

/// A survey that is under way.
struct Pass<'w, 'e, E, P> {
    reader: Reader<'w>,
    events: Both<'e, Gather, E>,
    whole: Option<Sha256>,
    /// File bytes taken so far.
    at: u64,
    /// The reader needs no more of them.
    done: bool,
    progress: P,
}

impl<E: Events, P: FnMut(u64)> Pass<'_, '_, E, P> {
    fn run<S: Source>(&mut self, source: &mut S, input: &mut [u8]) -> Result<(), Error> {
        while self.wants_more() {
            let count = source.read_at(self.at, input)?;
            if count == 0 {
                break;
            }
            self.take(&input[..count]);
        }
        Ok(())
    }

    /// The same, with the payload digest computed by `hashing` meanwhile.
    fn run_beside<S: Source>(&mut self, source: &mut S, mut hashing: Hashing<'_>) -> Result<(), Error> {
        self.reader.leave_digest();
        while self.wants_more() {
            let mut buffer = hashing.buffer();
            let bytes = Arc::make_mut(&mut buffer);
            let count = source.read_at(self.at, bytes)?;
            bytes.truncate(count);
            if count == 0 {
                break;
            }
            // The first piece shows how much is to be digested; from then on both work at the same time.
            let (start, ahead) = (self.at, self.reader.digest_due());
            if let Some((algorithm, window)) = &ahead {
                hashing.take(*algorithm, &buffer, within(window, start, count));
            }
            self.take(&buffer);
            match self.reader.digest_due().filter(|_| ahead.is_none()) {
                Some((algorithm, window)) => hashing.take(algorithm, &buffer, within(&window, start, count)),
                None if ahead.is_none() => hashing.keep(buffer),
                None => {}
            }
        }
        if let Some(digest) = hashing.finish() {
            self.reader.give_digest(digest);
        }
        Ok(())
    }

    const fn wants_more(&self) -> bool {
        !self.done || self.whole.is_some()
    }

    fn take(&mut self, piece: &[u8]) {
        if let Some(whole) = &mut self.whole {
            whole.update(piece);
        }
        self.at += piece.len() as u64;
        self.done = self.done || self.reader.feed(piece, &mut self.events) == Progress::Done;
        (self.progress)(self.at);
    }
}

/// The part of a piece that lies in the window; the piece has `count` bytes and begins at `start`.
fn within(window: &Range<u64>, start: u64, count: usize) -> Range<usize> {
    let place = |at: u64| usize::try_from(at.saturating_sub(start)).unwrap_or(count).min(count);
    place(window.start)..place(window.end)
}

/// Takes the events of a pass.
struct Gather {
    ask: Ask,
    table: BTreeMap<Vec<u8>, Row>,
    entries: u32,
    content: u64,
    notes: Remarks,
    name: Option<Vec<u8>>,
    size: u64,
    hasher: Option<Sha256>,
}

impl Gather {
    fn new(ask: Ask) -> Self {
        Self {
            ask,
            table: BTreeMap::new(),
            entries: 0,
            content: 0,
            notes: Remarks::new(),
            name: None,
            size: 0,
            hasher: None,
        }
    }

    fn into_survey(
        self,
        size: u64,
        sha256: Option<[u8; 32]>,
        reader: &Reader<'_>,
        outcome: Result<loader_core::container::Summary, Error>,
    ) -> Survey {
        // A header that is longer than its file is no header.
        let header_refused = |error: &Error| error.code() == ContainerCode::HeaderSize.into();
        let error = outcome.as_ref().err().copied();
        Survey {
            size,
            sha256,
            header: reader.header().copied().filter(|_| !error.as_ref().is_some_and(header_refused)),
            digest: reader.digest().copied(),
            table: self.table,
            entries: self.entries,
            content: self.content,
            payload: outcome.ok().map(|summary| summary.payload),
            error,
            notes: self.notes,
        }
    }
}

impl Events for Gather {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        self.entries += 1;
        let name = entry.table_name();
        self.name = name.filter(|_| self.ask.members).map(kept_name).transpose()?;
        self.size = entry.size;
        if name.is_some() {
            self.content += entry.size;
        }
        self.hasher = (self.ask.digests && self.name.is_some()).then(Sha256::new);
        Ok(())
    }

    fn data(&mut self, _: u64, bytes: &[u8]) -> Result<(), Error> {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(bytes);
        }
        Ok(())
    }

    fn hole(&mut self, offset: u64, length: u64) -> Result<(), Error> {
        if self.hasher.is_none() {
            return Ok(());
        }
        zeros(offset, length, |at, bytes| self.data(at, bytes))
    }

    fn end(&mut self) -> Result<(), Error> {
        if let Some(name) = self.name.take() {
            let sha256 = self.hasher.take().map(|hasher| hasher.finalize().into());
            let again = Error::new(Stage::Unpack, ContainerCode::WDuplicate).name(&name);
            if self.table.insert(name, Row { size: self.size, sha256 }).is_some() {
                self.note(again);
            }
        }
        Ok(())
    }

    fn note(&mut self, note: Error) {
        self.notes.note(note);
    }
}

/// File offset of the payload, for reports.
pub(super) const PAYLOAD: u64 = PAYLOAD_OFFSET;
