//! M. Whole loads.

use crate::loads::{fixture_for, lines, load_and_unload, load_and_unload_at, process, requests};
use crate::real;
use crate::rig::skipped;
use loader_core::arch::Arch;
use loader_core::error::Error;
use loader_std::{LoadOptions, Loader, Memory};
use neffload_tests::workspace;
use neuron_drivers::harness::{Direct, Options, Shared, inside};
use neuron_drivers::neuron::{self, HostNeuron, Libc, Paths};
use neuron_drivers::simdrv::{Action, Books, Config, FaultPoint, Rule, Version, When};
use std::sync::Barrier;

/// After a process went: nothing is held and nothing was done that the driver merely tolerates.
fn assert_clean(host: &Shared, what: &str) {
    let mut state = host.lock();
    let books = state.driver.books();
    assert!(books.are_empty(), "{what}: {books}");
    assert_eq!(state.driver.take_violations(), [], "{what}");
    assert_eq!(state.stops, [], "{what}");
}

#[test]
fn driver_m1() {
    if let Some(device) = real::device() {
        let file = fixture_for(device.identity().arch);
        return load_and_unload_at(Libc, &device.paths(), device.index(), &file, neuron::Options::ALL)
            .unwrap();
    }
    for arch in Arch::ALL {
        let (host, direct) = process(Config::new(arch), 100);
        load_and_unload(&direct, &fixture_for(arch), neuron::Options::ALL).unwrap();
        assert_clean(&host, arch.name());
        let trace = host.lock().driver.take_trace();
        let path = workspace().join("tests").join("traces").join(format!("load-{arch}.txt"));
        let made = lines(&trace);
        if std::env::var_os("NEFFLOAD_WRITE_TRACES").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &made).unwrap();
        }
        assert_eq!(made, std::fs::read_to_string(&path).unwrap(), "{arch}");
        let names = requests(&trace);
        let count = |name: &str| names.iter().filter(|other| **other == name).count();
        assert_eq!(count("MEM_ALLOC_V2MT64"), count("MEM_FREE"), "{arch}");
        assert_eq!(count("MEM_ALLOC_V2MT64"), count("MEM_GET_PA"), "{arch}");
        assert_eq!(names[0], "COMPATIBLE_VERSION");
        assert_eq!(names.last(), Some(&"CRWL_NC_RANGE_UNMARK_EXT0"));
    }
}

/// The same load through real system calls makes the same requests.
#[test]
fn driver_m1_through_the_kernel() {
    if real::is_in_use("driver_m1_through_the_kernel") {
        return;
    }
    let host = Shared::new(Config::new(Arch::Cayman)).unwrap();
    let run = || load_and_unload(Libc, &fixture_for(Arch::Cayman), neuron::Options::ALL);
    match inside(&host, &Options::default(), run) {
        Err(reason) => return skipped("M1 through the kernel", &reason.to_string()),
        Ok(done) => done.unwrap(),
    }
    assert_clean(&host, "kernel");
    let (straight, direct) = process(Config::new(Arch::Cayman), 100);
    load_and_unload(&direct, &fixture_for(Arch::Cayman), neuron::Options::ALL).unwrap();
    let (made, expected) = (host.lock().driver.take_trace(), straight.lock().driver.take_trace());
    assert_eq!(requests(&made), requests(&expected));
}

/// Loads once with a rule; then, on the same host without it, once more.
fn with_rule(config: Config, file: &[u8], rule: Rule, what: &str) -> Result<(), Error> {
    let (host, direct) = process(config, 100);
    host.lock().driver.faults_mut().add(rule);
    let first = load_and_unload(&direct, file, neuron::Options::ALL);
    host.lock().driver.faults_mut().clear();
    // What a failed request of the release itself left goes with the process, as the kernel promises.
    direct.exit();
    let books = host.lock().driver.books();
    assert!(books.are_empty(), "{what}: {books}");
    host.lock().driver.take_violations();
    let second = Direct::new(&host, &Options::default(), 101);
    load_and_unload(&second, file, neuron::Options::ALL).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_clean(&host, what);
    first
}

/// Events of one load.
fn events(config: Config, file: &[u8]) -> u64 {
    let (host, direct) = process(config, 100);
    load_and_unload(&direct, file, neuron::Options::ALL).unwrap();
    host.lock().driver.events()
}

