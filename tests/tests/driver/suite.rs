//! The suite pointed at a device. The device is one that the harness shows to another run of this binary, which
//! cannot tell it from a real one.

use crate::program::{host, run};
use crate::real;
use loader_core::arch::Arch;
use neuron_drivers::simdrv::{Books, Config, Version, What};
use std::process::Command;

/// What no case may do to a real driver.
const HARM: [What; 8] = [
    What::SizeZero,
    What::BigBufferCopy,
    What::Overflow,
    What::ForeignHandle,
    What::NoReceiveRing,
    What::WrongRingId,
    What::ScratchpadOrder,
    What::ClaimOnFullLane,
];

/// Some cases; all of them in a full run.
fn filters() -> &'static [&'static str] {
    let full = std::env::var_os("NEFFLOAD_FULL").is_some();
    if full { &["driver_"] } else { &["driver_b1", "driver_c", "driver_e2", "driver_g1", "driver_m1"] }
}

#[test]
fn the_suite_runs_on_a_device() {
    if real::is_in_use("the suite in the suite") {
        return;
    }
    for version in [Version::V2_24, Version::V2_30] {
        let host = host(Config::with_version(Arch::Cayman, version));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(filters()).env("NEFFLOAD_DEVICE", "/dev/neuron0");
        let Some(output) = run(&host, command) else { return };
        let said = String::from_utf8_lossy(&output.stdout);
        let skips = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}\n{skips}");
        let skipped = skips.lines().filter(|line| line.contains("skipped")).count();
        let result = said.lines().find(|line| line.starts_with("test result")).unwrap_or_default();
        println!(
            "driver {}: {result}; {skipped} cases skipped or cut short, each with its reason",
            version.text()
        );
        let mut state = host.lock();
        assert_eq!(state.stops, []);
        let harm: Vec<_> = state.driver.take_violations();
        let harm: Vec<_> = harm.into_iter().filter(|one| HARM.contains(&one.what)).collect();
        assert_eq!(harm, []);
        assert_eq!(state.driver.books(), Books::default());
        assert!(state.driver.events() > 100, "{}", state.driver.events());
    }
}
