//! Sparse members: a list of extents with holes between them (container.md §10.8).

/// One run of data inside a sparse member, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Where it starts in the member.
    pub offset: i64,
    /// How long it is.
    pub length: i64,
}
