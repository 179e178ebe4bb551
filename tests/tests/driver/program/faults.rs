//! Every fault point, one load each.

use super::{assert_clean, code, host, load, loaded, start};
use loader_core::arch::Arch;
use neffload_tests::fixture;
use neuron_drivers::abi::record::MemFree;
use neuron_drivers::abi::request as req;
use neuron_drivers::harness::{Client, Options, Shared};
use neuron_drivers::neuron::Access;
use neuron_drivers::simdrv::{Action, Books, Config, FaultPoint, Rule, When};
use std::process::{Command, Stdio};
use zerocopy::IntoBytes as _;

/// What a load comes to: the code of its refusal and the runtime's status number, or nothing where a load does not
/// meet the fault or gets round it.
fn expected(point: u8) -> (&'static str, u64) {
    match point {
        1 => ("D204", RESOURCE),
        2 | 28 => ("D203", HW_ERROR),
        3 => ("D205", FAILURE),
        4 => ("D206", FAILURE),
        6 => ("D208", NOT_ENOUGH_CORES),
        8 => ("D209", HW_ERROR),
        9 | 13 => ("D101", RESOURCE),
        // Memory is left, handles are not: "refused for another reason" (staging.md §4).
        11 => ("D112", FAILURE),
        12 | 15 | 16 | 36 => ("D108", FAILURE),
        // A copy that fails is a FAILURE, whatever kept the engine (staging.md §4, T63).
        17 | 18 => ("D109", FAILURE),
        35 => ("D210", TIMEOUT),
        // 5 and 32: an older driver. 7: collected and asked again. 33: waited for. 19: nobody notices a flipped bit.
        // 14: a scratchpad grows as far as it can, and what does not fit is placed by itself. 27: memory survives a
        // reset. 10, 20 to 26, 34: host memory, queues and windows are not a load's.
        _ => ("", 0),
    }
}

/// Status numbers of the runtime.
const FAILURE: u64 = 1;
const RESOURCE: u64 = 4;
const TIMEOUT: u64 = 5;
const HW_ERROR: u64 = 6;
const NOT_ENOUGH_CORES: u64 = 9;

/// Which occurrence of the matching call fails. The second event is the first request; the first allocation is a
/// page of the scratchpad (see 14).
fn occurrence(point: u8) -> u64 {
    if matches!(point, 9 | 36) { 2 } else { 1 }
}

fn arm(host: &Shared, point: FaultPoint) {
    let mut state = host.lock();
    if point.number() == 16 {
        // The fixture's copies are shorter than the block that the point lets through.
        let (when, action) = (When::Request(24), Action::UserFaultAfter(0));
        state.driver.faults_mut().add(Rule { when, nth: 1, action });
    } else {
        state.driver.arm(point, occurrence(point.number()));
    }
}

#[test]
fn every_fault_point() {
    let file = fixture("cayman-2core");
    for point in FaultPoint::all().filter(|point| !point.is_external()) {
        let what = format!("FI{}", point.number());
        let host = host(Config::new(Arch::Cayman));
        arm(&host, point);
        let Some((status, document)) = loaded(&host, load(&file, &[])) else { return };
        let (verdict, expected) = (&document["verdict"], expected(point.number()));
        assert_eq!(
            (code(&document), verdict["status"].as_u64()),
            (expected.0, Some(expected.1)),
            "{what}: {verdict}"
        );
        assert_eq!(status, i32::from(expected.1 != 0), "{what}");
        host.lock().driver.disarm(point);
        assert_eq!(host.lock().driver.books(), Books::default(), "{what}");
        host.lock().driver.take_violations();
        let Some((status, document)) = loaded(&host, load(&file, &[])) else { return };
        assert_eq!(status, 0, "{what}, second load: {}", document["verdict"]);
        assert_clean(&host, &what);
    }
}

/// Fault point 29: signals that kill nobody change nothing, also while the loader sleeps in the driver.
#[test]
fn signals_change_nothing() {
    let host = host(Config { reset_us: 200_000, ..Config::new(Arch::Cayman) });
    let mut command = load(&fixture("cayman-2core"), &["--repeat", "3"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let Some(mut launched) = start(&host, &mut command) else { return };
    let (pid, mut sent) = (launched.child.id().to_string(), 0);
    while launched.child.try_wait().unwrap().is_none() {
        for signal in ["-WINCH", "-CONT", "-URG"] {
            sent += i32::from(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        }
    }
    assert!(launched.child.wait().unwrap().success());
    launched.settle();
    assert!(sent > 3, "{sent}");
    assert_clean(&host, "signals");
}

/// Fault point 31: somebody frees our blocks while we load. The load may fail, but nothing is left.
#[test]
fn somebody_frees_our_blocks() {
    for after in [40, 80, 120] {
        let host = host(Config::new(Arch::Cayman));
        let mut command = load(&fixture("cayman-2core"), &[]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let Some(mut launched) = start(&host, &mut command) else { return };
        while host.lock().driver.events() < after && launched.child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let (scratch, options) = Client::prepare(4096, &Options::default()).unwrap();
        let other = Client::direct(&host, &options, 999_999, scratch);
        let fd = other.open(0, Access::ReadWrite).unwrap();
        for handle in 1..6 {
            let mut raw = MemFree::default();
            raw.mem_handle.set(handle);
            other.scratch().put(0, raw.as_bytes());
            let _ = other.ioctl(fd, req::MEM_FREE, other.scratch().address(0));
        }
        other.close(fd);
        let status = launched.child.wait().unwrap();
        assert!(matches!(status.code(), Some(0 | 1)), "{status}");
        launched.settle();
        let books = host.lock().driver.books();
        assert!(books.are_empty(), "{books}");
        host.lock().driver.take_violations();
        let Some((status, _)) = loaded(&host, load(&fixture("cayman-2core"), &[])) else { return };
        assert_eq!(status, 0);
        assert_clean(&host, "after a free by somebody else");
    }
}
