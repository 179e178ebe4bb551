//! The memory that a load within narrow bounds needs, found by such a load on a device of no consequence.

pub mod image;

use crate::file::BufferSizes;
use crate::growing::is_full;
use crate::loader::{Facts, StreamMemory, prepare_streamed};
use crate::{LoadError, LoadOptions, Loader};
use loader_core::arch::Arch;
use loader_core::device::Device;
use loader_core::source::Source;
use loader_core::stage::SCRATCH_BYTES;
use std::fmt;

/// Budgets that are tried: enough for every known file, then the largest arena there is.
const ROOM: [usize; 2] = [1 << 30, 5 << 30];

/// What a streamed load needs. All sizes are bytes.
#[derive(Clone, Debug)]
pub struct Needs {
    /// The buffers that read the file.
    pub buffers: BufferSizes,
    /// Bytes of the arena.
    pub arena: usize,
    /// Physical cores of the logical core.
    pub lnc: u32,
    /// The load itself.
    pub facts: Facts,
}

impl Needs {
    /// The least budget of a [`StreamMemory`] within which the file loads.
    #[must_use]
    pub const fn total(&self) -> usize {
        StreamMemory::fixed(self.buffers) + self.arena
    }

    /// The total's parts by name.
    #[must_use]
    pub const fn parts(&self) -> [(&'static str, usize); 6] {
        let BufferSizes { input, name, .. } = self.buffers;
        [
            ("input", input),
            ("inflate", self.buffers.inflate_bytes()),
            ("names", 3 * name),
            ("extents", self.buffers.extent_bytes()),
            ("scratch", SCRATCH_BYTES),
            ("arena", self.arena),
        ]
    }
}

/// The memory layout, as TOML.
impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BufferSizes { input, layers, name, extents } = self.buffers;
        writeln!(f, "[memory]")?;
        writeln!(f, "total = {}        # bytes; all of the following", self.total())?;
        writeln!(f, "arena = {}", self.arena)?;
        writeln!(f, "scratch = {SCRATCH_BYTES}")?;
        writeln!(f, "\n[memory.buffers]")?;
        writeln!(f, "input = {input}")?;
        writeln!(f, "gzip_layers = {layers}        # {} bytes", self.buffers.inflate_bytes())?;
        writeln!(f, "name = {name}        # bytes, three times")?;
        writeln!(f, "extents = {extents}")?;
        writeln!(
            f,
            "\n# Arena in use after each stage: results, tables, and the most at any time until then."
        )?;
        writeln!(f, "[memory.stages]")?;
        for usage in &self.facts.usage {
            let (stage, head, tail, peak) = (usage.stage, usage.head, usage.tail, usage.peak);
            writeln!(f, "{stage} = {{ results = {head}, tables = {tail}, peak = {peak} }}")?;
        }
        Ok(())
    }
}

/// Loads the file as a stream onto a device that `open` makes for its architecture, and unloads it again.
///
/// # Errors
/// As [`Loader::load_streamed`].
pub fn needs<S: Source, D: Device + Sync>(
    source: &mut S,
    options: &LoadOptions,
    open: impl Fn(Arch) -> D,
) -> Result<(Needs, D), LoadError> {
    let mut attempt = |budget| {
        StreamMemory::enough(budget, |memory, buffers| {
            let prepared = prepare_streamed(source, memory, options)?;
            let lnc = prepared.lnc();
            let loader = Loader::new(open(prepared.arch()));
            let facts = loader.place(prepared)?.facts().clone();
            Ok((Needs { buffers, arena: facts.arena_bytes(), lnc, facts }, loader.into_device()))
        })
    };
    match attempt(ROOM[0]) {
        Err(refused) if is_full(&refused) => attempt(ROOM[1]),
        done => done,
    }
}
