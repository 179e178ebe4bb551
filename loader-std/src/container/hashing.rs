//! A payload digest on a thread of its own, in step with the pass that inflates the same bytes.
//!
//! Two buffers go round: one is read and inflated while the other is still being digested. Neither side
//! copies bytes, and neither runs ahead of the other by more than a buffer.

use crate::room;
use loader_core::container::{Algorithm, Hasher};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Buffers that go round.
const BUFFERS: usize = 2;
/// Bytes of a buffer. The threads wait for each other once a buffer, and waking a thread costs as much as digesting
/// several KiB; both buffers are memory that a small file does not take.
const BYTES: usize = 64 << 10;
/// Bytes of the thread's stack. The digest's state is all that lies there.
const STACK: usize = 64 << 10;

/// Bytes to digest: a part of a buffer.
type Piece = (Algorithm, Arc<Vec<u8>>, Range<usize>);

/// The thread, and the ways to and from it.
pub(super) struct Hashing<'scope> {
    thread: ScopedJoinHandle<'scope, Option<[u8; 32]>>,
    there: SyncSender<Piece>,
    back: Receiver<Arc<Vec<u8>>>,
    free: Vec<Arc<Vec<u8>>>,
}

impl<'scope> Hashing<'scope> {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub(super) fn start(scope: &'scope Scope<'scope, '_>) -> io::Result<Self> {
        if !room::for_threads(1) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        // No more messages than buffers are ever on their way, so nobody waits to send one.
        let ((there, pieces), (used, back)) = (sync_channel(BUFFERS), sync_channel(BUFFERS));
        let thread = Builder::new().name("digest".to_owned()).stack_size(STACK);
        let thread = thread.spawn_scoped(scope, move || digest(&pieces, &used))?;
        Ok(Self { thread, there, back, free: (0..BUFFERS).map(|_| Arc::default()).collect() })
    }

    /// A buffer that nobody reads; waits for the thread if both are on their way.
    pub(super) fn buffer(&mut self) -> Arc<Vec<u8>> {
        let mut buffer = self.free.pop().or_else(|| self.back.recv().ok()).unwrap_or_default();
        Arc::make_mut(&mut buffer).resize(BYTES, 0);
        buffer
    }

    /// Gives a buffer back that was not digested.
    pub(super) fn keep(&mut self, buffer: Arc<Vec<u8>>) {
        self.free.push(buffer);
    }

    /// Has that part of a buffer digested. The buffer comes back when it was.
    pub(super) fn take(&self, algorithm: Algorithm, buffer: &Arc<Vec<u8>>, part: Range<usize>) {
        // The thread ends before this side does only if it panics, which `finish` shows.
        drop(self.there.send((algorithm, Arc::clone(buffer), part)));
    }

    /// The digest; `None` if nothing was to be digested.
    pub(super) fn finish(self) -> Option<[u8; 32]> {
        drop(self.there);
        self.thread.join().ok().flatten()
    }
}

fn digest(pieces: &Receiver<Piece>, used: &SyncSender<Arc<Vec<u8>>>) -> Option<[u8; 32]> {
    let mut hasher = None;
    for (algorithm, buffer, part) in pieces {
        let hasher = hasher.get_or_insert_with(|| Hasher::new(algorithm));
        hasher.update(buffer.get(part).unwrap_or_default());
        // The pass may be over and wait for the digest alone.
        drop(used.send(buffer));
    }
    hasher.map(Hasher::finish)
}
