//! From a header and what came before it to one member: its name, kind and sizes (container.md §10.5).

use super::block::{Block, Dialect, HeaderName};
use super::number;
use super::padding;
use super::refuse;
use super::special::{ABSENT, Special};
use crate::container::events::Kind;
use crate::error::{ContainerCode, Error};

/// Largest member (container.md §10.4).
const LARGEST: i64 = (1 << 60) - 1;

/// What a header says, kept while more blocks of its member are read.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Draft {
    pub(super) dialect: Dialect,
    /// Where the member's first header block starts in the archive.
    pub(super) offset: u64,
    kind: u8,
    size: i64,
    /// File-type bits of the mode field.
    mode: i64,
    /// The header is plain ustar in every respect, which makes a hard link's size meaningless.
    strict_ustar: bool,
    pub(super) name: HeaderName,
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

impl Shape {
    pub(super) const NONE: Self = Self { kind: Kind::File, disk: 0, stored: 0, padding: 0, text_map: false };
}

impl Draft {
    pub(super) const EMPTY: Self = Self {
        dialect: Dialect::V7,
        offset: 0,
        kind: 0,
        size: 0,
        mode: 0,
        strict_ustar: false,
        name: HeaderName::EMPTY,
    };

    /// Takes what will be needed from a header block at `offset`.
    #[inline(never)]
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
    #[inline(never)]
    pub(super) fn shape(&self, given: &Special<'_>, pax: bool, slash: bool) -> Result<Shape, Error> {
        let [disk, stored] = self.sizes(given);
        for size in [disk, stored] {
            if size > LARGEST {
                return Err(refuse(ContainerCode::SizeOverflow).numbers(size.unsigned_abs(), 0));
            }
            if size < 0 {
                return Err(refuse(ContainerCode::NegativeSize));
            }
        }
        let (mut disk, mut stored) = (disk.unsigned_abs(), stored.unsigned_abs());
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
        let text_map = given.sparse && self.sparse_form(given)?;
        let mut fill = padding(stored);
        if plain && slash {
            // The reference forgets the body: what follows is read as a header.
            (kind, stored, fill) = (Kind::Directory, 0, 0);
        }
        Ok(Shape { kind, disk, stored, padding: fill, text_map })
    }

    /// Content size and body size.
    fn sizes(&self, given: &Special<'_>) -> [i64; 2] {
        let [size, real, sparse, schily, major, ..] = given.numbers;
        let or = |given: i64, other| if given == ABSENT { other } else { given };
        let of_form = |form| if major == form { sparse } else { ABSENT };
        let stored = or(size, self.size);
        [or(real, or(of_form(0), or(schily, stored))), or(of_form(1), stored)]
    }

    /// Whether the sparse form is 1.0; the map of the others has been read.
    fn sparse_form(&self, given: &Special<'_>) -> Result<bool, Error> {
        if !matches!(self.kind, b'0' | b'S') {
            return Err(refuse(ContainerCode::SparseKind));
        }
        let [.., major, minor, _, _] = given.numbers;
        match (major, minor) {
            (0, 0 | 1) => Ok(false),
            (1, 0) => Ok(true),
            _ => Err(refuse(ContainerCode::SparseForm)),
        }
    }
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
