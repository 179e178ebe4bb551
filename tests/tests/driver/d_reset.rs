//! D. Reset.

use crate::rig::{DEVICE, Rig, case, case_on};
use loader_core::arch::Arch;
use neuron_drivers::abi::errno::EPERM;
use neuron_drivers::abi::record::{DeviceReady, DeviceReset, NotificationsInitV2};
use neuron_drivers::abi::request as req;
use neuron_drivers::harness::Options;
use neuron_drivers::neuron::Fd;
use neuron_drivers::simdrv::{Action, Config, Rule, When};

fn reset(rig: &Rig, fd: Fd, nc_map: u32) -> (i64, u32) {
    let mut raw = DeviceReset::default();
    raw.nc_map.set(nc_map);
    (rig.call(fd, req::NC_RESET, &mut raw), raw.request_id.get())
}

fn ready(rig: &Rig, fd: Fd, id: u32) -> (i64, i32) {
    let mut raw = DeviceReady::default();
    raw.request_id.set(id);
    raw.result.set(99);
    (rig.call(fd, req::NC_RESET_READY, &mut raw), raw.result.get())
}

#[test]
fn driver_d1() {
    case(|rig| {
        let fd = rig.fd();
        assert_eq!(reset(rig, fd, 1), (0, rig.tgid));
        assert_eq!(ready(rig, fd, rig.tgid), (0, 0));
    });
}

#[test]
fn driver_d2() {
    case(|rig| {
        let fd = rig.fd();
        assert_eq!(reset(rig, fd, 1).0, 0);
        assert_eq!(reset(rig, fd, 1).0, 1);
    });
}

#[test]
fn driver_d3() {
    case(|rig| {
        let fd = rig.fd();
        assert_eq!(reset(rig, fd, 1).0, 0);
        assert_eq!(ready(rig, fd, rig.tgid), (0, 0));
        assert_eq!(ready(rig, fd, rig.tgid), (0, 1));
    });
}

#[test]
fn driver_d4() {
    case(|rig| assert_eq!(ready(rig, rig.fd(), 12345), (0, 1)));
}

#[test]
fn driver_d5() {
    case(|rig| {
        let fd = rig.fd();
        let rule = Rule { when: When::Request(104), nth: 1, action: Action::ResetFails };
        rig.driver(|driver| driver.faults_mut().add(rule));
        assert_eq!(reset(rig, fd, 1).0, 0);
        assert_eq!(ready(rig, fd, rig.tgid), (0, 1));
    });
}

#[test]
fn driver_d6() {
    let config = Config { reset_us: 1_000_000_000_000, ..Config::new(Arch::Cayman) };
    case_on(config, &Options { pace: 0, ..Options::default() }, |rig| {
        let fd = rig.fd();
        assert_eq!(reset(rig, fd, 1).0, 0);
        rig.client.pend_sigterm();
        assert_eq!(ready(rig, fd, rig.tgid), (0, -4));
        // Still queued: another one is refused.
        assert_eq!(reset(rig, fd, 1).0, 1);
    });
}

#[test]
fn driver_d7() {
    case(|rig| {
        let fd = rig.fd();
        let handle = rig.alloc(fd, DEVICE);
        let pa = rig.pa(fd, handle);
        rig.write(fd, handle, 0, b"kept");
        let window = rig.client.map(fd, 4096, pa, true).unwrap();
        assert_eq!(reset(rig, fd, u32::MAX).0, 0);
        assert_eq!(ready(rig, fd, rig.tgid), (0, 0));
        assert_eq!(rig.read(fd, handle, 0, 4), b"kept");
        assert_eq!(window.get(0), b'k');
        assert_eq!(rig.pa(fd, handle), pa);
    });
}

#[test]
fn driver_d8() {
    case(|rig| {
        let fd = rig.fd();
        let mut raw = NotificationsInitV2::default();
        raw.nq_dev_id.set(2);
        raw.size.set(4096);
        raw.on_host_memory.set(1);
        assert_eq!(rig.call(fd, req::NOTIFICATIONS_INIT_V2, &mut raw), 0);
        let offset = raw.mmap_offset.get();
        drop(rig.client.map(fd, 4096, offset, true).unwrap());
        assert_eq!(reset(rig, fd, 1 << 2).0, 0);
        assert_eq!(ready(rig, fd, rig.tgid), (0, 0));
        assert!(rig.driver(|driver| driver.device(0).chunk_at(offset).is_none()));
        assert_eq!(rig.client.map(fd, 4096, offset, true).err(), Some(EPERM));
    });
}

#[test]
fn driver_d9() {
    case(|rig| {
        let fd = rig.fd();
        assert_eq!(rig.client.ioctl(fd, req::DEVICE_RESET, 0), 0);
        assert_eq!(rig.client.ioctl(fd, req::DEVICE_READY, rig.address(0)), 0);
        assert_eq!(rig.get(0, 1), [1]);
    });
}

#[test]
fn driver_d10() {
    let config = Config { no_reset: true, ..Config::new(Arch::Cayman) };
    case_on(config, &Options { pace: 0, ..Options::default() }, |rig| {
        let fd = rig.fd();
        assert_eq!(reset(rig, fd, 1).0, 0);
        assert_eq!(ready(rig, fd, rig.tgid), (0, 0));
        assert_eq!(rig.driver(|driver| driver.now()), 0);
    });
}
