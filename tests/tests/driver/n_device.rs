//! The device that the loader drives: its own checks, its fallbacks, its queues.

use crate::loads::{process, requests};
use crate::rig::skipped;
use loader_core::arch::Arch;
use loader_core::device::{
    AllocSpec, CoreId, Device, DeviceError, Granted, MemHandle, Place, QueueControl, QueueId, QueueSpec,
    Side, Usage,
};
use neuron_drivers::abi::request as req;
use neuron_drivers::harness::{Direct, Options, Shared, inside};
use neuron_drivers::neuron::{
    self, Bare, Block, HostNeuron, Libc, Line, LocalNeuron, Paths, Sys, Traced, devices, driver_version,
    identify,
};
use neuron_drivers::sim;
use neuron_drivers::simdrv::{Action, Config, FaultPoint, Kind, Rule, Version, When};
use std::cell::RefCell;

fn spec(size: u64, align: u64) -> AllocSpec<'static> {
    let place = Place::Hbm(0);
    AllocSpec { core: CoreId(0), place, size, align, usage: Usage::Weight, tag: "t", contiguous: false }
}

fn open(direct: &Direct) -> HostNeuron<&Direct> {
    HostNeuron::open(direct, &Paths::LINUX, 0, neuron::Options::ALL, Vec::new()).unwrap()
}

#[test]
fn discovery_opens_nothing() {
    let config = Config { devices: 3, ..Config::with_version(Arch::Cayman, Version::V2_27) };
    let (host, direct) = process(config, 100);
    let paths = Paths::LINUX;
    let found: Vec<_> = devices(&&direct, &paths).collect();
    assert_eq!(
        found.iter().map(|one| (one.index, one.cores)).collect::<Vec<_>>(),
        [(0, Some(8)), (1, Some(8)), (2, Some(8))]
    );
    assert_eq!(found[1].generation.unwrap().as_str(), "NDv3");
    assert_eq!(found[1].instance.unwrap().as_str(), "trn2");
    assert_eq!(driver_version(&&direct, &paths).unwrap().as_str(), "2.27.4.0");
    assert!(host.lock().driver.trace().is_empty());
    let identity = identify(&direct, &paths, 2).unwrap();
    assert_eq!((identity.arch, identity.features, identity.interfaces), (Arch::Cayman, 0x1FF, (10, 11)));
    assert_eq!(identity.logical, [4, 5, 6, 7, 2, 3, 0, 1]);
    assert_eq!(identify(&direct, &paths, 3).unwrap_err().id().to_string(), "D201");
}

#[test]
fn requests_are_judged_before_the_driver_sees_them() {
    let (host, direct) = process(Config::new(Arch::Cayman), 100);
    let device = open(&direct);
    let before = host.lock().driver.events();
    for (bad, expected) in [
        (spec(0, 0), DeviceError::BadRequest),
        (spec(1, 3), DeviceError::BadRequest),
        (spec(1 << 63, 0), DeviceError::BadRequest),
        (spec(1, 1 << 31), DeviceError::AlignmentUnsupported),
        (AllocSpec { core: CoreId(8), ..spec(1, 0) }, DeviceError::BadRequest),
        (AllocSpec { place: Place::Hbm(4), ..spec(1, 0) }, DeviceError::BadRequest),
        (AllocSpec { place: Place::Host, align: 8192, ..spec(1, 0) }, DeviceError::AlignmentUnsupported),
    ] {
        assert_eq!(device.alloc(&bad), Err(expected), "{bad:?}");
    }
    assert_eq!(host.lock().driver.events(), before);
    let block = device.alloc(&spec(100, 0)).unwrap();
    assert_eq!((block.bytes, device.live()), (4096, 1));
    assert_eq!(device.write(block.handle, 4000, &[0; 97]), Err(DeviceError::OutOfRange));
    assert_eq!(device.write(block.handle, u64::MAX, &[0; 2]), Err(DeviceError::OutOfRange));
    // Nothing to copy is nothing to ask for: size 0 is a trap.
    let before = host.lock().driver.events();
    device.write(block.handle, 0, &[]).unwrap();
    assert_eq!(host.lock().driver.events(), before);
    device.free(block.handle).unwrap();
    assert_eq!(device.free(block.handle), Err(DeviceError::BadHandle));
    assert_eq!(device.write(block.handle, 0, &[1]), Err(DeviceError::BadHandle));
    let again = device.alloc(&spec(100, 0)).unwrap();
    assert_ne!(again.handle, block.handle);
    drop(device);
    assert!(host.lock().driver.books().are_empty());
    assert_eq!(host.lock().driver.violations(), []);
}

