//! Whole programs under the harness. The program is this test binary, asked to be a client.

use crate::loads::{fixture_for, load_and_unload};
use crate::rig::skipped;
use loader_core::arch::Arch;
use neuron_drivers::harness::{Launched, Options, Shared, launch};
use neuron_drivers::neuron::{self, Libc};
use neuron_drivers::simdrv::{Books, Config};
use std::process::{Command, Stdio};

/// Asks the binary to be a client: first core, cores, loads.
const ROLE: &str = "NEFFLOAD_TEST_CLIENT";

/// The client's side; an ordinary run of the tests does nothing here.
#[test]
fn client() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let numbers: Vec<u16> = role.split(',').map(|number| number.parse().unwrap()).collect();
    let options = neuron::Options { first_core: numbers[0], cores: numbers[1], ..neuron::Options::ALL };
    for _ in 0..numbers[2] {
        load_and_unload(Libc, &fixture_for(Arch::Cayman), options).unwrap();
    }
}

fn command(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "program::client", "--test-threads=1"]).env(ROLE, role);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Starts a client; `None` with a printed reason where the kernel has no user notification.
fn start(host: &Shared, mut command: Command) -> Option<Launched> {
    launch(host, &Options::default(), &mut command)
        .inspect_err(|reason| skipped("launch", &reason.to_string()))
        .ok()
}

/// Runs a client that must succeed, and looks at what is left.
fn runs_well(host: &Shared, command: Command) -> Option<Books> {
    let mut launched = start(host, command)?;
    assert!(launched.child.wait().unwrap().success());
    launched.settle();
    assert_eq!(host.lock().driver.take_violations(), []);
    Some(host.lock().driver.books())
}

/// Kills a client once the driver has seen `events` more events; the books afterwards.
fn kill_after(host: &Shared, events: u64) -> Option<Books> {
    let goal = host.lock().driver.events() + events;
    let mut launched = start(host, command("0,8,1000"))?;
    while host.lock().driver.events() < goal {
        std::thread::yield_now();
    }
    launched.child.kill().unwrap();
    launched.child.wait().unwrap();
    launched.settle();
    host.lock().driver.take_violations();
    Some(host.lock().driver.books())
}

/// Case L6.
pub(crate) fn killed_in_the_middle() {
    let host = Shared::new(Config::new(Arch::Cayman)).unwrap();
    let Some(books) = kill_after(&host, 60) else { return };
    assert!(books.are_empty(), "{books}");
    assert_eq!(runs_well(&host, command("0,8,1")), Some(Books::default()));
}

/// Killing the loader at fifty seeded points leaves nothing behind.
#[test]
fn killed_anywhere() {
    let host = Shared::new(Config::new(Arch::Cayman)).unwrap();
    let mut seed = 0x5EED_u64;
    for _ in 0..50 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let events = 1 + (seed >> 33) % 400;
        let Some(books) = kill_after(&host, events) else { return };
        assert!(books.are_empty(), "after {events} events: {books}");
    }
    assert_eq!(runs_well(&host, command("0,8,1")), Some(Books::default()));
}

/// Two programs with four cores each, and two that want the same cores.
#[test]
fn two_programs_contend() {
    let host = Shared::new(Config::new(Arch::Cayman)).unwrap();
    let exe = std::env::current_exe().unwrap();
    let both = |first: &str, second: &str| {
        let run = "--exact program::client --test-threads=1 >/dev/null 2>&1";
        let script = format!(
            "{ROLE}={first} \"$0\" {run} & p=$!; {ROLE}={second} \"$0\" {run} & q=$!; \
             wait $p; a=$?; wait $q; b=$?; echo $a $b"
        );
        let mut command = Command::new("/bin/bash");
        command.arg("-c").arg(script).arg(&exe).stdout(Stdio::piped());
        command
    };
    for (first, second, fits) in [("0,4,5", "4,4,5", true), ("0,8,3", "0,8,3", false)] {
        let Some(launched) = start(&host, both(first, second)) else { return };
        let (child, rest) = launched.split();
        let output = child.wait_with_output().unwrap();
        rest.settle();
        let codes = String::from_utf8(output.stdout).unwrap();
        // Contenders for the same cores: whoever comes second is refused, or comes when the first is done.
        let allowed: &[&str] = if fits { &["0 0"] } else { &["0 0", "0 101", "101 0"] };
        assert!(allowed.contains(&codes.trim()), "{first} and {second}: {codes}");
        let books = host.lock().driver.books();
        assert!(books.are_empty(), "{books}");
    }
}
