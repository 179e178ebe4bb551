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

/// No such number was given; no field of a header has it.
pub(super) const ABSENT: i64 = i64::MIN;

/// Numbers that pax records give, in the order of their keys. Four of the next member, or [`ABSENT`]: `size`,
/// `GNU.sparse.realsize`, `GNU.sparse.size` and `SCHILY.realsize`. Four that outlive their member, because the reference
/// reader never resets them: `GNU.sparse.major`, `.minor`, `.offset` and `.numbytes`.
pub(super) type Numbers = [i64; 8];

/// Everything that is gathered before a member.
#[derive(Debug)]
pub(super) struct Special<'w> {
    pub(super) seen: SeenKinds,
    /// Names are not UTF-8.
    pub(super) binary: bool,
    /// A key of a sparse member was seen.
    pub(super) sparse: bool,
    pub(super) numbers: Numbers,
    pub(super) names: Names<'w>,
    pub(super) extents: Extents<'w>,
}

impl<'w> Special<'w> {
    pub(super) fn new(names: &'w mut [u8], extents: &'w mut [super::Extent], limits: &Limits) -> Self {
        Self {
            seen: SeenKinds::default(),
            binary: false,
            sparse: false,
            numbers: [ABSENT, ABSENT, ABSENT, ABSENT, 0, 0, 0, 0],
            names: Names::new(names, limits.name_bytes),
            extents: Extents::new(extents),
        }
    }

    /// Before the headers of the next member.
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.extents.clear();
        (self.binary, self.sparse) = (false, false);
        let [sizes @ .., _, _, _, _] = &mut self.numbers;
        *sizes = [ABSENT; 4];
        self.seen = SeenKinds::default();
    }
}
