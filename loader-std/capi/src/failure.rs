//! Why a call was refused: a status for the program, a sentence for the person.

use crate::status::{self, NOT_IMPLEMENTED};
use loader_core::device::DeviceError;
use loader_core::error::{Error, Stage, Status};
use loader_std::{LoadError, room};
use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::fmt;
use std::io::{self, Write as _};
use std::sync::OnceLock;

/// A refusal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) text: Cow<'static, str>,
}

impl Clone for Failure {
    fn clone(&self) -> Self {
        Self::new(self.status, &self.text)
    }
}

/// What stands in a refusal for which there is no memory.
const NO_ROOM: &str = "C802 the host has no memory for this call; expected 2 MiB to work with. Free memory, or let the \
                       process have more of it: `ulimit -v` prints its limit in KiB.";

/// Refuses if the process has too little memory left for requests that nobody can refuse.
pub(crate) fn room() -> Answer {
    if room::for_small_requests() {
        Ok(())
    } else {
        Err(Failure { status: Status::Resource, text: NO_ROOM.into() })
    }
}

/// A text that grows as long as there is memory for it.
struct Growing(String);

impl fmt::Write for Growing {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.0.try_reserve(part.len()).map_err(|_| fmt::Error)?;
        self.0.push_str(part);
        Ok(())
    }
}

/// The text of something, or that there is no memory for it.
fn text(what: impl fmt::Display) -> Cow<'static, str> {
    let mut text = Growing(String::new());
    if fmt::write(&mut text, format_args!("{what}")).is_ok() { text.0.into() } else { NO_ROOM.into() }
}

/// What a call gives.
pub(crate) type Answer<T = ()> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(status: Status, why: impl fmt::Display) -> Self {
        Self { status, text: text(why) }
    }

    /// An argument makes no sense.
    pub(crate) fn invalid(text: impl fmt::Display) -> Self {
        Self::new(Status::Invalid, text)
    }

    /// A handle of this kind is unknown: freed, from before the last close, or never one.
    pub(crate) fn handle(kind: &str) -> Self {
        Self::new(Status::InvalidHandle, format_args!("this is the handle of no {kind} that exists now"))
    }

    /// There is nothing behind this name.
    pub(crate) fn not_implemented(why: &str) -> Self {
        Self::new(NOT_IMPLEMENTED, format_args!("not implemented: {why}"))
    }

    /// An error of a call that is no load: there is no place in a file to name.
    pub(crate) fn call(error: &Error) -> Self {
        let (id, log, expected, remedy) = (error.id(), error.log(), error.expected(), error.remedy());
        Self::new(error.status(), format_args!("{id} {log}; expected {expected}. {remedy}"))
    }

    /// A panic of our own, caught before it reaches the caller.
    pub(crate) fn internal() -> Self {
        Self::new(Status::Failure, "internal error, please report it")
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error.status(), error)
    }
}

impl From<LoadError> for Failure {
    fn from(refused: LoadError) -> Self {
        Self::new(refused.status(), &refused)
    }
}

impl From<DeviceError> for Failure {
    fn from(refused: DeviceError) -> Self {
        Self::call(&refused.at(Stage::Stage))
    }
}

thread_local! {
    /// The text of the thread's last refusal. It goes with the thread, before what the program's own exit handlers and
    /// thread-local destructors may still call.
    static LAST: RefCell<Cow<'static, CStr>> = const { RefCell::new(Cow::Borrowed(c"")) };
}

/// What [`last`] gives a thread whose text is gone.
const GONE: &CStr = c"this thread is ending and keeps no text of a refusal; standard error has it, unless NEFFLOAD_LOG is off";

/// Remembers a refusal for [`last`] and prints it unless `NEFFLOAD_LOG` is `off`. Neither can fail: a program may have
/// closed its standard error, and may be past its end.
pub(crate) fn report(function: &str, failure: &Failure) {
    static LOGS: OnceLock<bool> = OnceLock::new();
    let logs = || std::env::var_os("NEFFLOAD_LOG").is_none_or(|value| value != "off");
    let name = status::name(failure.status.number()).to_string_lossy();
    let said = text(format_args!("{function}: {} ({name})", failure.text));
    if *LOGS.get_or_init(logs) {
        // One write, so that the lines of several threads stay whole.
        let _ = io::stderr().write_all(text(format_args!("neffload: {said}\n")).as_bytes());
    }
    let _ = LAST.try_with(|last| last.replace(terminated(&said)));
}

/// The text with its NUL, and no other.
fn terminated(text: &str) -> Cow<'static, CStr> {
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(text.len() + 1).is_err() {
        return NO_ROOM_LEFT.into();
    }
    bytes.extend(text.bytes().map(|byte| if byte == 0 { b' ' } else { byte }));
    CString::new(bytes).unwrap_or_default().into()
}

/// What [`last`] gives where there is no memory for more.
const NO_ROOM_LEFT: &CStr = c"C802 the host has no memory for this call, nor for its name (NRT_RESOURCE)";

/// Runs `look` with the text of the thread's last refusal; empty if there was none.
pub(crate) fn last<T>(look: impl Fn(&CStr) -> T) -> T {
    LAST.try_with(|last| look(&last.borrow())).unwrap_or_else(|_| look(GONE))
}
