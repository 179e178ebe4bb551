//! From a header and what came before it to one member: its name, kind and sizes (container.md §10.5).

use super::block::{Block, Dialect, HeaderName};
use super::number;
use super::padding;
use super::refuse;
use super::special::{Attributes, Sticky};
use crate::container::events::Kind;
use crate::error::{ContainerCode, Error};

/// Largest member (container.md §10.4).
const LARGEST: i64 = (1 << 60) - 1;

/// What a header says, kept while more blocks of its member are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft {
    pub(super) name: HeaderName,
    pub(super) dialect: Dialect,
    /// Where the member's first header block starts in the archive.
    pub(super) offset: u64,
    kind: u8,
    size: i64,
    /// File-type bits of the mode field.
    mode: i64,
    /// The header is plain ustar in every respect, which makes a hard link's size meaningless.
    strict_ustar: bool,
}

/// Where a member's bytes are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) kind: Kind,
    /// Content bytes.
    pub(super) disk: u64,
    /// Body bytes in the archive.
    pub(super) stored: u64,
    /// Fill behind the body.
    pub(super) padding: u64,
    /// The body begins with a sparse map in text form.
    pub(super) text_map: bool,
}

impl Draft {
    pub(super) const EMPTY: Self = Self {
        name: HeaderName::EMPTY,
        dialect: Dialect::V7,
        offset: 0,
        kind: 0,
        size: 0,
        mode: 0,
        strict_ustar: false,
    };

    /// Takes what will be needed from a header block at `offset`.
    pub(super) fn read(&mut self, block: &Block, offset: u64) {
        block.header_name(&mut self.name);
        self.dialect = block.dialect();
        self.offset = offset;
        self.kind = block.kind;
        self.size = block.size();
        self.mode = number::field(&block.mode) & 0o170_000;
        self.strict_ustar = block.magic == *b"ustar\x0000" && block.plausible_first();
    }

    /// Decides kind and sizes. `pax` says that only pax and ustar headers were seen since the last pax one;
    /// `slash` that the final name ends in one.
    pub(super) fn shape(
        &self,
        given: &Attributes,
        sticky: &Sticky,
        pax: bool,
        slash: bool,
    ) -> Result<Shape, Error> {
        let (mut disk, mut stored) = self.sizes(given, sticky)?;
        let mut kind = kind_of(self.kind);
        let sized_link = kind == Kind::HardLink && disk > 0;
        let ignore_link = self.dialect != Dialect::Ustar || self.strict_ustar;
        if matches!(self.kind, b'2'..=b'6') || (sized_link && !pax && ignore_link) {
            (disk, stored) = (0, 0);
        }
        let mut plain = kind == Kind::File || sized_link;
        if !sized_link && (self.kind == b'M' || kind == Kind::HardLink) {
            // These keep whatever file type the mode field happens to carry.
            plain = self.mode == 0o100_000;
            if self.mode == 0o040_000 {
                kind = Kind::Directory;
            }
        }
        let text_map = given.sparse && self.sparse_form(sticky)?;
        let mut fill = padding(stored);
        if plain && slash {
            // The reference forgets the body: what follows is read as a header.
            (kind, stored, fill) = (Kind::Directory, 0, 0);
        }
        Ok(Shape { kind, disk, stored, padding: fill, text_map })
    }

    /// Content size and body size.
    fn sizes(&self, given: &Attributes, sticky: &Sticky) -> Result<(u64, u64), Error> {
        let stored = given.size.unwrap_or(self.size);
        let sparse = given.sparse_size.filter(|_| sticky.major == 0);
        let disk = given.realsize.or(sparse).or(given.schily_realsize).unwrap_or(stored);
        let stored = given.sparse_size.filter(|_| sticky.major == 1).unwrap_or(stored);
        Ok((checked(disk)?, checked(stored)?))
    }

    /// Whether the sparse form is 1.0; the map of the others has been read.
    fn sparse_form(&self, sticky: &Sticky) -> Result<bool, Error> {
        if !matches!(self.kind, b'0' | b'S') {
            return Err(refuse(ContainerCode::SparseKind));
        }
        match (sticky.major, sticky.minor) {
            (0, 0 | 1) => Ok(false),
            (1, 0) => Ok(true),
            _ => Err(refuse(ContainerCode::SparseForm)),
        }
    }
}

fn checked(size: i64) -> Result<u64, Error> {
    if size > LARGEST {
        return Err(refuse(ContainerCode::SizeOverflow).numbers(size.unsigned_abs(), 0));
    }
    u64::try_from(size).map_err(|_| refuse(ContainerCode::NegativeSize))
}

const fn kind_of(flag: u8) -> Kind {
    match flag {
        b'1' => Kind::HardLink,
        b'2' => Kind::SymLink,
        b'3' => Kind::CharDevice,
        b'4' => Kind::BlockDevice,
        b'5' | b'D' => Kind::Directory,
        b'6' => Kind::Fifo,
        _ => Kind::File,
    }
}