#[test]
fn blocks_are_freed_youngest_first() {
    let (host, direct) = process(Config::new(Arch::Cayman), 100);
    let device = open(&direct);
    let page = AllocSpec { contiguous: true, usage: Usage::Scratchpad, ..spec(64 << 20, 0x40_0000) };
    let pages: Vec<Granted> = (0..4).map(|_| device.alloc(&page).unwrap()).collect();
    assert!(pages.windows(2).all(|pair| pair[1].base.0 + (64 << 20) == pair[0].base.0));
    drop(device);
    // Another order would be a violation of the contiguous scratchpad.
    assert_eq!(host.lock().driver.violations(), []);
}

fn descriptor(control: u32, meta: u32, address: u64) -> [u8; 16] {
    let mut out = [0; 16];
    out[..4].copy_from_slice(&control.to_le_bytes());
    out[4..8].copy_from_slice(&meta.to_le_bytes());
    out[8..].copy_from_slice(&address.to_le_bytes());
    out
}

/// Programs a queue, copies through it, parks it and frees its rings.
fn copy_through_queue<D: Device + QueueControl>(device: &D) {
    let block = |size| device.alloc(&spec(size, 0)).unwrap();
    let (tx, rx, src, dst) = (block(4096), block(4096), block(4096), block(4096));
    let id = QueueId { engine: 3, queue: 5 };
    let queue = QueueSpec { id, tx: (tx.handle, 64), rx: (rx.handle, 64) };
    assert_eq!(device.init_queue(&QueueSpec { tx: (tx.handle, 512), ..queue }), Err(DeviceError::OutOfRange));
    assert_eq!(device.init_queue(&QueueSpec { tx: (tx.handle, 40), ..queue }), Err(DeviceError::BadRequest));
    let taken = QueueId { engine: 128, queue: 0 };
    assert_eq!(device.init_queue(&QueueSpec { id: taken, ..queue }), Err(DeviceError::BadRequest));
    device.init_queues(&[queue]).unwrap();
    device.write(src.handle, 0, b"through the queue").unwrap();
    let sources = [descriptor(0x0D00_0000 | 17, 0x0108_0003, src.base.0)];
    device.write_descriptors(tx.handle, Side::Tx, 0, &sources).unwrap();
    device.write_descriptors(rx.handle, Side::Rx, 0, &[descriptor(0x0100_0000 | 17, 0, dst.base.0)]).unwrap();
    assert_eq!(device.write_descriptors(tx.handle, Side::Tx, 256, &sources), Err(DeviceError::OutOfRange));
    assert_eq!(device.start_queue(id, 1, 0), Err(DeviceError::BadRequest));
    device.start_queue(id, 1, 1).unwrap();
    let mut out = [0; 17];
    device.read(dst.handle, 0, &mut out).unwrap();
    assert_eq!(&out, b"through the queue");
    device.park_queue(id).unwrap();
    [dst, src, rx, tx].into_iter().for_each(|block| device.free(block.handle).unwrap());
}

/// The simulator runs queues by the same rules.
#[test]
fn queues_of_the_simulator() {
    for profile in [sim::Profile::Flat, sim::Profile::Driver] {
        let config = sim::Config { profile, ..sim::Config::flat(Arch::Cayman) };
        let device = sim::HostSim::new(config, sim::Growing::new(false));
        copy_through_queue(&device);
        // The ring that is too long is counted as the misuse that it is.
        assert_eq!(device.counters().out_of_range, 1);
    }
}

#[test]
fn queues_of_the_driver() {
    for version in Version::ALL {
        for old_forms_only in [false, true] {
            let config = Config { old_forms_only, ..Config::with_version(Arch::Cayman, version) };
            let (host, direct) = process(config, 100);
            let device = open(&direct);
            copy_through_queue(&device);
            drop(device);
            let mut state = host.lock();
            assert!(state.driver.books().are_empty(), "{}", state.driver.books());
            assert_eq!(state.driver.take_violations(), []);
        }
    }
}

