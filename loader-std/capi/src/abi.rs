//! The exported functions. Each one turns its pointers into values, asks the safe code, and turns the answer into
//! a status; no refusal and no panic crosses the boundary.

pub mod absent;
mod cancel;
pub mod model;
mod pointer;
pub mod runtime;
pub mod set;
pub mod tensor;

use self::cancel::Uncancelled;
use crate::failure::{self, Answer, Failure, report};
use crate::library::Library;
use crate::status::Number;
use loader_core::error::Status;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the body of a function and gives its status.
fn answer(function: &str, body: impl FnOnce() -> Answer) -> Number {
    let _whole = Uncancelled::new();
    let outcome = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| Err(Failure::internal()));
    match outcome {
        Ok(()) => Status::Success.number(),
        Err(failure) => {
            report(function, &failure);
            failure.status.number()
        }
    }
}

/// As [`with_library`], for a body that makes something: refused unless the process has memory for the small requests
/// that it makes on the way, none of which can be refused. What gives memory back needs none.
fn with_room(function: &str, body: impl FnOnce(&'static Library) -> Answer) -> Number {
    with_library(function, |library| {
        failure::room()?;
        body(library)
    })
}

/// As [`answer`], for a body that needs the process's library.
fn with_library(function: &str, body: impl FnOnce(&'static Library) -> Answer) -> Number {
    answer(function, || body(Library::of_process()?))
}
