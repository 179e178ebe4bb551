//! What a process has once: its settings and the state of its runtime.

use crate::failure::{self, Answer, Failure};
use crate::session::Session;
use crate::settings::Settings;
use loader_core::container::guard::RuntimeState;
use loader_std::runtime::Runtime;
use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// The process's library.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) settings: Settings,
    runtime: Arc<Runtime>,
    now: Mutex<Now>,
    /// Told when the last call of a session has ended.
    idle: Condvar,
}

/// What is there between `nrt_init` and `nrt_close`.
#[derive(Debug, Default)]
struct Now {
    session: Option<Arc<Session>>,
    /// Calls that work with a session. A close waits for them: what they took goes back before the device does, and in
    /// the order in which the driver wants it.
    calls: usize,
}

/// A call's hold on the session. Nothing that a session lends outlives it.
#[derive(Debug)]
pub(crate) struct Lease<'l> {
    // Goes before the call ends, so that a close is the last to hold the session.
    session: Arc<Session>,
    _call: Call<'l>,
}

impl Deref for Lease<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

/// One of the calls that are counted.
#[derive(Debug)]
struct Call<'l>(&'l Library);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let mut now = self.0.lock();
        now.calls -= 1;
        if now.calls == 0 {
            self.0.idle.notify_all();
        }
    }
}

impl Library {
    pub(crate) fn new(settings: Settings) -> Self {
        let cores = u8::try_from(settings.visible.len()).unwrap_or(u8::MAX);
        Self { settings, runtime: Runtime::new(cores), now: Mutex::default(), idle: Condvar::new() }
    }

    /// The library of this process; the environment is read at the first call.
    pub(crate) fn of_process() -> Answer<&'static Self> {
        static LIBRARY: OnceLock<Answer<Library>> = OnceLock::new();
        let read = || Settings::read(|name| std::env::var_os(name)).map(Self::new);
        // What is refused for want of memory is read again at the next call.
        if LIBRARY.get().is_none() {
            failure::room()?;
        }
        LIBRARY.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    pub(crate) const fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    fn lock(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `nrt_init`. The framework is the only argument that is looked at: there are callers that pass no more. 0, the
    /// header's "invalid" framework, is taken, because there are callers that name none.
    pub(crate) fn init(&self, framework: u32) -> Answer {
        const FRAMEWORKS: u32 = 6;
        if framework >= FRAMEWORKS {
            let framework = framework.cast_signed();
            return Err(Failure::invalid(format_args!("{framework} is no framework type; 0 to 5 are")));
        }
        // A forked child must not wait for a lock of its parent.
        if self.runtime.state() == RuntimeState::Child {
            return Ok(RuntimeState::Child.check()?);
        }
        let mut now = self.lock();
        // While another thread closes it, no device is taken.
        if self.runtime.state() != RuntimeState::Start {
            self.runtime.state().check()?;
        }
        // A device that cannot be taken leaves the runtime as it was; a runtime that refuses, the device.
        let opened = if now.session.is_none() { Some(Session::open(&self.settings)?) } else { None };
        self.runtime.init()?;
        if let Some(opened) = opened {
            now.session = Some(Arc::new(opened));
        }
        Ok(())
    }

    /// What `nrt_init` made, for one call.
    pub(crate) fn session(&self) -> Answer<Lease<'_>> {
        self.runtime.state().check()?;
        let mut now = self.lock();
        let Some(session) = now.session.clone() else {
            drop(now);
            // Another thread closed it between the two lines.
            self.runtime.state().check()?;
            RuntimeState::Start.check()?;
            return Err(Failure::internal());
        };
        now.calls += 1;
        Ok(Lease { session, _call: Call(self) })
    }

    /// `nrt_close`: unloads all models, frees all tensors, makes all handles unknown, gives the device back. Waits for
    /// the calls of other threads; those that begin meanwhile are refused.
    pub(crate) fn close(&self) -> Answer {
        let mut outcome = Ok(());
        self.runtime.close(|| {
            let mut now = self.lock();
            let session = now.session.take();
            while now.calls > 0 {
                now = self.idle.wait(now).unwrap_or_else(PoisonError::into_inner);
            }
            drop(now);
            if let Some(session) = session {
                outcome = session.clear();
            }
        })?;
        outcome
    }
}
