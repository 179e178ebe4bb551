//! Programs that are killed.

use super::{assert_clean, host, load, loaded, start};
use crate::real;
use loader_core::arch::Arch;
use neffload_tests::fixture;
use neuron_drivers::harness::Shared;
use neuron_drivers::simdrv::{Books, Config};
use std::process::Stdio;

/// Loads that a kill must end: more than there is time for.
const FOREVER: &str = "1000000";

/// Kills a loader once the driver has seen `events` more events; the books afterwards.
fn kill_after(host: &Shared, events: u64) -> Option<Books> {
    let goal = host.lock().driver.events() + events;
    let mut command = load(&fixture("cayman-2core"), &["--repeat", FOREVER]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut launched = start(host, &mut command)?;
    while host.lock().driver.events() < goal {
        assert_eq!(launched.child.try_wait().unwrap(), None, "it ended by itself");
        std::thread::yield_now();
    }
    launched.child.kill().unwrap();
    launched.child.wait().unwrap();
    launched.settle();
    host.lock().driver.take_violations();
    Some(host.lock().driver.books())
}

/// A load that must succeed, and leave nothing.
fn load_well(host: &Shared) {
    let Some((status, document)) = loaded(host, load(&fixture("cayman-2core"), &[])) else { return };
    assert_eq!(status, 0, "{}", document["verdict"]);
    assert_clean(host, "a load after a kill");
}

/// Case L6, fault point 30.
pub(crate) fn killed_in_the_middle() {
    if real::is_in_use("driver_l6") {
        return;
    }
    let host = host(Config::new(Arch::Cayman));
    let Some(books) = kill_after(&host, 60) else { return };
    assert!(books.are_empty(), "{books}");
    load_well(&host);
}

/// Killing the loader at fifty seeded points leaves nothing behind.
#[test]
fn killed_anywhere() {
    let host = host(Config::new(Arch::Cayman));
    let mut seed = 0x5EED_u64;
    for _ in 0..50 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // A load is some 450 events: its claim and reset, its copies, its release, the next load.
        let events = 1 + (seed >> 33) % 600;
        let Some(books) = kill_after(&host, events) else { return };
        assert!(books.are_empty(), "after {events} events: {books}");
        host.lock().driver.take_trace();
    }
    load_well(&host);
}
