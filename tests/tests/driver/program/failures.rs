//! Loads whose device fails late, or all the way: the first error is reported (driver-abi.md §10.3), and an internal
//! error never is.

use super::{code, host, load, loaded, run};
use crate::real;
use loader_core::arch::Arch;
use neffload_tests::command::{Scratch, neffload, status};
use neffload_tests::fixture;
use neuron_drivers::abi::errno;
use neuron_drivers::abi::request as req;
use neuron_drivers::simdrv::{Action, Books, Config, FaultPoint, Rule, Version, When};
use serde_json::Value;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// One load with rules; its code. Whatever happens, the second load works.
fn load_with(config: Config, rules: impl IntoIterator<Item = Rule>) -> Option<(i32, Value)> {
    let host = host(config);
    rules.into_iter().for_each(|rule| host.lock().driver.faults_mut().add(rule));
    let first = loaded(&host, load(&fixture("cayman-2core"), &[]))?;
    host.lock().driver.faults_mut().clear();
    assert_eq!(host.lock().driver.books(), Books::default(), "{}", first.1["verdict"]);
    Some(first)
}

/// The number of a request, as scripts count it.
const fn number(request: u32) -> u8 {
    request.to_le_bytes()[0]
}

/// How often a plain load makes a request.
fn count(request: &str) -> Option<u64> {
    let (_, document) = load_with(Config::new(Arch::Cayman), [])?;
    document["ioctls"][request].as_u64()
}

/// Fault point 11 at every allocation: the table stays down, so that nothing can be freed either.
#[test]
fn the_handle_table_runs_out() {
    if real::is_in_use("the_handle_table_runs_out") {
        return;
    }
    let Some(allocations) = count("MEM_ALLOC_V2MT64") else { return };
    assert!(allocations > 10, "{allocations}");
    for version in [Version::V2_24, Version::V2_30] {
        for nth in (1..=allocations).step_by(5).chain([allocations]) {
            let rule = FaultPoint::new(11).unwrap().rule(nth).unwrap();
            let (status, document) = load_with(Config::with_version(Arch::Cayman, version), [rule]).unwrap();
            assert_eq!((status, code(&document)), (1, "D112"), "{version:?}, allocation {nth}");
        }
    }
}

/// Everything fails from some call on.
#[test]
fn the_device_goes_away() {
    if real::is_in_use("the_device_goes_away") {
        return;
    }
    let host = host(Config::new(Arch::Cayman));
    let Some((0, _)) = loaded(&host, load(&fixture("cayman-2core"), &[])) else { return };
    let events = host.lock().driver.events();
    let mut codes = std::collections::BTreeSet::new();
    for from in (1..events).step_by(17) {
        let rule = |nth| Rule { when: When::Event, nth, action: Action::Return(-i64::from(errno::EIO)) };
        let (status, document) =
            load_with(Config::new(Arch::Cayman), (from..from + 3 * events).map(rule)).unwrap();
        // Close to the end there is nothing left to fail.
        let code = code(&document).to_owned();
        assert!(status == 1 && code.starts_with('D') || status == 0, "from {from}: {}", document["verdict"]);
        codes.insert(code);
    }
    assert!(codes.contains("D106") && codes.contains("D213"), "{codes:?}");
}

