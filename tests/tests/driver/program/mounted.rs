//! The unmodified command on a FUSE mount: no filter, no tracing, and the kernel's own word for every close.

use super::{code, host};
use crate::rig::skipped;
use loader_core::arch::Arch;
use neffload_tests::command::{Scratch, document, neffload, status};
use neffload_tests::fixture;
use neuron_drivers::harness::{Mount, Options, Shared};
use neuron_drivers::simdrv::{Books, Config, What};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// `neffload load` onto the first device of a mount.
fn load(mount: &Mount, options: &[&str]) -> Command {
    let mut command = neffload();
    command.args(["load", "--json", "--allow-opaque", "--device"]).arg(mount.folder().join("neuron0"));
    command.args(options).arg(fixture("cayman-2core"));
    command
}

/// The last reference goes a moment after its process.
fn wait_for_empty_books(host: &Shared) {
    let start = Instant::now();
    while !host.lock().driver.books().are_empty() && start.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(host.lock().driver.books(), Books::default());
}

#[test]
fn loads_and_kills_on_a_mount() {
    let scratch = Scratch::new("mounted");
    let host = host(Config::new(Arch::Cayman));
    let mount = match Mount::new(&host, &Options::default(), &scratch.join("")) {
        Ok(mount) => mount,
        Err(reason) => return skipped("a load on a mount", &reason.to_string()),
    };
    let output = load(&mount, &[]).output().unwrap();
    assert_eq!((status(&output), code(&document(&output))), (0, ""));
    wait_for_empty_books(&host);
    assert_eq!(host.lock().driver.take_violations(), []);
    for events in [30, 100, 200, 300] {
        let goal = host.lock().driver.events() + events;
        let mut command = load(&mount, &["--repeat", "1000000"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while host.lock().driver.events() < goal {
            assert_eq!(child.try_wait().unwrap(), None);
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        wait_for_empty_books(&host);
        // A killed process closes with what it had: nothing else is held against it.
        let killed = |what: What| matches!(what, What::ClosedWithChunks);
        assert!(host.lock().driver.take_violations().iter().all(|one| killed(one.what)));
    }
    let output = load(&mount, &[]).output().unwrap();
    assert_eq!(status(&output), 0);
    wait_for_empty_books(&host);
}
