//! Memory that reading an archive needs besides the arena.

use super::gzip::{Inflate, Layer};
use super::tar::Extent;

/// A layer with whichever decoder.
pub type AnyLayer = Layer<dyn Inflate + Send>;

/// Decoders for nested gzip layers, the outermost first. One is enough for every known file.
pub trait Layers {
    /// The decoder of layer `at`; `None` if there are not so many.
    fn layer(&mut self, at: usize) -> Option<&mut AnyLayer>;

    /// Layer `at`, and the one around it, whose output it reads.
    fn with_outer(&mut self, at: usize) -> Option<(&mut AnyLayer, &mut AnyLayer)>;
}

impl<I: Inflate + Send + 'static> Layers for [Layer<I>] {
    fn layer(&mut self, at: usize) -> Option<&mut AnyLayer> {
        self.get_mut(at).map(|layer| -> &mut AnyLayer { layer })
    }

    fn with_outer(&mut self, at: usize) -> Option<(&mut AnyLayer, &mut AnyLayer)> {
        let (layer, around) = self.get_mut(..=at)?.split_last_mut()?;
        Some((layer, around.last_mut()?))
    }
}

impl<I: Inflate + Send + 'static, const N: usize> Layers for [Layer<I>; N] {
    fn layer(&mut self, at: usize) -> Option<&mut AnyLayer> {
        self.as_mut_slice().layer(at)
    }

    fn with_outer(&mut self, at: usize) -> Option<(&mut AnyLayer, &mut AnyLayer)> {
        self.as_mut_slice().with_outer(at)
    }
}

/// Buffers for one pass over a file, lent by the caller. A streamed payload uses them again for every pass.
pub struct Workspace<'w> {
    /// One piece of the file. Not used for a source that is in memory. At least one byte; 64 KiB is good.
    pub input: &'w mut [u8],
    /// Decoders; about 43 KiB each with the core's own.
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
