//! Progress of work that is told only how far its file was read, or nothing.

use super::Progress;
use loader_core::error::Error;
use loader_core::source::Source;
use loader_std::room;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time between two looks at the work.
const PERIOD: Duration = Duration::from_millis(100);

/// A source that tells how far it was read.
pub(crate) struct Followed<'s, S, F> {
    source: &'s mut S,
    told: F,
}

impl<'s, S: Source, F: FnMut(u64)> Followed<'s, S, F> {
    /// `told` hears the end of every read, in bytes from the start.
    pub(crate) const fn new(source: &'s mut S, told: F) -> Self {
        Self { source, told }
    }
}

impl<S, F> fmt::Debug for Followed<'_, S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Followed").finish_non_exhaustive()
    }
}

impl<S: Source, F: FnMut(u64)> Source for Followed<'_, S, F> {
    fn len(&self) -> Option<u64> {
        self.source.len()
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<usize, Error> {
        let count = self.source.read_at(offset, out)?;
        (self.told)(offset.saturating_add(count as u64));
        Ok(count)
    }

    fn bytes(&self) -> Option<&[u8]> {
        self.source.bytes()
    }
}

/// What the work and the thread that watches it share.
#[derive(Debug, Default)]
struct Seen {
    done: AtomicU64,
    over: AtomicBool,
}

/// A bar that a thread draws: it moves on while the work computes. It is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    seen: Arc<Seen>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// A system that has no thread for it, or no room for one, shows nothing.
    pub(super) fn new(visible: bool, label: &'static str, total: Option<u64>) -> Self {
        let seen = Arc::new(Seen::default());
        let work = Arc::clone(&seen);
        let watch = move || {
            let mut progress = Progress::new(true, label, total).computing();
            while !work.over.load(Ordering::Acquire) {
                thread::park_timeout(PERIOD);
                progress.set(work.done.load(Ordering::Relaxed));
            }
        };
        let room = visible && room::for_threads(1);
        let thread = room.then(|| thread::Builder::new().name("progress".to_owned()).spawn(watch));
        Self { seen, thread: thread.and_then(Result::ok) }
    }

    /// The source, whose reads the bar shows.
    pub(crate) fn source<'s, S: Source>(
        &self,
        source: &'s mut S,
    ) -> Followed<'s, S, impl FnMut(u64) + use<S>> {
        let seen = Arc::clone(&self.seen);
        Followed::new(source, move |done| seen.done.store(done, Ordering::Relaxed))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.seen.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It holds nothing; if it panicked, only the bar is missing.
            let _ = thread.join();
        }
    }
}
