//! What a load found in its file, how long it took and what it used.

use super::usage::CoreMemory;
use crate::cache::Role;
use loader_core::arch::Arch;
use loader_core::arena::Arena;
use loader_core::container::{DigestVerdict, Header};
use loader_core::error::Error;
use std::time::{Duration, Instant};

/// How long each stage of a load took.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "the stages by name")]
pub struct LoadTimes {
    pub guard: Duration,
    pub unpack: Duration,
    pub manifest: Duration,
    pub lower: Duration,
    pub plan: Duration,
    pub stage: Duration,
    pub register: Duration,
    pub total: Duration,
}

/// Arena in use when a stage was done. All sizes are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Name of the stage: `unpack`, `manifest`, `lower` or `plan`.
    pub stage: &'static str,
    /// Results, from the arena's start.
    pub head: usize,
    /// Tables, at the arena's end.
    pub tail: usize,
    /// The most in use until then, scratch included.
    pub peak: usize,
}

impl Usage {
    pub(super) fn of(arena: &Arena<'_>, stage: &'static str) -> Self {
        Self { stage, head: arena.head_used(), tail: arena.tail_used(), peak: arena.high_water() }
    }
}

/// Everything about a load besides its product.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The file's header.
    pub header: Header,
    /// The payload digest and how the header holds it.
    pub digest: DigestVerdict,
    /// The architecture that the file is for.
    pub arch: Arch,
    /// How long the load took.
    pub times: LoadTimes,
    /// Remarks.
    pub notes: Vec<Error>,
    /// Passes over the file; 1 if it was held in memory.
    pub passes: u32,
    /// True if the file was read in a stream.
    pub streamed: bool,
    /// Bytes of members that were held in memory, outside the arena.
    pub payload_bytes: u64,
    /// Multiply-accumulate operations that the compiler counted; `None` if the file does not say.
    pub mac_count: Option<u64>,
    /// The file's model id folded to 64 bits, as traces have it.
    pub trace_id: u64,
    /// What each core held when the model was registered.
    pub memory: Vec<CoreMemory>,
    /// How the load came to its parse; `None` if it was not asked of the parse cache.
    pub role: Option<Role>,
    /// Arena in use after each stage.
    pub usage: Vec<Usage>,
}

impl Facts {
    /// Most bytes of arena that were in use.
    #[must_use]
    pub fn arena_bytes(&self) -> usize {
        self.usage.iter().map(|usage| usage.peak).max().unwrap_or(0)
    }
}

/// Measures the stages.
#[derive(Debug)]
pub(super) struct Clock {
    start: Instant,
    last: Instant,
    times: LoadTimes,
}

impl Clock {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { start: now, last: now, times: LoadTimes::default() }
    }

    /// What passed since the last lap belongs to `stage`.
    pub(super) fn lap(&mut self, stage: impl FnOnce(&mut LoadTimes) -> &mut Duration) {
        let now = Instant::now();
        *stage(&mut self.times) = now - self.last;
        self.last = now;
    }

    /// What passes between two steps of a load belongs to none.
    pub(super) fn resume(&mut self) {
        let now = Instant::now();
        self.start += now - self.last;
        self.last = now;
    }

    /// What other stages took before, on behalf of this load.
    pub(super) const fn adopt(&mut self, times: LoadTimes) {
        self.times = times;
    }

    pub(super) const fn times(&self) -> LoadTimes {
        self.times
    }

    pub(super) fn finish(mut self) -> LoadTimes {
        self.times.total = self.start.elapsed();
        self.times
    }
}
