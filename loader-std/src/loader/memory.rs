//! The host memory of a load, with the file in memory or in a stream.

use super::LoadError;
use crate::file::{BufferSizes, Buffers};
use crate::growing::is_full;
use crate::room::{self, Full};
use loader_core::arena::{ArenaFull, NULL_AREA};
use loader_core::error::{Error, Stage};
use loader_core::stage::SCRATCH_BYTES;

/// Largest arena: its offsets have 32 bits.
const LARGEST: usize = u32::MAX as usize - 7;
/// Smallest arena that is tried where the host has little.
const LEAST: usize = 256 << 10;
/// How many times an arena the host must have besides, for what else a load holds.
const SPARE: usize = 3;
/// What a refusal of the host was about.
const ARENA: &str = "the arena";

/// The host memory of one load. It is taken when a load begins, and committed by the system as it is touched.
#[derive(Debug)]
pub struct Memory {
    arena: Vec<u8>,
    size: Size,
}

/// How large an arena is to be, in bytes.
#[derive(Clone, Copy, Debug)]
enum Size {
    /// So large.
    Exactly(usize),
    /// No larger, and smaller where the host has not several times as much.
    AtMost(usize),
}

impl Size {
    fn take(self) -> Result<Vec<u8>, Full> {
        match self {
            Self::Exactly(bytes) => room::zeroed(bytes),
            Self::AtMost(bytes) => room::largest(bytes, LEAST.min(bytes), SPARE),
        }
    }
}

impl Memory {
    /// Room for an arena of 1 GiB, more than any known file needs, or as much of that as leaves the host enough.
    const ROOM: usize = 1 << 30;
    /// The first arena of [`Memory::enough`]: nearly always enough, and so large that the system takes it back whole.
    const FIRST: usize = 64 << 20;

    /// Memory for any known file.
    #[must_use]
    pub const fn new() -> Self {
        Self { arena: Vec::new(), size: Size::AtMost(Self::ROOM) }
    }

    /// Memory for an arena of that many bytes.
    #[must_use]
    pub const fn with_arena(bytes: usize) -> Self {
        Self { arena: Vec::new(), size: Size::Exactly(bytes) }
    }

    /// The arena's bytes, which are taken now at the latest.
    pub(super) fn arena(&mut self) -> Result<&mut [u8], Error> {
        if self.arena.is_empty() {
            self.arena = self.size.take().map_err(|full| full.error(Stage::Unpack, ARENA))?;
        }
        Ok(&mut self.arena)
    }

    /// Runs a load, and again with a larger arena as long as the arena does not hold the file.
    ///
    /// # Errors
    /// Those of `load`; C802 if the host has no larger arena.
    pub fn enough<T>(mut load: impl FnMut(&mut Self) -> Result<T, LoadError>) -> Result<T, LoadError> {
        let mut memory = Self { arena: Vec::new(), size: Size::AtMost(Self::FIRST) };
        loop {
            let refused = match load(&mut memory) {
                Err(refused) if is_full(&refused) && memory.arena.len() < LARGEST => refused,
                done => return done,
            };
            memory.enlarge().map_err(|full| refused.but(full.error(refused.stage(), ARENA)))?;
        }
    }

    /// Takes an arena that is eight times as large, or at least larger.
    fn enlarge(&mut self) -> Result<(), Full> {
        let least = self.arena.len().saturating_add(1 << 20).min(LARGEST);
        let most = self.arena.len().saturating_mul(8).min(LARGEST).max(least);
        // The small one goes first: it may be what the large one lacks.
        self.arena = Vec::new();
        self.arena = room::largest(most, least, 0)?;
        Ok(())
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
    /// The host did not give what the budget allows.
    short: Option<Full>,
}

impl StreamMemory {
    /// Memory of `budget` bytes; what the other parts leave is the arena.
    #[must_use]
    pub fn within(budget: usize, sizes: BufferSizes) -> Self {
        let fixed = Self::fixed(sizes);
        let wanted = budget.saturating_sub(fixed).min(LARGEST);
        let arena = room::largest(wanted, LEAST.min(wanted), 1).unwrap_or_default();
        let scratch = room::zeroed(SCRATCH_BYTES).unwrap_or_default();
        let short = arena.len() < wanted || scratch.is_empty();
        let short = short.then_some(Full { bytes: wanted });
        Self { arena, buffers: Buffers::sized(sizes), scratch, budget, fixed, short }
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
        match self.short.filter(|_| self.arena.len() < NULL_AREA || self.scratch.is_empty()) {
            Some(full) => Err(full.error(Stage::Unpack, ARENA)),
            None => Ok(()),
        }
    }

    /// Runs a load within `budget` bytes, with the smallest buffers, and again with larger ones as long as a
    /// buffer is what the file lacks. The sizes in the end depend on the file alone.
    ///
    /// # Errors
    /// Those of `load`; C802 if the host does not give what the budget allows and the file needs.
    pub fn enough<T>(
        budget: usize,
        mut load: impl FnMut(&mut Self, BufferSizes) -> Result<T, LoadError>,
    ) -> Result<T, LoadError> {
        let mut sizes = BufferSizes::LEAST;
        loop {
            let mut memory = Self::within(budget, sizes);
            match (load(&mut memory, sizes), memory.short) {
                (Err(refused), _) if sizes.grow(&refused) => {}
                (Err(refused), Some(full)) if is_full(&refused) => {
                    return Err(refused.but(full.error(refused.stage(), ARENA)));
                }
                (done, _) => return done,
            }
        }
    }
}
