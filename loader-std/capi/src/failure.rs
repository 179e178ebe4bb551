//! Why a call was refused: a status for the program, a sentence for the person.

use crate::status::{self, NOT_IMPLEMENTED};
use loader_core::device::DeviceError;
use loader_core::error::{Error, Stage, Status};
use loader_std::LoadError;
use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::fmt;
use std::io::{self, Write as _};

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) text: String,
}

/// What a call gives.
pub(crate) type Answer<T = ()> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(status: Status, text: impl fmt::Display) -> Self {
        Self { status, text: text.to_string() }
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
    static LAST: RefCell<CString> = RefCell::default();
}

/// What [`last`] gives a thread whose text is gone.
const GONE: &CStr = c"this thread is ending and keeps no text of a refusal; standard error has it, unless NEFFLOAD_LOG is off";

/// Remembers a refusal for [`last`] and prints it unless `NEFFLOAD_LOG` is `off`. Neither can fail: a program may have
/// closed its standard error, and may be past its end.
pub(crate) fn report(function: &str, failure: &Failure) {
    let name = status::name(failure.status.number()).to_string_lossy();
    let text = format!("{function}: {} ({name})", failure.text);
    if std::env::var_os("NEFFLOAD_LOG").is_none_or(|value| value != "off") {
        // One write, so that the lines of several threads stay whole.
        let line = format!("neffload: {text}\n");
        let _ = io::stderr().write_all(line.as_bytes());
    }
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    let _ = LAST.try_with(|last| last.replace(text));
}

/// Runs `look` with the text of the thread's last refusal; empty if there was none.
pub(crate) fn last<T>(look: impl Fn(&CStr) -> T) -> T {
    LAST.try_with(|last| look(&last.borrow())).unwrap_or_else(|_| look(GONE))
}