/// One descriptor through a queue, and what arrived; as a caller that gives up at the first error.
fn try_queue<D: Device + QueueControl>(device: &D) -> Result<bool, DeviceError> {
    let [tx, rx, src, dst] = [
        device.alloc(&spec(4096, 0))?,
        device.alloc(&spec(4096, 0))?,
        device.alloc(&spec(4096, 0))?,
        device.alloc(&spec(4096, 0))?,
    ];
    let id = QueueId { engine: 3, queue: 5 };
    device.init_queues(&[QueueSpec { id, tx: (tx.handle, 64), rx: (rx.handle, 64) }])?;
    device.write(src.handle, 0, b"moved")?;
    device.write_descriptors(tx.handle, Side::Tx, 0, &[descriptor(0x0D00_0005, 0x0108_0003, src.base.0)])?;
    device.write_descriptors(rx.handle, Side::Rx, 0, &[descriptor(0x0100_0005, 0, dst.base.0)])?;
    device.start_queue(id, 1, 1)?;
    let mut out = [0; 5];
    device.read(dst.handle, 0, &mut out)?;
    device.park_queue(id)?;
    Ok(&out == b"moved")
}

/// The fault points that loads do not meet: queues, windows, registers, notifications.
#[test]
fn fault_points_of_queues_and_windows() {
    let config = Config::new(Arch::Cayman);
    // Refused once, the older form of a request does. A bus error is seen by what does not arrive.
    for (number, nth, expected) in [
        (21, 1, Ok(true)),
        (21, 0, Err(DeviceError::BadRequest)),
        (22, 1, Ok(true)),
        (23, 1, Err(DeviceError::TimeoutOrRing)),
        (24, 1, Err(DeviceError::TimeoutOrRing)),
        (34, 1, Ok(false)),
    ] {
        let (host, direct) = process(config, 100);
        let device = open(&direct);
        host.lock().driver.arm(FaultPoint::new(number).unwrap(), nth);
        assert_eq!(try_queue(&device), expected, "FI{number}");
        drop(device);
        assert!(host.lock().driver.books().are_empty(), "FI{number}");
        host.lock().driver.disarm(FaultPoint::new(number).unwrap());
        assert_eq!(try_queue(&open(&direct)), Ok(true), "FI{number}");
    }
    let (host, direct) = process(config, 100);
    let device = open(&direct);
    let block = device.alloc(&spec(4096, 0)).unwrap();
    host.lock().driver.arm(FaultPoint::new(26).unwrap(), 1);
    assert_eq!(device.map(block.handle).unwrap_err(), DeviceError::BadRequest);
    assert!(device.map(block.handle).is_ok());
    drop(device);
    assert!(host.lock().driver.books().are_empty());
}

/// Register and notification faults, on raw requests: the loader makes none of these.
#[test]
fn fault_points_of_registers_and_notifications() {
    crate::rig::case(|rig| {
        let fd = rig.fd();
        for (number, request, raw) in [(20, req::SEMAPHORE_READ, -5), (25, req::NOTIFICATIONS_INIT_V2, -12)] {
            rig.driver(|driver| driver.arm(FaultPoint::new(number).unwrap(), 1));
            rig.put(0, &[0; 64]);
            assert_eq!(rig.client.ioctl(fd, request, rig.address(0)), raw, "FI{number}");
        }
    });
}

/// Signals: an `open` that is interrupted is given up, one question is asked again, nothing else ever is.
#[test]
fn interrupted_calls() {
    let (host, direct) = process(Config::new(Arch::Cayman), 100);
    let device = open(&direct);
    let interrupt = |when, nth| {
        let rule = Rule { when, nth, action: Action::Return(-4) };
        host.lock().driver.faults_mut().add(rule);
    };
    interrupt(When::Request(25), 1);
    let block = device.alloc(&spec(4096, 0)).unwrap();
    let count =
        |name: &str| requests(host.lock().driver.trace()).iter().filter(|other| **other == name).count();
    assert_eq!((count("MEM_ALLOC_V2MT64"), count("MEM_GET_PA")), (1, 2));
    // Nothing was granted: the handle says so.
    interrupt(When::Request(102), 1);
    device.alloc(&spec(4096, 0)).unwrap();
    assert_eq!(count("MEM_ALLOC_V2MT64"), 3);
    // The same bytes to the same place.
    interrupt(When::Request(24), 1);
    device.write(block.handle, 0, b"x").unwrap();
    assert_eq!(count("MEM_BUF_COPY64"), 2);
    interrupt(When::Request(22), 1);
    assert_eq!(device.free(block.handle), Err(DeviceError::Io(4)));
    assert_eq!(
        count("MEM_FREE"),
        1,
        "the device does not repeat it; whoever unloads a model tries three times"
    );
    drop(device);
    assert!(host.lock().driver.books().are_empty());
}

