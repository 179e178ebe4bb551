//! Pax records, cut and applied as their bytes come (container.md §10.7).

use super::names::From;
use super::number;
use super::refuse;
use super::sparse::CommaList;
use super::special::Special;
use super::{split, wide};
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
    /// Keys of records.
    Key {
        Path = b"path",
        LinkPath = b"linkpath",
        Size = b"size",
        Charset = b"hdrcharset",
        UserId = b"uid",
        GroupId = b"gid",
        SchilyDevice = b"SCHILY.dev",
        SchilyInode = b"SCHILY.ino",
        SchilyLinks = b"SCHILY.nlink",
        Modified = b"mtime",
        Accessed = b"atime",
        Changed = b"ctime",
        SchilyRealSize = b"SCHILY.realsize",
        SparseName = b"GNU.sparse.name",
        RealSize = b"GNU.sparse.realsize",
        SparseSize = b"GNU.sparse.size",
        Major = b"GNU.sparse.major",
        Minor = b"GNU.sparse.minor",
        Blocks = b"GNU.sparse.numblocks",
        Offset = b"GNU.sparse.offset",
        Bytes = b"GNU.sparse.numbytes",
        Map = b"GNU.sparse.map",
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
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Name,
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
            Self::Path | Self::SparseName | Self::LinkPath => Value::Name,
            Self::Modified | Self::Accessed | Self::Changed => Value::Time,
            Self::Charset => Value::Charset,
            Self::Map => Value::Map,
            Self::Blocks | Self::Other => Value::Ignored,
            _ => Value::Number,
        }
    }

    /// Whose name it gives.
    const fn name(self) -> Option<From> {
        match self {
            Self::Path => Some(From::Path),
            Self::SparseName => Some(From::Sparse),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Length,
    Key,
    /// This many bytes of the value are left.
    Value(u64),
    Newline,
}

/// One block of records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Records {
    size: u64,
    /// Bytes of the block that are left.
    left: u64,
    part: Part,
    /// Declared length of the present line.
    length: u64,
    /// Bytes of the present line so far.
    at: u64,
    /// Where the key starts in its line.
    prefix: u64,
    name: [u8; KEY],
    key: Key,
    value: [u8; 128],
    value_len: usize,
    map: CommaList,
}

impl Records {
    /// A block of `size` bytes.
    pub(super) fn new(size: u64) -> Self {
        Self {
            size,
            left: size,
            part: Part::Length,
            length: 0,
            at: 0,
            prefix: 0,
            name: [0; KEY],
            key: Key::Other,
            value: [0; 128],
            value_len: 0,
            map: CommaList::default(),
        }
    }

    /// Bytes of the block so far.
    pub(super) const fn taken(&self) -> u64 {
        self.size.saturating_sub(self.left)
    }

    /// Where in the block the present line starts.
    pub(super) const fn line(&self) -> u64 {
        self.taken().saturating_sub(self.at)
    }

    /// Takes the next bytes of the block (not more than it has left).
    pub(super) fn feed(&mut self, mut bytes: &[u8], special: &mut Special<'_>) -> Result<(), Error> {
        while let Some((&first, rest)) = bytes.split_first() {
            if let Part::Value(left) = self.part {
                let (piece, rest) = split(bytes, left);
                self.took(wide(piece.len()));
                self.value(piece, special)?;
                let left = left.saturating_sub(wide(piece.len()));
                self.part = if left == 0 { Part::Newline } else { Part::Value(left) };
                bytes = rest;
                continue;
            }
            self.took(1);
            match self.part {
                Part::Length => self.length_byte(first)?,
                Part::Key => self.key_byte(first, special)?,
                Part::Value(_) | Part::Newline => self.newline(first, special)?,
            }
            bytes = rest;
        }
        Ok(())
    }

    /// The block is complete.
    pub(super) fn finish(&self, special: &mut Special<'_>) -> Result<(), Error> {
        if self.at != 0 || self.part != Part::Length {
            return Err(refuse(ContainerCode::PaxLength));
        }
        special.names.choose_pax(special.attributes.binary)
    }

    fn took(&mut self, count: u64) {
        self.left = self.left.saturating_sub(count);
        self.at = self.at.saturating_add(count);
    }

    fn length_byte(&mut self, byte: u8) -> Result<(), Error> {
        if let Some(digit @ 0..=9) = byte.checked_sub(b'0') {
            self.length = self.length.saturating_mul(10).saturating_add(u64::from(digit));
            return Ok(());
        }
        if byte != b' ' {
            return Err(refuse(ContainerCode::PaxLength));
        }
        let whole = self.left.saturating_add(self.at);
        if self.length > LINE || self.length > whole {
            return Err(refuse(ContainerCode::PaxOverlarge).numbers(self.length, whole));
        }
        if self.length <= self.at {
            return Err(refuse(ContainerCode::PaxEmptyKey));
        }
        self.prefix = self.at;
        self.part = Part::Key;
        Ok(())
    }

