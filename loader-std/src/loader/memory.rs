//! The host memory of a load, with the file in memory or in a stream.

use super::LoadError;
use crate::file::{BufferSizes, Buffers};
use crate::growing::is_full;
use loader_core::arena::{ArenaFull, NULL_AREA};
use loader_core::error::{Error, Stage};
use loader_core::stage::SCRATCH_BYTES;

/// Largest arena: its offsets have 32 bits.
const LARGEST: usize = u32::MAX as usize - 7;

/// The host memory of one load. The system commits it as it is touched.
#[derive(Debug)]
pub struct Memory {
    pub(super) arena: Vec<u8>,
}

impl Memory {
    /// Room for an arena of 1 GiB, more than any known file needs.
    const ROOM: usize = 1 << 30;

    /// Memory for any known file.
    #[must_use]
    pub fn new() -> Self {
        Self::with_arena(Self::ROOM)
    }

    /// Memory for an arena of that many bytes.
    #[must_use]
    pub fn with_arena(bytes: usize) -> Self {
        Self { arena: vec![0; bytes] }
    }

    /// Runs a load, and again with the largest arena there is if the usual one does not hold the file.
    ///
    /// # Errors
    /// Those of `load`.
    pub fn enough<T>(mut load: impl FnMut(&mut Self) -> Result<T, LoadError>) -> Result<T, LoadError> {
        match load(&mut Self::new()) {
            Err(refused) if is_full(&refused) => load(&mut Self::with_arena(LARGEST)),
            done => done,
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// All host memory of a streamed load, the parts together within a budget: the buffers that read the file,
/// the scratch that fills cores, and the arena.
#[derive(Debug)]
pub struct StreamMemory {
    pub(super) arena: Vec<u8>,
    pub(super) buffers: Buffers,
    pub(super) scratch: Vec<u8>,
    budget: usize,
    fixed: usize,
}

impl StreamMemory {
    /// Memory of `budget` bytes; what the other parts leave is the arena.
    #[must_use]
    pub fn within(budget: usize, sizes: BufferSizes) -> Self {
        let fixed = Self::fixed(sizes);
        let arena = vec![0; budget.saturating_sub(fixed).min(LARGEST)];
        Self { arena, buffers: Buffers::sized(sizes), scratch: vec![0; SCRATCH_BYTES], budget, fixed }
    }

    /// Bytes of everything but the arena.
    #[must_use]
    pub const fn fixed(sizes: BufferSizes) -> usize {
        sizes.bytes() + SCRATCH_BYTES
    }

    /// Not even the buffers fit.
    pub(super) fn check(&self) -> Result<(), Error> {
        let needed = self.fixed + NULL_AREA;
        if self.budget < needed {
            let full = ArenaFull { needed, available: self.budget };
            return Err(Error::arena(Stage::Unpack, full));
        }
        Ok(())
    }

    /// Runs a load within `budget` bytes, with the smallest buffers, and again with larger ones as long as a
    /// buffer is what the file lacks. The sizes in the end depend on the file alone.
    ///
    /// # Errors
    /// Those of `load`.
    pub fn enough<T>(
        budget: usize,
        mut load: impl FnMut(&mut Self, BufferSizes) -> Result<T, LoadError>,
    ) -> Result<T, LoadError> {
        let mut sizes = BufferSizes::LEAST;
        loop {
            match load(&mut Self::within(budget, sizes), sizes) {
                Err(refused) if sizes.grow(&refused) => {}
                done => return done,
            }
        }
    }
}
