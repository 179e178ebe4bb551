//! The cutter: walks the entered containers of a streamed document and cuts out the values that its
//! reader takes.

mod keys;
mod path;

pub use path::{Path, Segment};

use super::element::Element;
use super::fault::{Fault, Mismatch};
use super::kind::Kind;
use super::lexer::{Event, Lexer, Start, wide};
use crate::error::{Error, ManifestCode, Stage};
use crate::layout::SMALL;
use crate::limits::Limits;
use crate::source::MemberId;
use keys::Keys;
use path::{Entry, Level, Levels};

/// How many containers may be entered at once: a reader asks for fixed, shallow paths.
pub const ENTERED_MAX: usize = 16;

/// What to do with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Validate it and pass on.
    Skip,
    /// Deliver its whole text to [`Reader::taken`].
    Take,
    /// Ask again for each value in it. A scalar cannot be entered and is skipped.
    Enter,
    /// The same, refusing an object that has a key twice (E122). All its keys stay in the key
    /// memory, and each is compared with all: for small objects.
    EnterUnique,
    /// The same for a big object whose keys the reader compares in a table of its own, also where
    /// [`Cutter::unique_keys`] was asked for.
    EnterTable,
}

/// Directs a [`Cutter`].
pub trait Reader {
    /// A value begins at `offset`; the root's path is empty. What to do with it?
    ///
    /// # Errors
    /// Ends the reading.
    fn value(&mut self, path: &Path<'_>, kind: Kind, offset: u64) -> Result<Want, Error>;

    /// A taken value is complete.
    ///
    /// # Errors
    /// Ends the reading.
    fn taken(&mut self, path: &Path<'_>, element: Element<'_>) -> Result<(), Error>;

    /// An entered container ended, having had `values` values; `offset` is that of its last byte.
    ///
    /// # Errors
    /// Ends the reading.
    fn leave(&mut self, path: &Path<'_>, values: u32, offset: u64) -> Result<(), Error> {
        let _ = (path, values, offset);
        Ok(())
    }
}

/// The caller's memory for one cutter.
#[derive(Debug)]
pub struct Memory<'b> {
    /// The longest taken text.
    pub element: &'b mut [u8],
    /// The keys of the present path, plus all keys of each `EnterUnique` object on it; three bytes
    /// more than its raw length for each key.
    pub keys: &'b mut [u8],
}

#[derive(Clone, Copy, Debug)]
enum Mode {
    /// Between the values of an entered container.
    Walk,
    /// In a value that is passed over.
    Skip,
    /// In a key or a taken value that began at `offset`, with so many bytes of it kept.
    Gather { key: bool, offset: u64, kept: usize },
}

/// A path-directed reader of one document after the other. See [`super`] for an example.
#[derive(Debug)]
pub struct Cutter<'b> {
    lexer: Lexer,
    limits: Limits,
    member: Option<MemberId>,
    any_root: bool,
    unique_keys: bool,
    mode: Mode,
    levels: Levels,
    keys: Keys<'b>,
    element: &'b mut [u8],
}

impl<'b> Cutter<'b> {
    /// A cutter at the start of a document.
    #[must_use]
    pub fn new(limits: &Limits, memory: Memory<'b>) -> Self {
        Self::of_any(limits, memory, false, false)
    }

    /// The same with both switches, made at once: a cutter is large.
    pub(crate) fn of_any(limits: &Limits, memory: Memory<'b>, any_root: bool, unique_keys: bool) -> Self {
        Self {
            lexer: Lexer::new(limits),
            limits: *limits,
            member: None,
            any_root,
            unique_keys,
            mode: Mode::Walk,
            levels: Levels::new(),
            keys: Keys::new(memory.keys),
            element: memory.element,
        }
    }

    /// Accepts a root of any kind; without this, only an object (§3).
    #[must_use]
    pub const fn any_root(mut self) -> Self {
        self.any_root = true;
        self
    }

    /// Refuses an object that has a key twice (E122) wherever it stands, also in values that the reader skips
    /// or takes: the strict mode of manifests.md §3. The keys of every open object must then fit
    /// the key memory (E124), and what lies more than [`ENTERED_MAX`] levels deep the element buffer (E123).
    #[must_use]
    #[cfg(not(small))]
    pub const fn unique_keys(mut self, on: bool) -> Self {
        self.unique_keys = on;
        self
    }

    /// Goes to the start of another document. Errors without a member get this one.
    pub fn restart(&mut self, member: Option<MemberId>) {
        self.lexer = Lexer::new(&self.limits);
        self.member = member;
        self.mode = Mode::Walk;
        self.levels.clear();
        self.keys.clear();
    }