    fn key_byte(&mut self, byte: u8, special: &mut Special<'_>) -> Result<(), Error> {
        let equals = self.at.saturating_sub(1);
        if byte == b'=' {
            return if equals == self.prefix {
                Err(refuse(ContainerCode::PaxEmptyKey))
            } else {
                self.begin_value(equals, special)
            };
        }
        if self.at >= KEY_END || self.at >= self.length {
            return Err(refuse(ContainerCode::PaxLongKey));
        }
        let slot = usize::try_from(equals.saturating_sub(self.prefix)).ok();
        if let Some(slot) = slot.and_then(|at| self.name.get_mut(at)) {
            *slot = byte;
        }
        Ok(())
    }

    fn begin_value(&mut self, equals: u64, special: &mut Special<'_>) -> Result<(), Error> {
        let room = self.length.checked_sub(equals.saturating_add(2));
        let length = room.ok_or_else(|| refuse(ContainerCode::PaxLine))?;
        let key_len = usize::try_from(equals.saturating_sub(self.prefix)).unwrap_or(usize::MAX);
        self.key = self.name.get(..key_len).map_or(Key::Other, Key::of);
        // A key of exactly `GNU.sparse`, or one below it, makes the member sparse.
        let known = self.name.get(..key_len.min(KEY)).unwrap_or(&[]);
        if known == b"GNU.sparse" || known.starts_with(b"GNU.sparse.") {
            special.attributes.sparse = true;
        }
        let (limit, code) = match self.key.value() {
            Value::Name => (NAME, ContainerCode::PaxNameLong),
            Value::Time => (TIME, ContainerCode::PaxTime),
            Value::Charset => (TIME, ContainerCode::PaxCharset),
            Value::Number => (NUMBER, ContainerCode::PaxNumberLong),
            Value::Map | Value::Ignored => (u64::MAX, ContainerCode::PaxLine),
        };
        if length > limit {
            return Err(refuse(code));
        }
        if let Some(from) = self.key.name() {
            special.names.begin(from, length)?;
        }
        self.value_len = 0;
        self.map = CommaList::default();
        self.part = if length == 0 { Part::Newline } else { Part::Value(length) };
        Ok(())
    }

    fn value(&mut self, bytes: &[u8], special: &mut Special<'_>) -> Result<(), Error> {
        match self.key.value() {
            Value::Name => {
                if let Some(from) = self.key.name() {
                    special.names.push(from, bytes);
                }
            }
            Value::Map => self.map.feed(bytes, &mut special.extents)?,
            Value::Ignored => {}
            Value::Number | Value::Time | Value::Charset => {
                for (slot, &byte) in self.value.iter_mut().skip(self.value_len).zip(bytes) {
                    *slot = byte;
                }
                self.value_len = self.value_len.saturating_add(bytes.len()).min(self.value.len());
            }
        }
        Ok(())
    }

    fn newline(&mut self, byte: u8, special: &mut Special<'_>) -> Result<(), Error> {
        if byte != b'\n' {
            return Err(refuse(ContainerCode::PaxLine));
        }
        let value = self.value.get(..self.value_len).unwrap_or(&[]);
        apply(self.key, value, &mut self.map, special)?;
        (self.part, self.length, self.at) = (Part::Length, 0, 0);
        self.name = [0; KEY];
        Ok(())
    }
}

/// A number that counts something: not negative, not saturated.
fn count(value: &[u8], code: ContainerCode) -> Result<i64, Error> {
    let number = number::text(value, 10);
    if (0..i64::MAX).contains(&number) { Ok(number) } else { Err(refuse(code)) }
}

fn apply(key: Key, value: &[u8], map: &mut CommaList, special: &mut Special<'_>) -> Result<(), Error> {
    let Special { attributes, sticky, extents, .. } = special;
    let number = match key.value() {
        Value::Number => count(value, ContainerCode::PaxNumber)?,
        Value::Time => count(value, ContainerCode::PaxTime)?,
        _ => 0,
    };
    match key {
        Key::Size => attributes.size = Some(number),
        Key::RealSize => attributes.realsize = Some(number),
        Key::SparseSize => attributes.sparse_size = Some(number),
        Key::SchilyRealSize => attributes.schily_realsize = Some(number),
        Key::Major => sticky.major = number,
        Key::Minor => sticky.minor = number,
        Key::Charset => match Charset::of(value) {
            Charset::Binary => attributes.binary = true,
            Charset::Utf8 => attributes.binary = false,
            Charset::Other => return Err(refuse(ContainerCode::PaxCharset)),
        },
        Key::Blocks => {
            (sticky.offset, sticky.numbytes) = (-1, -1);
            (sticky.major, sticky.minor) = (0, 0);
        }
        Key::Offset | Key::Bytes => {
            let slot = if key == Key::Offset { &mut sticky.offset } else { &mut sticky.numbytes };
            *slot = number;
            if sticky.offset >= 0 && sticky.numbytes >= 0 {
                extents.push(sticky.offset, sticky.numbytes)?;
                (sticky.offset, sticky.numbytes) = (-1, -1);
            }
        }
        Key::Map => {
            map.number(extents)?;
            (sticky.major, sticky.minor) = (0, 1);
        }
        _ => {}
    }
    Ok(())
}
