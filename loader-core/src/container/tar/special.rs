//! What the special headers before a member have established (container.md §10.5–10.8).

use super::names::Names;
use super::sparse::Extents;
use crate::limits::Limits;

/// Kinds of special headers, each allowed once before a member.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SeenKinds(u8);

impl SeenKinds {
    /// Marks a kind; false if it was marked before. `x` and `X` are one kind.
    pub(super) fn mark(&mut self, kind: u8) -> bool {
        let bit = match kind {
            b'x' | b'X' => 1,
            b'g' => 2,
            b'L' => 4,
            b'K' => 8,
            b'V' => 16,
            _ => 32,
        };
        let new = self.0 & bit == 0;
        self.0 |= bit;
        new
    }

    /// A header that announces a member was seen: every kind but `g` and `V`.
    pub(super) const fn announces(self) -> bool {
        self.0 & !(2 | 16) != 0
    }
}

/// Numbers of one pax block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes {
    pub(super) binary: bool,
    pub(super) size: Option<i64>,
    pub(super) realsize: Option<i64>,
    pub(super) sparse_size: Option<i64>,
    pub(super) schily_realsize: Option<i64>,
    pub(super) sparse: bool,
}

/// Sparse attributes that outlive their member: the reference reader never resets them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sticky {
    pub(super) major: i64,
    pub(super) minor: i64,
    pub(super) offset: i64,
    pub(super) numbytes: i64,
}

/// Everything that is gathered before a member.
#[derive(Debug)]
pub(super) struct Special<'w> {
    pub(super) names: Names<'w>,
    pub(super) extents: Extents<'w>,
    pub(super) attributes: Attributes,
    pub(super) sticky: Sticky,
    pub(super) seen: SeenKinds,
}

impl<'w> Special<'w> {
    pub(super) fn new(names: &'w mut [u8], extents: &'w mut [super::Extent], limits: &Limits) -> Self {
        Self {
            names: Names::new(names, limits.name_bytes),
            extents: Extents::new(extents),
            attributes: Attributes::default(),
            sticky: Sticky::default(),
            seen: SeenKinds::default(),
        }
    }

    /// Before the headers of the next member.
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.extents.clear();
        self.attributes = Attributes::default();
        self.seen = SeenKinds::default();
    }
}
