//! Pax records, cut and applied as their bytes come (container.md §10.7).

use super::names::From;
use super::number;
use super::refuse;
use super::sparse::CommaList;
use super::special::Special;
use crate::error::{ContainerCode, Error};
use crate::words::words;

/// Longest line.
const LINE: u64 = 99_999_999;
/// A `=` must come before this byte of its line.
const KEY_END: u64 = 512;
/// Longest name a record may give (container.md §10.7).
const NAME: u64 = 1 << 20;
/// Longest number.
const NUMBER: u64 = 64;
/// Longest time.
const TIME: u64 = 128;
/// Bytes of a key that are kept; all known keys are shorter.
const KEY: usize = 24;

words! {
    /// Keys of records. The first have their numbers in [`Numbers`](super::special::Numbers), in that order.
    Key {
        Size = b"size",
        RealSize = b"GNU.sparse.realsize",
        SparseSize = b"GNU.sparse.size",
        SchilyRealSize = b"SCHILY.realsize",
        Major = b"GNU.sparse.major",
        Minor = b"GNU.sparse.minor",
        Offset = b"GNU.sparse.offset",
        Bytes = b"GNU.sparse.numbytes",
        UserId = b"uid",
        GroupId = b"gid",
        SchilyDevice = b"SCHILY.dev",
        SchilyInode = b"SCHILY.ino",
        SchilyLinks = b"SCHILY.nlink",
        Modified = b"mtime",
        Accessed = b"atime",
        Changed = b"ctime",
        Path = b"path",
        SparseName = b"GNU.sparse.name",
        LinkPath = b"linkpath",
        Charset = b"hdrcharset",
        Map = b"GNU.sparse.map",
        Blocks = b"GNU.sparse.numblocks",
    }
}

words! {
    /// Character sets of names.
    Charset {
        Binary = b"BINARY",
        Utf8 = b"ISO-IR 10646 2000 UTF-8",
    }
}

/// What kind of value a key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// The member's name.
    Path,
    /// The name of a sparse member.
    SparseName,
    /// A name that is only measured.
    Link,
    Number,
    Time,
    Charset,
    Map,
    /// Not looked at.
    Ignored,
}

impl Key {
    const fn value(self) -> Value {
        match self {
            Self::Path => Value::Path,
            Self::SparseName => Value::SparseName,
            Self::LinkPath => Value::Link,
            Self::Modified | Self::Accessed | Self::Changed => Value::Time,
            Self::Charset => Value::Charset,
            Self::Map => Value::Map,
            Self::Blocks | Self::Other => Value::Ignored,
            _ => Value::Number,
        }
    }
}

impl Value {
    /// Whose name it is.
    const fn name(self) -> Option<From> {
        match self {
            Self::Path => Some(From::Path),
            Self::SparseName => Some(From::Sparse),
            _ => None,
        }
    }

    /// The longest value, and what is wrong with a longer one.
    const fn limit(self) -> (u64, ContainerCode) {
        match self {
            Self::Path | Self::SparseName | Self::Link => (NAME, ContainerCode::PaxNameLong),
            Self::Time => (TIME, ContainerCode::PaxTime),
            Self::Charset => (TIME, ContainerCode::PaxCharset),
            Self::Number => (NUMBER, ContainerCode::PaxNumberLong),
            Self::Map | Self::Ignored => (u64::MAX, ContainerCode::PaxLine),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Length,
    Key,
    /// The value and the line's end.
    Value,
}

/// One block of records.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Records {
    part: Part,
    key: Key,
    value: Value,
    /// Bytes of the block.
    size: u64,
    /// Bytes of the block so far.
    taken: u64,
    /// Where in the block the present line starts.
    line: u64,
    /// Declared length of the present line.
    length: u64,
    /// Where the key starts in its line.
    prefix: u64,
    /// Bytes of the value that are kept.
    kept: usize,
    map: CommaList,
    name: [u8; KEY],
    text: [u8; 128],
}

impl Records {
    /// Before any block; all zero bits, as the fields around it.
    pub(super) const NONE: Self = Self {
        part: Part::Length,
        key: Key::NONE_YET,
        value: Value::Path,
        size: 0,
        taken: 0,
        line: 0,
        length: 0,
        prefix: 0,
        kept: 0,
        map: CommaList::NONE,
        name: [0; KEY],
        text: [0; 128],
    };

    /// Begins a block of `size` bytes.
    pub(super) fn begin(&mut self, size: u64) {
        self.size = size;
        self.taken = 0;
        self.begin_line();
    }

    fn begin_line(&mut self) {
        self.line = self.taken;
        self.length = 0;
        self.part = Part::Length;
    }

    /// Bytes of the block so far.
    pub(super) const fn taken(&self) -> u64 {
        self.taken
    }

    /// Where in the block the present line starts.
    pub(super) const fn line(&self) -> u64 {
        self.line
    }

    /// Takes the next bytes of the block (not more than it has left).
    #[inline(never)]
    pub(super) fn feed(&mut self, bytes: &[u8], special: &mut Special<'_>) -> Result<(), Error> {
        for &byte in bytes {
            self.taken = self.taken.wrapping_add(1);
            let at = self.taken.wrapping_sub(self.line);
            match self.part {
                Part::Length => self.length_byte(byte, at)?,
                Part::Key => self.key_byte(byte, at, special)?,
                Part::Value if at < self.length => self.value_byte(byte, special)?,
                Part::Value => self.newline(byte, special)?,
            }
        }
        Ok(())
    }

