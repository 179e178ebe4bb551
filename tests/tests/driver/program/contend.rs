//! Two programs on one device: for cores, for memory, for its resets. Whoever is second is refused with a code of
//! its own, or waits; nobody waits for ever.

use super::{assert_clean, code, host, load, loaded, run};
use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, Device as _, DeviceError, Place, Usage};
use neffload_tests::command::neffload;
use neffload_tests::fixture;
use neuron_drivers::harness::{Direct, Options, Shared};
use neuron_drivers::neuron::{self, HostNeuron, Paths};
use neuron_drivers::simdrv::{Action, Config, Rule, When};
use std::process::Command;

/// Runs two loads side by side; their exit statuses. Neither may take two minutes.
fn both(host: &Shared, first: &str, second: &str) -> Option<String> {
    let load = "timeout -s KILL 120 \"$0\" load --allow-opaque --device /dev/neuron0";
    let script = format!(
        "{load} {first} \"$1\" >/dev/null 2>&1 & p=$!; {load} {second} \"$1\" >/dev/null 2>&1 & q=$!; \
         wait $p; a=$?; wait $q; b=$?; echo $a $b"
    );
    let mut command = Command::new("/bin/bash");
    command.arg("-c").arg(script).arg(neffload().get_program()).arg(fixture("cayman-2core"));
    let output = run(host, command)?;
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[test]
fn for_cores() {
    let host = host(Config::new(Arch::Cayman));
    for (first, second, fits) in [
        ("--core 0 --repeat 5", "--core 4 --repeat 5", true),
        ("--core 2 --repeat 5", "--core 2 --repeat 5", false),
    ] {
        let Some(codes) = both(&host, first, second) else { return };
        // Contenders for the same cores: whoever comes second is refused, or comes when the first is done.
        let allowed: &[&str] = if fits { &["0 0"] } else { &["0 0", "0 1", "1 0"] };
        assert!(allowed.contains(&codes.as_str()), "{first} and {second}: {codes}");
        assert_clean(&host, "cores");
    }
}

/// Cores that somebody holds are a refusal that names them.
#[test]
fn for_cores_that_are_held() {
    let host = host(Config::new(Arch::Cayman));
    let direct = Direct::new(&host, &Options::default(), 999_999);
    let options = neuron::Options { first_core: 2, cores: 2, ..neuron::Options::ALL };
    let holder: HostNeuron<&Direct> =
        HostNeuron::open(&direct, &Paths::LINUX, 0, options, Vec::new()).unwrap();
    let file = fixture("cayman-2core");
    let Some((status, document)) = loaded(&host, load(&file, &["--core", "2"])) else { return };
    assert_eq!((status, code(&document)), (1, "D208"));
    assert_eq!(document["verdict"]["status_name"], "NRT_LOAD_NOT_ENOUGH_NC");
    let Some((status, _)) = loaded(&host, load(&file, &["--core", "4"])) else { return };
    assert_eq!(status, 0);
    drop(holder);
    let Some((status, _)) = loaded(&host, load(&file, &["--core", "2"])) else { return };
    assert_eq!(status, 0);
    assert_clean(&host, "held cores");
}

/// A neighbour that takes all memory of an HBM is a refusal, and no block is left of the load that failed.
#[test]
fn for_memory() {
    let host = host(Config::new(Arch::Cayman));
    let direct = Direct::new(&host, &Options::default(), 999_999);
    let options = neuron::Options { claim: false, reset: false, initialise: false, ..neuron::Options::ALL };
    let hog: HostNeuron<&Direct> = HostNeuron::open(&direct, &Paths::LINUX, 0, options, Vec::new()).unwrap();
    let take = |size| {
        let (core, place, usage) = (CoreId(0), Place::Hbm(0), Usage::Tensor);
        let spec = AllocSpec { core, place, size, align: 0, usage, tag: "hog", contiguous: false };
        while hog.alloc(&spec).is_ok() {}
        assert_eq!(hog.alloc(&spec), Err(DeviceError::OutOfMemory));
    };
    [1 << 30, 1 << 20, 4096 * 16].into_iter().for_each(take);
    let file = fixture("cayman-2core");
    let Some((status, document)) = loaded(&host, load(&file, &[])) else { return };
    assert_eq!((status, code(&document)), (1, "D101"), "{}", document["verdict"]);
    assert_eq!(host.lock().driver.books().chunks, hog.live());
    // Another HBM is not its neighbour's.
    let Some((status, _)) = loaded(&host, load(&file, &["--core", "2"])) else { return };
    assert_eq!(status, 0);
    drop(hog);
    let Some((status, _)) = loaded(&host, load(&file, &[])) else { return };
    assert_eq!(status, 0);
    assert_clean(&host, "memory");
}

/// Both reset their cores and wait, again and again, while an operator resets the whole device now and then.
#[test]
fn for_resets() {
    let host = host(Config { reset_us: 20_000, ..Config::new(Arch::Cayman) });
    for nth in [20, 150, 400] {
        host.lock().driver.faults_mut().add(Rule { when: When::Event, nth, action: Action::ResetByOther });
    }
    let Some(codes) = both(&host, "--core 0 --repeat 3", "--core 6 --repeat 3") else { return };
    // A reset in the middle of a start takes the core's initialisation away, which is a refusal.
    assert!(["0 0", "0 1", "1 0"].contains(&codes.as_str()), "{codes}");
    host.lock().driver.faults_mut().clear();
    assert_clean(&host, "resets");
    assert_eq!(both(&host, "--core 0", "--core 6").as_deref(), Some("0 0"));
    assert_clean(&host, "after resets");
}
