//! What a process has once: its settings and the state of its runtime.

use crate::failure::{Answer, Failure};
use crate::session::Session;
use crate::settings::Settings;
use loader_core::container::guard::RuntimeState;
use loader_std::runtime::Runtime;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The process's library.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) settings: Settings,
    runtime: Arc<Runtime>,
    session: Mutex<Option<Arc<Session>>>,
}

impl Library {
    pub(crate) fn new(settings: Settings) -> Self {
        let cores = u8::try_from(settings.visible.len()).unwrap_or(u8::MAX);
        Self { settings, runtime: Runtime::new(cores), session: Mutex::default() }
    }

    /// The library of this process; the environment is read at the first call.
    pub(crate) fn of_process() -> Answer<&'static Self> {
        static LIBRARY: OnceLock<Answer<Library>> = OnceLock::new();
        let read = || Settings::read(|name| std::env::var_os(name)).map(Self::new);
        LIBRARY.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    pub(crate) const fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Session>>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `nrt_init`. The framework is the only argument that is looked at: there are callers that pass no more. 0, the
    /// header's "invalid" framework, is taken, because there are callers that name none.
    pub(crate) fn init(&self, framework: u32) -> Answer {
        const FRAMEWORKS: u32 = 6;
        if framework >= FRAMEWORKS {
            return Err(Failure::invalid(format_args!("{framework} is no framework type; 0 to 5 are")));
        }
        // A forked child must not wait for a lock of its parent.
        if self.runtime.state() == RuntimeState::Child {
            return Ok(RuntimeState::Child.check()?);
        }
        let mut session = self.lock();
        // While another thread closes it, no device is taken.
        if self.runtime.state() != RuntimeState::Start {
            self.runtime.state().check()?;
        }
        // A device that cannot be taken leaves the runtime as it was; a runtime that refuses, the device.
        let opened = if session.is_none() { Some(Session::open(&self.settings)?) } else { None };
        self.runtime.init()?;
        if let Some(opened) = opened {
            *session = Some(Arc::new(opened));
        }
        Ok(())
    }

    /// What `nrt_init` made.
    pub(crate) fn session(&self) -> Answer<Arc<Session>> {
        self.runtime.state().check()?;
        if let Some(session) = &*self.lock() {
            return Ok(Arc::clone(session));
        }
        // Another thread closed it between the two lines.
        RuntimeState::Start.check()?;
        Err(Failure::internal())
    }

    /// `nrt_close`: unloads all models, frees all tensors, makes all handles unknown.
    pub(crate) fn close(&self) -> Answer {
        Ok(self.runtime.close(|| {
            let session = self.lock().take();
            if let Some(session) = session {
                session.clear();
            }
        })?)
    }
}