#[test]
fn driver_m2() {
    if real::is_in_use("driver_m2") {
        return;
    }
    let config = Config::new(Arch::Cayman);
    let file = fixture_for(Arch::Cayman);
    let count = events(config, &file);
    let mut refused = 0;
    for nth in 1..=count {
        for raw in [-1, -2, -5, -12, -16, -22, 8] {
            let rule = Rule { when: When::Event, nth, action: Action::Return(raw) };
            refused +=
                u64::from(with_rule(config, &file, rule, &format!("event {nth} gives {raw}")).is_err());
        }
    }
    // Errors of the release have nowhere to go, and some requests have a fallback or are optional.
    assert!(refused > count * 3, "{refused} of {} were refused", count * 7);
    println!("{} single faults in {count} events", count * 7);
}

/// Every fault point on every architecture: nothing is left, and a second load works.
#[test]
fn fault_points() {
    if real::is_in_use("fault_points") {
        return;
    }
    for arch in Arch::ALL {
        let file = fixture_for(arch);
        for point in FaultPoint::all().filter(|point| !point.is_external()) {
            let what = format!("FI{} on {arch}", point.number());
            let (host, direct) = process(Config::new(arch), 100);
            host.lock().driver.arm(point, 1);
            // What the outcome must be is a matter of the command's tests.
            let _ = load_and_unload(&direct, &file, neuron::Options::ALL);
            direct.exit();
            host.lock().driver.disarm(point);
            assert_eq!(host.lock().driver.books(), Books::default(), "{what}");
            host.lock().driver.take_violations();
            load_and_unload(&direct, &file, neuron::Options::ALL)
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_clean(&host, &what);
        }
    }
}

#[test]
fn driver_m3() {
    if real::is_in_use("driver_m3") {
        return;
    }
    let config = Config::new(Arch::Cayman);
    let host = Shared::new(config).unwrap();
    let start = Barrier::new(2);
    let owners = std::thread::scope(|scope| {
        let workers = [(100, 0u16), (200, 4)].map(|(tgid, first_core)| {
            let (host, start) = (&host, &start);
            scope.spawn(move || {
                let direct = Direct::new(host, &Options::default(), tgid);
                let options = neuron::Options { first_core, cores: 4, ..neuron::Options::ALL };
                let device: HostNeuron<_> =
                    HostNeuron::open(&direct, &Paths::LINUX, 0, options, Vec::new()).unwrap();
                start.wait();
                let claims: Vec<u32> = (0..8).map(|slot| host.lock().driver.claim(slot)).collect();
                let loader = Loader::new(device);
                let load = LoadOptions { core: first_core, threads: 1, ..untranslated() };
                let mut memory = Memory::with_arena(8 << 20);
                for _ in 0..5 {
                    drop(loader.load(&fixture_for(Arch::Cayman), &mut memory, &load).unwrap());
                }
                claims
            })
        });
        workers.map(|worker| worker.join().unwrap())
    });
    assert_eq!(owners, [[100, 100, 100, 100, 200, 200, 200, 200], [100, 100, 100, 100, 200, 200, 200, 200]]);
    assert_clean(&host, "two processes");
}

#[test]
fn driver_m4() {
    if real::is_in_use("driver_m4") {
        return;
    }
    for arch in Arch::ALL {
        let file = fixture_for(arch);
        for nth in 1..=events(Config::new(arch), &file) {
            let rule = Rule { when: When::Event, nth, action: Action::ResetByOther };
            let _ = with_rule(Config::new(arch), &file, rule, &format!("{arch}: reset before event {nth}"));
        }
    }
}

#[test]
fn driver_m5() {
    if real::is_in_use("driver_m5") {
        return;
    }
    for arch in Arch::ALL {
        for version in Version::ALL {
            let (host, direct) = process(Config::with_version(arch, version), 100);
            load_and_unload(&direct, &fixture_for(arch), neuron::Options::ALL).unwrap();
            assert_clean(&host, version.text());
        }
    }
}

#[test]
fn driver_m6() {
    if real::is_in_use("driver_m6") {
        return;
    }
    for arch in Arch::ALL {
        let config = Config { old_forms_only: true, ..Config::with_version(arch, Version::V2_30) };
        let (host, direct) = process(config, 100);
        load_and_unload(&direct, &fixture_for(arch), neuron::Options::ALL).unwrap();
        assert_clean(&host, arch.name());
        let names = requests(&host.lock().driver.take_trace());
        assert!(names.contains(&"MEM_ALLOC_V2MT") && names.contains(&"MEM_BUF_COPY"));
    }
}