/// The driver takes nothing back at unload: its fault, with what it said.
#[test]
fn memory_is_not_taken_back() {
    if real::is_in_use("memory_is_not_taken_back") {
        return;
    }
    for (raw, words) in [
        (-i64::from(errno::EPERM), "timeout or bad ring"),
        (-i64::from(errno::ENOENT), "no such handle"),
        (-i64::from(errno::EINTR), "errno 4"),
        (-i64::from(errno::EIO), "errno 5"),
        (-i64::from(errno::ENOMEM), "errno 12"),
        (-i64::from(errno::EACCES), "errno 13"),
        (-i64::from(errno::EFAULT), "errno 14"),
        (-i64::from(errno::EBUSY), "errno 16"),
        (-i64::from(errno::EINVAL), "no such handle"),
        (8, "positive result 8"),
    ] {
        let rule = Rule { when: When::Request(number(req::MEM_FREE)), nth: 0, action: Action::Return(raw) };
        let Some((status, document)) = load_with(Config::new(Arch::Cayman), [rule]) else { return };
        let text = document["verdict"]["message"].as_str().unwrap_or("");
        assert_eq!((status, code(&document)), (1, "D213"), "{raw}: {}", document["verdict"]);
        assert!(text.contains(words), "{raw}: {}", document["verdict"]);
        // An error before that stays the verdict.
        let early = Rule { when: When::AllocDevice, nth: 9, action: Action::OutOfMemory };
        let (status, document) = load_with(Config::new(Arch::Cayman), [rule, early]).unwrap();
        assert_eq!((status, code(&document)), (1, "D101"), "{raw}: {}", document["verdict"]);
    }
}

/// EINTR does not come from the driver (§12.1), but a filter around the process may give it. Requests that may be made
/// twice are; for an allocation the handle tells whether it was granted; the rest is refused.
#[test]
fn interrupted_requests() {
    if real::is_in_use("interrupted_requests") {
        return;
    }
    let interrupted = |request, nth| {
        let action = Action::Return(-i64::from(errno::EINTR));
        load_with(Config::new(Arch::Cayman), [Rule { when: When::Request(number(request)), nth, action }])
    };
    for request in [
        req::COMPATIBLE_VERSION,
        req::DEVICE_BASIC_INFO,
        req::DRIVER_INFO_GET,
        req::GET_LOGICAL_TO_PHYSICAL_NC_MAP,
        req::POD_STATUS_V2,
        req::MEM_ALLOC_V2MT64,
        req::MEM_GET_PA,
        req::MEM_BUF_COPY64,
        req::MEM_FREE,
    ] {
        for nth in [1, 2] {
            let Some((status, document)) = interrupted(request, nth) else { return };
            assert_eq!(status, 0, "{request:#x}: {}", document["verdict"]);
        }
    }
    // One that never ends is a refusal.
    for request in [req::DEVICE_BASIC_INFO, req::MEM_ALLOC_V2MT64, req::MEM_BUF_COPY64] {
        let (status, document) = interrupted(request, 0).unwrap();
        assert_eq!(status, 1, "{request:#x}: {}", document["verdict"]);
        assert!(["D106", "D212"].contains(&code(&document)), "{request:#x}: {}", document["verdict"]);
    }
    for request in [req::CRWL_NC_RANGE_MARK_EXT0, req::NC_RESET, req::NC_RESET_READY, req::CINIT_SET_STATE] {
        let (status, document) = interrupted(request, 1).unwrap();
        assert_eq!((status, code(&document)), (1, "D212"), "{request:#x}: {}", document["verdict"]);
    }
}

/// What lies where a node should be is no device; nothing waits for it.
#[test]
fn something_else_in_place_of_a_node() {
    let scratch = Scratch::new("no-node");
    let pipe = scratch.join("neuron0");
    if !Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        return crate::rig::skipped("something_else_in_place_of_a_node", "there is no mkfifo");
    }
    fs::write(scratch.join("neuron1"), "text").unwrap();
    let long = format!("/{}/neuron0", "long/".repeat(60));
    for (path, expected) in [
        (pipe.to_string_lossy().into_owned(), "D201"),
        (scratch.join("neuron1").to_string_lossy().into_owned(), "D212"),
        (long, "D202"),
    ] {
        let mut command = neffload();
        command.args(["load", "--json", "--device", &path]).arg(fixture("cayman-2core"));
        let start = Instant::now();
        let output = command.output().unwrap();
        let document = neffload_tests::command::document(&output);
        assert_eq!((status(&output), code(&document)), (1, expected), "{path}: {}", document["verdict"]);
        assert!(start.elapsed() < Duration::from_secs(20), "{path}");
        assert!(
            expected != "D202" || document["verdict"]["message"].as_str().unwrap().contains("/long/long")
        );
    }
}

