//! Where things lie in an arena: offsets that are fields of records.

use core::mem::size_of;
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// An 8-byte reference field: where an array of records starts in the head, and how many there are.
///
/// `{0, 0}` is null. A reference to one record has `len` 1; to bytes, `len` is the byte count.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct ArenaRef {
    /// Bytes from the arena's start.
    pub off: U32,
    /// Elements.
    pub len: U32,
}

const _: () = assert!(size_of::<ArenaRef>() == 8);

impl ArenaRef {
    /// Refers to nothing.
    pub const NULL: Self = Self { off: U32::ZERO, len: U32::ZERO };

    /// True if it refers to nothing.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.off.get() == 0
    }

    /// Number of elements.
    #[must_use]
    pub fn count(self) -> u32 {
        self.len.get()
    }

    /// Reference to element `index` of an array of `T`, as a one-element array.
    #[must_use]
    pub fn nth<T>(self, index: u32) -> Option<Self> {
        Some(self.at::<T>(index)).filter(|place| !place.is_null())
    }

    /// The same; null where the array has no such element.
    pub(crate) fn at<T>(self, index: u32) -> Self {
        self.element(index, size_of::<T>())
    }

    /// One copy for all types of records, where small code goes before speed.
    #[cfg_attr(small, inline(never))]
    pub(crate) fn element(self, index: u32, size: usize) -> Self {
        let before = u32::try_from(size).ok().and_then(|size| index.checked_mul(size));
        let off = before.and_then(|before| self.off.get().checked_add(before));
        match off.filter(|_| index < self.len.get()) {
            Some(off) => Self { off: U32::new(off), len: U32::new(1) },
            None => Self::NULL,
        }
    }
}

/// A place in the tail: bytes from the end of the part that is not sealed to the item's first byte. 0 is null.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    FromBytes,
    IntoBytes,
    Immutable,
    KnownLayout,
    Unaligned,
)]
#[repr(C)]
pub struct TailRef(pub U32);

impl TailRef {
    /// Refers to nothing.
    pub const NULL: Self = Self(U32::ZERO);

    /// True if it refers to nothing.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.0.get() == 0
    }
}
