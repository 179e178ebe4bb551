//! Memory that reading an archive needs besides the arena.

use super::gzip::Layer;
use super::tar::Extent;

/// Decoders for nested gzip layers. One is enough for every known file.
pub trait Layers {
    /// The first `count` decoders; `None` if there are not so many.
    fn first(&mut self, count: usize) -> Option<&mut [Layer]>;
}

impl Layers for [Layer] {
    fn first(&mut self, count: usize) -> Option<&mut [Layer]> {
        self.get_mut(..count)
    }
}

impl<const N: usize> Layers for [Layer; N] {
    fn first(&mut self, count: usize) -> Option<&mut [Layer]> {
        self.get_mut(..count)
    }
}

/// Buffers for one pass over a file, lent by the caller. A streamed payload uses them again for every pass.
pub struct Workspace<'w> {
    /// One piece of the file. Not used for a source that is in memory. At least one byte; 64 KiB is good.
    pub input: &'w mut [u8],
    /// Decoders; about 43 KiB each.
    pub layers: &'w mut (dyn Layers + Send),
    /// Names of extension records, in three equal parts: GNU long name, pax `path`, `GNU.sparse.name`.
    pub names: &'w mut [u8],
    /// Extents of one sparse member.
    pub extents: &'w mut [Extent],
}

impl Workspace<'_> {
    /// The same buffers for a shorter time.
    pub fn reborrow(&mut self) -> Workspace<'_> {
        Workspace { input: self.input, layers: self.layers, names: self.names, extents: self.extents }
    }
}

impl core::fmt::Debug for Workspace<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "Workspace(input {}, names {}, extents {})",
            self.input.len(),
            self.names.len(),
            self.extents.len()
        )
    }
}