/// `devices` prints what sysfs says, but no control characters; a folder that it may not look into is an error.
#[test]
fn devices_of_a_hostile_host() {
    let scratch = Scratch::new("hostile-sysfs");
    let info = scratch.join("class/neuron0/info/architecture");
    fs::create_dir_all(&info).unwrap();
    fs::write(info.join("instance_type"), "trn2\x1b[31m\x07").unwrap();
    fs::write(scratch.join("version"), "2.24\x1b]0;x").unwrap();
    fs::write(scratch.join("neuron0"), "").unwrap();
    let folder = scratch.join("");
    let folder = folder.to_string_lossy().trim_end_matches('/').to_owned();
    let class = format!("{folder}/class");
    let devices = |folder: &str| {
        let mut command = neffload();
        command
            .args(["devices", "--device-dir", folder, "--sysfs", &class, "--module"])
            .arg(scratch.join(""));
        command.output().unwrap()
    };
    let output = devices(&folder);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("trn2\\u{1b}[31m") && text.contains("2.24\\u{1b}]"), "{text}");
    assert!(!text.contains(|letter: char| letter.is_control() && letter != '\n'), "{text}");
    let hidden = devices(&format!("{folder}/neuron0"));
    assert_eq!(status(&hidden), 2, "{}", String::from_utf8_lossy(&hidden.stderr));
}

/// Zeros take no memory of the host, and large blocks give theirs back.
#[test]
fn zeros_take_no_memory() {
    use crate::rig::{Ask, DEVICE, case_on};
    use neuron_drivers::abi::record::Memset64;
    const GIB: u64 = 1 << 30;
    let config = Config { forget_freed: 64 << 20, ..Config::new(Arch::Cayman) };
    case_on(config, &neuron_drivers::harness::Options::default(), |rig| {
        let blocks = || {
            let size = |metadata: fs::Metadata| std::os::unix::fs::MetadataExt::blocks(&metadata) * 512;
            rig.driver(|driver| size(driver.device(0).memory().file().metadata().unwrap()))
        };
        let fd = rig.fd();
        let handle = rig.alloc(fd, Ask { size: GIB, ..DEVICE });
        let fill = |value: u32, size: u64| {
            let mut raw = Memset64::default();
            raw.mem_handle.set(handle);
            raw.value.set(value);
            raw.size.set(size);
            assert_eq!(rig.send(fd, req::MEMSET64, &raw), 0);
        };
        let before = blocks();
        fill(7, 1 << 20);
        rig.write(fd, handle, (1 << 20) - 3, b"abcdef");
        fill(0, GIB);
        assert_eq!(blocks(), before, "zeros");
        assert_eq!(rig.read(fd, handle, (1 << 20) - 3, 6), [0; 6]);
        // Only what was asked for.
        fill(7, 3 << 20);
        fill(0, (1 << 20) + 5);
        assert_eq!(rig.read(fd, handle, (1 << 20) + 3, 4), [0, 0, 7, 7]);
        assert_eq!(rig.free(fd, handle), 0);
        assert_eq!(blocks(), before, "freed");
        rig.client.close(fd);
    });
}

/// A load that others disturb at every step is refused with a device's code, never with an internal error.
#[test]
fn blocks_vanish_one_by_one() {
    if real::is_in_use("blocks_vanish_one_by_one") || !super::clients::has_python("blocks_vanish_one_by_one")
    {
        return;
    }
    let host = host(Config {
        strictness: neuron_drivers::simdrv::Strictness::Faithful,
        ..Config::new(Arch::Cayman)
    });
    let mut command = Command::new("python3");
    let tool = neffload().get_program().to_owned();
    command.arg(super::clients::script()).arg("disturbed").arg(tool).arg(fixture("cayman-2core"));
    let Some(output) = run(&host, command) else { return };
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(status(&output), 0, "{said}");
    assert!(!said.contains("S901"), "{said}");
    assert_eq!(host.lock().driver.books(), Books::default());
}
