//! `neffload-simdrv` itself, as a person runs it.

use crate::real;
use neffload_tests::command::{Scratch, document, neffload, status};
use neffload_tests::{fixture, skip};
use std::path::PathBuf;
use std::process::{Command, Output};

/// `neffload-simdrv` as it was built with the tests.
pub(super) fn binary() -> PathBuf {
    PathBuf::from(neffload().get_program().to_string_lossy().into_owned() + "-simdrv")
}

/// Runs a command line under the simulated driver; `None` where the kernel has no user notification.
pub(super) fn simdrv(options: &[&str], program: &[&str]) -> Option<Output> {
    let output = Command::new(binary()).args(options).arg("--").args(program).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let forbidden = status(&output) == 2 && said.contains("no seccomp user notification");
    if forbidden {
        crate::rig::skipped("neffload-simdrv", &said);
    }
    (!forbidden).then_some(output)
}

#[test]
fn any_program_runs_under_it() {
    if real::is_in_use("neffload-simdrv") {
        return;
    }
    let tool = neffload().get_program().to_string_lossy().into_owned();
    let Some(output) = simdrv(&["--devices", "2"], &[&tool, "devices", "--json"]) else { return };
    assert_eq!((status(&output), document(&output)["devices"].as_array().unwrap().len()), (0, 2));
    let file = fixture("cayman-2core").to_string_lossy().into_owned();
    // Another folder than /dev, and what the loader left.
    let scratch = Scratch::new("simdrv");
    let folder = scratch.join("nodes").to_string_lossy().into_owned();
    let node = format!("{folder}/neuron0");
    let load = [&tool, "load", "--allow-opaque", "--device", &node, &file];
    for version in ["2.24", "2.27", "2.30"] {
        let options = ["--device-dir", &folder, "--driver", version, "--books", "--trace"];
        let Some(output) = simdrv(&options, &load) else { return };
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(status(&output), 0, "{said}");
        assert!(said.contains("0 chunks (0 bytes)") && said.contains("NC_RESET"), "{said}");
    }
    // Its status is the program's, or 2 for bad usage.
    for (program, expected) in [(&["true"][..], 0), (&["false"], 1), (&["sh", "-c", "exit 7"], 7)] {
        assert_eq!(status(&simdrv(&[], program).unwrap()), expected);
    }
    assert_eq!(status(&simdrv(&["--no-such-option"], &["true"]).unwrap()), 2);
    assert_eq!(status(&simdrv(&[], &["/no/such/program"]).unwrap()), 2);
}

/// Shell tools see the nodes too.
#[test]
fn tools_see_the_nodes() {
    let Some(output) =
        simdrv(&["--devices", "3"], &["sh", "-c", "test -c /dev/neuron2 && test ! -e /dev/neuron3"])
    else {
        skip!("no user notification");
    };
    assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
}
