//! The trace of a load, as a person reads it.

use super::{assert_clean, host, load, run};
use loader_core::arch::Arch;
use neffload_tests::{fixture, workspace};
use neuron_drivers::simdrv::{Config, Kind};

/// The requests of one fixture, line by line, are those that are written down.
#[test]
fn the_requests_of_a_fixture() {
    let host = host(Config::new(Arch::Cayman));
    let Some(output) = run(&host, load(&fixture("cayman-2core"), &["--trace", "--threads", "1"])) else {
        return;
    };
    assert!(output.status.success());
    assert_clean(&host, "traced");
    // The trace also says what every core uses, which is no request.
    let said = String::from_utf8(output.stderr).unwrap();
    let calls = ["open(", "close(", "ioctl(", "mmap(", "munmap("];
    let of_calls = |line: &&str| calls.iter().any(|call| line.starts_with(call));
    let made: String = said.lines().filter(of_calls).map(|line| format!("{line}\n")).collect();
    let path = workspace().join("tests").join("traces").join("neffload-cayman-2core.txt");
    if std::env::var_os("NEFFLOAD_WRITE_TRACES").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    for (at, (made, expected)) in made.lines().zip(expected.lines()).enumerate() {
        assert_eq!(made, expected, "line {}", at + 1);
    }
    assert_eq!(made.lines().count(), expected.lines().count());
    // Every request that the driver saw is in the trace and in the document's counts.
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let counted: u64 = document["ioctls"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    let lines = made.lines().filter(|line| line.starts_with("ioctl(")).count() as u64;
    let seen =
        host.lock().driver.trace().iter().filter(|entry| matches!(entry.kind, Kind::Ioctl { .. })).count();
    assert_eq!((counted, seen as u64), (lines, lines));
}