/// More than 2 GiB goes in pieces: the driver would copy the size modulo 4 GiB.
#[test]
fn large_copies_are_cut() {
    let (host, direct) = process(Config::new(Arch::Cayman), 100);
    let device = open(&direct);
    let piece = 1usize << 31;
    let block = device.alloc(&spec(2 * piece as u64 + 4096, 0)).unwrap();
    // Zeros that the system has not backed with memory; the simulated driver answers without looking.
    let bytes = vec![0; 2 * piece + 1];
    host.lock().driver.faults_mut().add(Rule { when: When::Request(24), nth: 0, action: Action::Return(0) });
    device.write(block.handle, 0, &bytes).unwrap();
    let state = host.lock();
    let sizes: Vec<&str> = (state.driver.trace().iter())
        .filter(|entry| entry.name() == "MEM_BUF_COPY64")
        .map(|entry| if let Kind::Ioctl { detail, .. } = &entry.kind { detail.as_str() } else { "" })
        .collect();
    assert_eq!(sizes.len(), 3, "{sizes:?}");
}

/// What a program that the loader's thread starts has open, while the loader holds a device.
fn open_in_a_child<S: Sys + Copy>(sys: S) -> String {
    let device: HostNeuron<S> =
        HostNeuron::open(sys, &Paths::LINUX, 0, neuron::Options::ALL, Vec::new()).unwrap();
    let block = device.alloc(&spec(10, 0)).unwrap();
    let child = std::process::Command::new("ls").args(["-l", "/proc/self/fd"]).output().unwrap();
    assert!(child.status.success());
    // The child's exec and exit took nothing away.
    device.write(block.handle, 0, b"still there").unwrap();
    String::from_utf8(child.stdout).unwrap()
}

/// Descriptors are close-on-exec with either way of making system calls, and never duplicated.
#[test]
fn programs_inherit_no_descriptor() {
    let host = Shared::new(Config::new(Arch::Cayman)).unwrap();
    let run = || [open_in_a_child(Libc), open_in_a_child(Bare)];
    match inside(&host, &Options::default(), run) {
        Err(reason) => skipped("descriptors of a child", &reason.to_string()),
        Ok(listings) => {
            for listing in listings {
                assert!(listing.contains("-> ") && !listing.contains("neuron"), "{listing}");
            }
            assert_eq!(host.lock().driver.violations(), []);
            assert!(host.lock().driver.books().are_empty());
        }
    }
}

/// No heap, no C library: a table of the caller's and bare system calls, on the real system-call path.
#[test]
fn bare_system_calls_and_a_fixed_table() {
    let host = Shared::new(Config::new(Arch::Sunda)).unwrap();
    let run = || {
        let mut blocks = [Block::EMPTY; 2];
        let device: LocalNeuron<'_, Bare> =
            LocalNeuron::open(Bare, &Paths::LINUX, 0, neuron::Options::ALL, &mut blocks[..]).unwrap();
        let first = device.alloc(&spec(10, 0)).unwrap();
        device.alloc(&spec(10, 0)).unwrap();
        // The device has memory; the caller's table has no place for another block.
        assert_eq!(device.alloc(&spec(10, 0)), Err(DeviceError::HostMemory));
        device.write(first.handle, 3, b"bare").unwrap();
        let mut out = [0; 4];
        device.read(first.handle, 3, &mut out).unwrap();
        assert_eq!(&out, b"bare");
        assert_eq!(device.free(MemHandle { slot: 1, generation: 9 }), Err(DeviceError::BadHandle));
    };
    if let Err(reason) = inside(&host, &Options::default(), run) {
        return skipped("bare system calls", &reason.to_string());
    }
    assert!(host.lock().driver.books().are_empty());
    assert_eq!(host.lock().driver.violations(), []);
}

#[test]
fn an_open_descriptor_is_enough() {
    let (host, direct) = process(Config::new(Arch::Cayman), 100);
    let fd = direct.open(c"/dev/neuron0", neuron::Access::ReadWrite).unwrap();
    let options = neuron::Options { claim: false, ..neuron::Options::ALL };
    let device: HostNeuron<&Direct> = HostNeuron::from_fd(&direct, fd, options, Vec::new()).unwrap();
    device.alloc(&spec(10, 0)).unwrap();
    drop(device);
    assert!(host.lock().driver.books().are_empty());
}

