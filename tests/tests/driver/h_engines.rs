//! H. Engine programming, semaphores.

use crate::rig::{BUFFER, Rig, case, no};
use loader_core::arch::Arch;
use neuron_drivers::abi::errno::{E2BIG, EINVAL, ENOMEM};
use neuron_drivers::abi::record::{Event, ProgramEngineNc64, Semaphore};
use neuron_drivers::abi::request as req;
use neuron_drivers::map;
use neuron_drivers::neuron::Fd;
use neuron_drivers::simdrv::Memory as _;

fn program(rig: &Rig, dst: u64, size: u64, offset: u64) -> i64 {
    let mut raw = ProgramEngineNc64::default();
    raw.nc_id.set(3);
    raw.dst.set(dst);
    raw.buffer.set(rig.address(BUFFER));
    raw.size.set(size);
    raw.offset.set(offset);
    rig.send(rig.fd(), req::PROGRAM_ENGINE_NC64, &raw)
}

fn on_chip(rig: &Rig, address: u64) -> [u8; 4] {
    let mut out = [0; 4];
    rig.driver(|driver| driver.device(0).memory().read(address, &mut out));
    out
}

#[test]
fn driver_h1() {
    case(|rig| {
        rig.put(BUFFER, b"core");
        let dst = map::core_base(Arch::Cayman, 3) + 0x1000;
        assert_eq!(program(rig, dst, 4, 0), 0);
        assert_eq!(on_chip(rig, dst), *b"core");
    });
}

#[test]
fn driver_h2() {
    case(|rig| {
        rig.put(BUFFER, b"zero");
        rig.put(BUFFER + 64, b"64th");
        let dst = map::core_base(Arch::Cayman, 3) + 0x1000;
        assert_eq!(program(rig, dst, 4, 64), 0);
        assert_eq!(on_chip(rig, dst), [0; 4]);
        assert_eq!(on_chip(rig, dst + 64), *b"64th");
    });
}

#[test]
fn driver_h3() {
    case(|rig| assert_eq!(program(rig, 0x4000_0000_0000, 4, 0), no(ENOMEM)));
}

#[test]
fn driver_h4() {
    case(|rig| assert_eq!(program(rig, map::core_base(Arch::Cayman, 3), 0, 0), no(ENOMEM)));
}

fn semaphore(rig: &Rig, fd: Fd, request: u32, (core, index): (u32, u32), value: u32) -> (i64, u32) {
    let mut raw = Semaphore::default();
    raw.nc_id.set(core);
    raw.semaphore_index.set(index);
    raw.value.set(value);
    (rig.call(fd, request, &mut raw), raw.value.get())
}

#[test]
fn driver_h5() {
    case(|rig| {
        let fd = rig.fd();
        let at = (2, 17);
        for (request, value) in
            [(req::SEMAPHORE_WRITE, 5), (req::SEMAPHORE_INCREMENT, 2), (req::SEMAPHORE_DECREMENT, 1)]
        {
            assert_eq!(semaphore(rig, fd, request, at, value).0, 0);
        }
        assert_eq!(semaphore(rig, fd, req::SEMAPHORE_READ, at, 0), (0, 6));
    });
}

#[test]
fn driver_h6() {
    case(|rig| {
        let fd = rig.fd();
        assert_eq!(semaphore(rig, fd, req::SEMAPHORE_READ, (0, 256), 0).0, no(EINVAL));
        assert_eq!(semaphore(rig, fd, req::SEMAPHORE_READ, (8, 0), 0).0, no(E2BIG));
    });
}

#[test]
fn driver_h7() {
    case(|rig| {
        let fd = rig.fd();
        assert_eq!(semaphore(rig, fd, req::SEMAPHORE_WRITE, (0, 65_536), 4).0, 0);
        assert_eq!(semaphore(rig, fd, req::SEMAPHORE_READ, (0, 0), 0), (0, 4));
    });
}

#[test]
fn driver_h8() {
    case(|rig| {
        let fd = rig.fd();
        let mut raw = Event::default();
        raw.event_index.set(256);
        raw.value.set(1);
        assert_eq!(rig.call(fd, req::EVENT_SET, &mut raw), 0);
        raw.event_index.set(257);
        assert_eq!(rig.call(fd, req::EVENT_SET, &mut raw), no(EINVAL));
        assert_eq!(rig.call(fd, req::EVENT_GET, &mut raw), no(EINVAL));
    });
}