    /// Bytes of the document so far.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.lexer.offset()
    }

    /// Takes the next bytes of the document; any cutting gives the same calls and the same error.
    ///
    /// # Errors
    /// E120 to E124, and the reader's own.
    pub fn feed<R: Reader>(&mut self, bytes: &[u8], reader: &mut R) -> Result<(), Error> {
        if SMALL { self.take::<dyn Reader + '_>(bytes, reader) } else { self.take(bytes, reader) }
    }

    #[cfg_attr(small, inline(never))]
    fn take<R: Reader + ?Sized>(&mut self, bytes: &[u8], reader: &mut R) -> Result<(), Error> {
        self.run(bytes, reader).map_err(|error| self.placed(error))
    }

    /// The document is complete. Returns its length.
    ///
    /// # Errors
    /// E121 if it ends too early; the reader's own, for a root that is a taken number.
    pub fn finish<R: Reader>(&mut self, reader: &mut R) -> Result<u64, Error> {
        let whole = if SMALL { self.complete::<dyn Reader + '_>(reader) } else { self.complete(reader) };
        whole.map(|()| self.lexer.offset())
    }

    #[cfg_attr(small, inline(never))]
    fn complete<R: Reader + ?Sized>(&mut self, reader: &mut R) -> Result<(), Error> {
        let last = self.lexer.finish().map_err(|fault| self.placed(fault.error()))?;
        last.map_or(Ok(()), |_| self.end(&[], reader).map_err(|error| self.placed(error)))
    }

    fn placed(&self, error: Error) -> Error {
        error.member_or(self.member)
    }

    /// `start..at` is the part of `bytes` that belongs to the key or value being gathered.
    fn run<R: Reader + ?Sized>(&mut self, bytes: &[u8], reader: &mut R) -> Result<(), Error> {
        let (mut start, mut at) = (0usize, 0usize);
        loop {
            // Where small code goes before speed, there is the slow way only, which accepts the same texts.
            if !SMALL && matches!(self.mode, Mode::Walk) {
                at = self.quickly(bytes, at, reader)?;
                // If the last step began to gather, it was with the bracket before.
                start = at.saturating_sub(1);
            }
            let rest = bytes.get(at..).unwrap_or(&[]);
            let window = self.room().saturating_sub(at.saturating_sub(start));
            let mut part = rest.get(..window).unwrap_or(rest);
            let before = part.len();
            let next = self.lexer.next_within(&mut part, self.levels.depth());
            let event = next.map_err(Fault::error)?;
            at = at.saturating_add(before.saturating_sub(part.len()));
            let text = bytes.get(start..at).unwrap_or(&[]);
            match event {
                None => return self.keep(text),
                Some(Event::Begin(kind)) => {
                    start = at.saturating_sub(1);
                    self.begin(kind, 1, reader)?;
                }
                Some(Event::End(_)) => self.end(text, reader)?,
                Some(Event::Key) => {
                    start = at;
                    self.begin_key();
                }
                Some(Event::KeyEnd) => self.end_key(text)?,
            }
        }
    }

    /// Goes on from `at` while keys and values are plain and all there; returns how far that was.
    /// Whatever is not is left to the slow way, faults included.
    fn quickly<R: Reader + ?Sized>(
        &mut self,
        bytes: &[u8],
        at: usize,
        reader: &mut R,
    ) -> Result<usize, Error> {
        let mut rest = self.lexer.window(bytes.get(at..).unwrap_or(&[]));
        let end = at.saturating_add(rest.len());
        while matches!(self.mode, Mode::Walk) && self.quick_step(&mut rest, reader)? {}
        Ok(end.saturating_sub(rest.len()))
    }

    /// One value, with its key, or the opening or closing bracket of one; false if neither is there.
    fn quick_step<R: Reader + ?Sized>(&mut self, rest: &mut &[u8], reader: &mut R) -> Result<bool, Error> {
        let longest = self.keys.next_room(self.levels.last());
        let start = match self.lexer.next_value(rest, longest) {
            Some(start) => start,
            None if self.lexer.closing(rest) => return self.leave(reader).map(|()| true),
            None => return Ok(false),
        };
        let unique = self.levels.last().is_some_and(|level| level.unique);
        let text = *rest;
        let scalar = self.lexer.scalar(rest);
        let key = match start {
            Start::Item => None,
            // Nobody will ask for the key again.
            Start::Field(key, _) if scalar.is_some() && !unique => Some(key),
            Start::Field(key, offset) => {
                self.whole_key(key, offset)?;
                None
            }
        };
        if let Some((kind, text)) = scalar {
            self.whole(key, kind, text, reader)?;
            return Ok(true);
        }
        let Some(kind) = self.lexer.opening(rest) else { return Ok(false) };
        self.begin(kind, 1, reader)?;
        if !matches!(self.mode, Mode::Walk) && self.lexer.integers(rest) {
            let len = text.len().saturating_sub(rest.len());
            self.end(text.get(..len).unwrap_or(&[]), reader)?;
        }
        Ok(true)
    }

    /// A whole scalar; its key, unless the key memory has it.
    fn whole<R: Reader + ?Sized>(
        &mut self,
        key: Option<&[u8]>,
        kind: Kind,
        text: &[u8],
        reader: &mut R,
    ) -> Result<(), Error> {
        let offset = self.lexer.offset().saturating_sub(wide(text.len()));
        let want = self.ask(key, kind, offset, reader)?;
        if want != Want::Take {
            return Ok(());
        }
        let path = Path::new(&self.levels, &self.keys, key);
        if text.len() > self.element.len() {
            return Err(path.name(too_large(ManifestCode::JsonElementTooLarge, offset, self.element.len())));
        }
        reader.taken(&path, Element::validated(text, offset))
    }

    /// Asks the reader about a value that began at `offset`.
    fn ask<R: Reader + ?Sized>(
        &mut self,
        key: Option<&[u8]>,
        kind: Kind,
        offset: u64,
        reader: &mut R,
    ) -> Result<Want, Error> {
        if self.levels.depth() == 0 && !self.any_root && kind != Kind::Object {
            let mismatch = Mismatch { offset, found: kind, expected: "an object" };
            return Err(mismatch.error(Stage::Manifest, ManifestCode::JsonMalformed));
        }
        self.levels.count();
        if self.silent() {
            return Ok(Want::Skip);
        }
        reader.value(&Path::new(&self.levels, &self.keys, key), kind, offset)
    }

    /// [`Cutter::unique_keys`] was asked for. Small code has no room for it; see [`Policy`](crate::policy::Policy).
    const fn strict(&self) -> bool {
        !SMALL && self.unique_keys
    }

    /// True in a value that is entered for the sake of its keys only.
    fn silent(&self) -> bool {
        !SMALL && self.levels.last().is_some_and(|level| level.silent)
    }

    /// How a container is entered; `None` if it is not.
    fn entry(&self, want: Want) -> Option<Entry> {
        match want {
            Want::EnterTable => Some(Entry::Plain),
            Want::EnterUnique => Some(Entry::Unique),
            Want::Enter if self.strict() => Some(Entry::Unique),
            Want::Enter => Some(Entry::Plain),
            Want::Skip if self.strict() && self.levels.room() => Some(Entry::Silent),
            Want::Skip | Want::Take => None,
        }
    }

    /// Bytes that the lexer may be shown before what is gathered is too large: one more than fit,
    /// since that one may be what ends it.
    fn room(&self) -> usize {
        match self.mode {
            Mode::Walk | Mode::Skip => usize::MAX,
            Mode::Gather { key, kept, .. } => {
                let most = if key { self.keys.room() } else { self.element.len() };
                most.saturating_add(1).saturating_sub(kept)
            }
        }
    }

    fn too_large(&self) -> Error {
        let Mode::Gather { key, offset, .. } = self.mode else {
            return Error::internal(Stage::Manifest, "nothing is gathered");
        };
        let (code, most) = if key {
            (ManifestCode::JsonKeyTooLong, self.keys.capacity())
        } else {
            (ManifestCode::JsonElementTooLarge, self.element.len())
        };
        let error = too_large(code, offset, most);
        if key { error.name(self.keys.gathered()) } else { self.path().name(error) }
    }

    const fn path(&self) -> Path<'_> {
        Path::new(&self.levels, &self.keys, None)
    }

    /// Keeps the bytes of an unfinished key or value for the next call.
    fn keep(&mut self, text: &[u8]) -> Result<(), Error> {
        let Mode::Gather { key, kept, .. } = &mut self.mode else { return Ok(()) };
        let to = if *key { self.keys.free() } else { &mut *self.element };
        let room = to.get_mut(*kept..).unwrap_or(&mut []);
        let fits = text.len().min(room.len());
        if let (Some(slot), Some(text)) = (room.get_mut(..fits), text.get(..fits)) {
            crate::bytes::copy(slot, text);
        }
        if fits < text.len() {
            return Err(self.too_large());
        }
        *kept = kept.saturating_add(fits);
        Ok(())
    }

    /// A key began with the byte before.
    fn begin_key(&mut self) {
        self.keys.begin(self.levels.last());
        let offset = self.lexer.offset().saturating_sub(1);
        self.mode = Mode::Gather { key: true, offset, kept: 0 };
    }

    /// `text` ends with the key's closing quote.
    fn end_key(&mut self, text: &[u8]) -> Result<(), Error> {
        self.keep(text.strip_suffix(b"\"").unwrap_or(text))?;
        let Mode::Gather { offset, kept, .. } = self.mode else { return Ok(()) };
        self.mode = Mode::Walk;
        self.keyed(kept, self.lexer.key_escaped(), offset)
    }

    /// A plain key that fits.
    fn whole_key(&mut self, key: &[u8], offset: u64) -> Result<(), Error> {
        self.keys.begin(self.levels.last());
        if let Some(slot) = self.keys.free().get_mut(..key.len()) {
            crate::bytes::copy(slot, key);
        }
        self.keyed(key.len(), false, offset)
    }

    /// The key that began at `offset` is complete, with so many bytes gathered.
    fn keyed(&mut self, len: usize, escaped: bool, offset: u64) -> Result<(), Error> {
        let Some(level) = self.levels.last_mut() else { return Ok(()) };
        if self.keys.end(level, len, escaped) {
            return Ok(());
        }
        let error = Error::new(Stage::Manifest, ManifestCode::JsonDuplicateKey).offset(offset);
        Err(self.path().name(error))
    }

    /// A value began `back` bytes before.
    fn begin<R: Reader + ?Sized>(&mut self, kind: Kind, back: usize, reader: &mut R) -> Result<(), Error> {
        let offset = self.lexer.offset().saturating_sub(wide(back));
        let want = self.ask(None, kind, offset, reader)?;
        self.mode = match self.entry(want).filter(|_| kind.is_container()) {
            Some(entry) => {
                self.levels.push(Level::new(kind == Kind::Object, entry, self.keys.used()))?;
                Mode::Walk
            }
            None if want == Want::Take || (self.strict() && kind.is_container()) => {
                Mode::Gather { key: false, offset, kept: 0 }
            }
            None => Mode::Skip,
        };
        Ok(())
    }

    /// A value ended. `text` is what these bytes have of it.
    fn end<R: Reader + ?Sized>(&mut self, text: &[u8], reader: &mut R) -> Result<(), Error> {
        match self.mode {
            Mode::Skip => {}
            Mode::Walk => return self.leave(reader),
            Mode::Gather { offset, kept, .. } => self.deliver(text, offset, kept, reader)?,
        }
        self.mode = Mode::Walk;
        Ok(())
    }

    /// Hands over a taken value: from the caller's bytes if they have all of it.
    fn deliver<R: Reader + ?Sized>(
        &mut self,
        text: &[u8],
        offset: u64,
        kept: usize,
        reader: &mut R,
    ) -> Result<(), Error> {
        let text = if kept == 0 {
            if text.len() > self.element.len() {
                return Err(self.too_large());
            }
            text
        } else {
            self.keep(text)?;
            self.element.get(..kept.saturating_add(text.len())).unwrap_or(&[])
        };
        let element = Element::validated(text, offset);
        if self.strict() {
            unique(element)?;
        }
        if self.silent() { Ok(()) } else { reader.taken(&self.path(), element) }
    }

    fn leave<R: Reader + ?Sized>(&mut self, reader: &mut R) -> Result<(), Error> {
        let Some(level) = self.levels.pop() else {
            return Err(Error::internal(Stage::Manifest, "no container is entered"));
        };
        self.keys.release(&level);
        if !SMALL && level.silent {
            return Ok(());
        }
        let offset = self.lexer.offset().saturating_sub(1);
        reader.leave(&self.path(), level.values(), offset)
    }
}

/// Refuses a value in which an object has a key twice.
#[inline(never)]
fn unique(element: Element<'_>) -> Result<(), Error> {
    let Some((key, offset)) = element.repeated_key() else { return Ok(()) };
    let error = Error::new(Stage::Manifest, ManifestCode::JsonDuplicateKey).offset(offset);
    Err(error.named(&key.bytes().collect()))
}

/// Refuses a key or value that is longer than the room for it.
fn too_large(code: ManifestCode, offset: u64, most: usize) -> Error {
    Error::new(Stage::Manifest, code).offset(offset).numbers(0, wide(most))
}
