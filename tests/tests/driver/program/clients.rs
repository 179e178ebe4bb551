//! Programs that do with device descriptors what programs do: fork, exec, pass, duplicate, map, fail. Each is a function
//! of `clients/cases.py`, which knows what the kernel would answer.

use super::{assert_clean, host, run};
use crate::real;
use crate::rig::skipped;
use loader_core::arch::Arch;
use neffload_tests::command::status;
use neuron_drivers::simdrv::{Config, Strictness};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Status of a case that finds the machine unsuited.
const UNSUITED: i32 = 77;

pub(super) fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/driver/clients/cases.py")
}

/// Whether there is a Python to run the script.
pub(super) fn has_python(case: &str) -> bool {
    let found = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    let works = found.is_ok_and(|status| status.success());
    if !works {
        skipped(case, "there is no python3");
    }
    works
}

/// Runs a case on a host; nothing may be left and nothing be done that the driver merely tolerates.
fn case_on(config: Config, name: &str) {
    if real::is_in_use(name) || !has_python(name) {
        return;
    }
    let host = host(config);
    let mut command = Command::new("python3");
    command.arg(script()).arg(name);
    let Some(output) = run(&host, command) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    if status(&output) == UNSUITED {
        return skipped(name, &said);
    }
    assert_eq!(status(&output), 0, "{said}");
    assert_clean(&host, name);
}

fn case(name: &str) {
    case_on(Config::new(Arch::Cayman), name);
}

/// For cases whose processes end without giving anything back.
fn untidy(name: &str) {
    case_on(Config { strictness: Strictness::Faithful, ..Config::new(Arch::Cayman) }, name);
}

/// L6 and fault point 30: cleanup is over before anybody can know of the end.
#[test]
fn a_reaped_process_holds_nothing() {
    untidy("reaped");
}

#[test]
fn a_reused_thread_id_is_another_process() {
    untidy("thread_ids");
}

/// Section 2.5: close-on-exec descriptors are closed whatever other threads do meanwhile.
#[test]
fn exec_closes_beside_busy_threads() {
    untidy("exec_");
}

#[test]
fn descriptors_outlive_the_parent() {
    case("inherited");
}

#[test]
fn daemons_keep_their_descriptors() {
    untidy("daemon");
}

#[test]
fn descriptors_outlive_their_sender() {
    case("passed");
}

#[test]
fn tidy_mappings_are_no_violation() {
    case("maps");
}

#[test]
fn long_mappings_of_a_scratchpad() {
    case("scratchpad_maps");
}

#[test]
fn failing_duplicates_close_nothing() {
    case("duplicates");
}

#[test]
fn nothing_but_requests_reaches_the_memory() {
    case("operations");
}

#[test]
fn other_names_of_a_node() {
    case("paths");
}
