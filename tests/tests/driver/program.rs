//! The unmodified `neffload` under the harness: real system calls of a program that knows of no test.

mod clients;
mod contend;
mod devices;
mod failures;
mod faults;
mod images;
mod kill;
mod mounted;
mod runner;
mod simdrv;
mod trace;

use crate::rig::skipped;
use neffload_tests::command::neffload;
use neuron_drivers::harness::{Launched, Options, Shared, launch};
use neuron_drivers::simdrv::{Books, Config};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

pub(crate) use kill::killed_in_the_middle;

/// `neffload load` of a file onto the first device, which takes only slots that are understood.
fn careful_load(file: &Path, options: &[&str]) -> Command {
    let mut command = neffload();
    command.args(["load", "--json", "--device", "/dev/neuron0"]).args(options).arg(file);
    command
}

/// As [`careful_load`], with all slots.
fn load(file: &Path, options: &[&str]) -> Command {
    careful_load(file, &[&["--allow-opaque"], options].concat())
}

/// A host with the simulated driver.
pub(crate) fn host(config: Config) -> Shared {
    Shared::new(config).unwrap()
}

/// Starts a program; `None` with a printed reason where the kernel has no user notification.
fn start(host: &Shared, command: &mut Command) -> Option<Launched> {
    launch(host, &Options::default(), command)
        .inspect_err(|reason| skipped("launch", &reason.to_string()))
        .ok()
}

/// Runs a program to its end.
pub(crate) fn run(host: &Shared, mut command: Command) -> Option<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (child, watch) = start(host, &mut command)?.split();
    let output = child.wait_with_output().unwrap();
    watch.settle();
    Some(output)
}

/// Exit status and document of a load.
fn loaded(host: &Shared, command: Command) -> Option<(i32, Value)> {
    let output = run(host, command)?;
    let status = neffload_tests::command::status(&output);
    Some((status, neffload_tests::command::document(&output)))
}

/// The code of a refusal; empty if there was none.
fn code(document: &Value) -> &str {
    document["verdict"]["code"].as_str().unwrap_or("")
}

/// After all processes went: nothing is held and nothing was done that the driver merely tolerates.
fn assert_clean(host: &Shared, what: &str) {
    let mut state = host.lock();
    assert_eq!(state.driver.books(), Books::default(), "{what}");
    assert_eq!(state.driver.take_violations(), [], "{what}");
    assert_eq!(state.stops, [], "{what}");
}