#[test]
fn traces_have_names() {
    let (_host, direct) = process(Config::new(Arch::Cayman), 100);
    let lines = RefCell::new(Vec::new());
    let traced = Traced::new(&direct, |line: &Line<'_>| lines.borrow_mut().push(line.to_string()));
    let mut blocks = [Block::EMPTY; 4];
    let device: LocalNeuron<'_, _> =
        LocalNeuron::open(&traced, &Paths::LINUX, 0, neuron::Options::ALL, &mut blocks[..]).unwrap();
    let block = device.alloc(&spec(10, 0)).unwrap();
    device.write(block.handle, 0, b"x").unwrap();
    drop(device);
    let lines = lines.borrow();
    assert_eq!(lines[0], r#"open("/dev/neuron0", O_WRONLY|O_CLOEXEC) = 1000"#);
    for wanted in [
        "ioctl(1000, CRWL_NC_RANGE_MARK_EXT0, {count=8, from=0, to=7}) = 0 {cores=0xff}",
        "ioctl(1001, NC_RESET, {cores=0xff}) = 0",
        "ioctl(1001, MEM_ALLOC_V2MT64, {size=10, align=0, host=0, hbm=0, core=0, type=10}) = 0 {handle=1}",
        "ioctl(1001, MEM_BUF_COPY64, {handle=1, offset=0, size=1, to_device=1}) = 0",
        "ioctl(1001, MEM_FREE, {handle=1}) = 0",
        "ioctl(1000, CRWL_NC_RANGE_UNMARK_EXT0, {cores=0xff}) = 0",
        "close(1000)",
    ] {
        assert!(lines.iter().any(|line| line == wanted), "{wanted} in {lines:#?}");
    }
    let address = format!("ioctl(1001, MEM_GET_PA, {{handle=1}}) = 0 {{address={:#x}}}", block.base.0);
    assert!(lines.contains(&address), "{address} in {lines:#?}");
}

/// A window and requests see the same bytes, and a window is gone before its device is.
fn map_blocks<S: Sys + Copy>(sys: S) {
    let device: HostNeuron<S> =
        HostNeuron::open(sys, &Paths::LINUX, 0, neuron::Options::ALL, Vec::new()).unwrap();
    let block = device.alloc(&spec(10_000, 0)).unwrap();
    device.write(block.handle, 4090, b"by request").unwrap();
    let window = device.map(block.handle).unwrap();
    assert_eq!((window.len(), window.is_empty()), (12_288, false));
    let mut out = [0; 10];
    window.read(4090, &mut out).unwrap();
    assert_eq!(&out, b"by request");
    window.write(8190, b"by window").unwrap();
    device.read(block.handle, 8190, &mut out[..9]).unwrap();
    assert_eq!(&out[..9], b"by window");
    assert_eq!(window.write(12_288, b"x"), Err(DeviceError::OutOfRange));
    assert_eq!(window.read(usize::MAX, &mut out), Err(DeviceError::OutOfRange));
    drop(window);
    device.free(block.handle).unwrap();
    assert_eq!(device.map(block.handle).err(), Some(DeviceError::BadHandle));
}

#[test]
fn blocks_can_be_mapped() {
    let (host, direct) = process(Config::new(Arch::Cayman), 100);
    map_blocks(&direct);
    let kernel = Shared::new(Config::new(Arch::Cayman)).unwrap();
    match inside(&kernel, &Options::default(), || map_blocks(Libc)) {
        Ok(()) => assert_eq!(kernel.lock().driver.violations(), []),
        Err(reason) => skipped("windows through the kernel", &reason.to_string()),
    }
    assert_eq!(host.lock().driver.violations(), []);
    assert!(host.lock().driver.books().are_empty() && kernel.lock().driver.books().are_empty());
}

/// A load needs all cores of the HBM groups it touches, and what the device lacks is left to the plan to refuse.
#[test]
fn claims_cover_whole_groups() {
    let cover = |arch, core, count| {
        let options = neuron::Options::covering(arch, core, count);
        (options.first_core, options.cores)
    };
    assert_eq!(cover(Arch::Cayman, 0, 1), (0, 2));
    assert_eq!(cover(Arch::Cayman, 3, 1), (2, 2));
    assert_eq!(cover(Arch::Cayman, 3, 2), (2, 4));
    assert_eq!(cover(Arch::Cayman, 7, 2), (6, 2));
    assert_eq!(cover(Arch::Mariana, 4, 4), (4, 4));
    assert_eq!(cover(Arch::Sunda, 1, 1), (1, 1));
    assert_eq!(cover(Arch::Sunda, 9, 1), (1, 1));
    assert_eq!(cover(Arch::Cayman, 0, 0), (0, 2));
    assert_eq!(cover(Arch::Cayman, u16::MAX, u16::MAX), (6, 2));
}
