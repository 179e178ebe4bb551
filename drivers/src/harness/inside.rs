//! The harness around one thread of this process.

use super::host::{Options, Shared};
use super::seccomp::{Listener, Program, Unavailable, install};
use super::supervisor::{Supervisor, Where};
use std::io;
use std::os::fd::RawFd;
use std::sync::mpsc;
use std::thread;

/// What a client thread gave.
pub type Inside<R> = Result<R, Unavailable>;

/// Runs `client` on a thread of its own whose device calls the simulated driver answers. Other threads are not
/// affected. When the client is done, its open descriptors are closed as at the end of a process.
///
/// # Errors
/// If the kernel gives no listener; nothing was run then.
///
/// # Panics
/// If the client panics.
pub fn inside<R: Send>(shared: &Shared, options: &Options, client: impl FnOnce() -> R + Send) -> Inside<R> {
    let program = Program::new();
    let (read, write) = pipe().map_err(|error| Unavailable { step: "pipe", error })?;
    let (send, receive) = mpsc::channel::<Result<RawFd, (&'static str, i32)>>();
    let (served, serving) = mpsc::channel::<()>();
    let outcome = thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let installed = install(&program);
            let ok = installed.is_ok();
            let told = send.send(installed).is_ok();
            // Nothing that the filter stops may happen before somebody serves it.
            (told && ok && serving.recv().is_ok()).then(client)
        });
        let supervisor = match receive.recv() {
            Ok(Ok(fd)) => {
                // SAFETY: the descriptor was made by the worker for us and is owned by nobody else.
                let listener = unsafe { Listener::from_fd(fd) };
                let serve = Supervisor::new(listener, shared.clone(), options.clone(), Where::Inside, read);
                let handle = scope.spawn(move || serve.run());
                let started = served.send(()).is_ok();
                Ok((handle, started))
            }
            Ok(Err((step, errno))) => Err(Unavailable { step, error: io::Error::from_raw_os_error(errno) }),
            Err(_) => Err(Unavailable { step: "thread", error: io::Error::other("it ended early") }),
        };
        drop(served);
        let result = worker.join();
        // SAFETY: one byte from a valid place to an owned descriptor.
        unsafe { libc::write(write, [0u8].as_ptr().cast(), 1) };
        let (handle, _) = match supervisor {
            Ok(running) => running,
            Err(error) => return Err(error),
        };
        let finished = handle.join();
        match (result, finished) {
            (Ok(Some(value)), Ok(())) => Ok(value),
            (Err(panic), _) | (_, Err(panic)) => std::panic::resume_unwind(panic),
            (Ok(None), Ok(())) => {
                Err(Unavailable { step: "thread", error: io::Error::other("the client did not start") })
            }
        }
    });
    for fd in [read, write] {
        // SAFETY: both ends are owned by this function and used by nobody any more.
        unsafe { libc::close(fd) };
    }
    outcome
}

fn pipe() -> io::Result<(RawFd, RawFd)> {
    let mut ends = [0; 2];
    // SAFETY: the array has room for both numbers.
    match unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } {
        0 => Ok((ends[0], ends[1])),
        _ => Err(io::Error::last_os_error()),
    }
}