    /// The block is complete.
    pub(super) fn finish(&self, special: &mut Special<'_>) -> Result<(), Error> {
        if self.taken != self.line {
            return Err(refuse(ContainerCode::PaxLength));
        }
        special.names.choose_pax(special.binary)
    }

    /// A byte of the length, the last one so far of `at` bytes of its line.
    fn length_byte(&mut self, byte: u8, at: u64) -> Result<(), Error> {
        if let Some(digit @ 0..=9) = byte.checked_sub(b'0') {
            self.length = self.length.saturating_mul(10).saturating_add(u64::from(digit));
            return Ok(());
        }
        if byte != b' ' {
            return Err(refuse(ContainerCode::PaxLength));
        }
        let whole = self.size.wrapping_sub(self.line);
        if self.length > LINE.min(whole) {
            return Err(refuse(ContainerCode::PaxOverlarge).numbers(self.length, whole));
        }
        if self.length <= at {
            return Err(refuse(ContainerCode::PaxEmptyKey));
        }
        self.prefix = at;
        self.part = Part::Key;
        Ok(())
    }

    fn key_byte(&mut self, byte: u8, at: u64, special: &mut Special<'_>) -> Result<(), Error> {
        let place = at.wrapping_sub(self.prefix).wrapping_sub(1);
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        if byte == b'=' {
            return match place {
                0 => Err(refuse(ContainerCode::PaxEmptyKey)),
                len => self.begin_value(len, at, special),
            };
        }
        if at >= KEY_END.min(self.length) {
            return Err(refuse(ContainerCode::PaxLongKey));
        }
        if let Some(slot) = self.name.get_mut(place) {
            *slot = byte;
        }
        Ok(())
    }

    /// A key of `len` bytes has ended.
    fn begin_value(&mut self, len: usize, at: u64, special: &mut Special<'_>) -> Result<(), Error> {
        let room = self.length.checked_sub(at.wrapping_add(1));
        let length = room.ok_or_else(|| refuse(ContainerCode::PaxLine))?;
        let known = self.name.get(..len.min(KEY)).unwrap_or(&[]);
        self.key = if len > KEY { Key::Other } else { Key::of(known) };
        // A key of exactly `GNU.sparse`, or one below it, makes the member sparse.
        if let Some(below) = known.strip_prefix(b"GNU.sparse") {
            special.sparse |= matches!(below, [] | [b'.', ..]);
        }
        self.value = self.key.value();
        let (limit, code) = self.value.limit();
        if length > limit {
            return Err(refuse(code));
        }
        if let Some(from) = self.value.name() {
            special.names.begin(from, length)?;
        }
        self.kept = 0;
        self.map = CommaList::NONE;
        self.part = Part::Value;
        Ok(())
    }

    fn value_byte(&mut self, byte: u8, special: &mut Special<'_>) -> Result<(), Error> {
        if let Some(from) = self.value.name() {
            special.names.push(from, &[byte]);
        }
        match self.value {
            Value::Map => return self.map.feed(byte, &mut special.extents),
            Value::Path | Value::SparseName | Value::Link | Value::Ignored => {}
            Value::Number | Value::Time | Value::Charset => {
                if let Some(slot) = self.text.get_mut(self.kept) {
                    *slot = byte;
                    self.kept = self.kept.wrapping_add(1);
                }
            }
        }
        Ok(())
    }

    fn newline(&mut self, byte: u8, special: &mut Special<'_>) -> Result<(), Error> {
        if byte != b'\n' {
            return Err(refuse(ContainerCode::PaxLine));
        }
        self.apply(special)?;
        self.begin_line();
        Ok(())
    }

    fn apply(&mut self, special: &mut Special<'_>) -> Result<(), Error> {
        let Special { numbers, extents, binary, .. } = special;
        let text = self.text.get(..self.kept).unwrap_or(&[]);
        if matches!(self.value, Value::Number | Value::Time) {
            let number = number::text(text, 10);
            // What counts something is not negative, and what saturated is no number.
            if !(0..i64::MAX).contains(&number) {
                let time = self.value == Value::Time;
                return Err(refuse(if time { ContainerCode::PaxTime } else { ContainerCode::PaxNumber }));
            }
            if let Some(slot) = numbers.get_mut(self.key.place()) {
                *slot = number;
            }
        }
        let [_, _, _, _, form @ .., offset, length] = numbers;
        match self.key {
            Key::Charset => match Charset::of(text) {
                Charset::Binary => *binary = true,
                Charset::Utf8 => *binary = false,
                Charset::Other => return Err(refuse(ContainerCode::PaxCharset)),
            },
            Key::Blocks => (*form, *offset, *length) = ([0, 0], -1, -1),
            Key::Offset | Key::Bytes if *offset >= 0 && *length >= 0 => {
                extents.push(*offset, *length)?;
                (*offset, *length) = (-1, -1);
            }
            Key::Map => {
                self.map.number(extents)?;
                *form = [0, 1];
            }
            _ => {}
        }
        Ok(())
    }
}
