//! A. Open and lanes. These cases run through FUSE as well, where the machine allows it.

use crate::rig::{DEVICE, Rig, lifetime as case, lifetime_on as case_on, no};
use loader_core::arch::Arch;
use neuron_drivers::abi::errno::{EACCES, EBUSY, EINTR, EINVAL, ENOTTY};
use neuron_drivers::abi::record::CompatibleVersion;
use neuron_drivers::abi::request as req;
use neuron_drivers::harness::Options;
use neuron_drivers::neuron::Access;
use neuron_drivers::simdrv::{Caller, Config, OpenFlags, Outcome};

/// A host whose devices are being reset for that long, and time that passes only by itself.
fn booting(microseconds: u64, pace: u64, body: impl Fn(&Rig) + Sync) {
    let config = Config { boot_reset_us: microseconds, ..Config::new(Arch::Cayman) };
    case_on(config, &Options { pace, ..Options::default() }, body);
}

#[test]
fn driver_a1() {
    case(|rig| {
        let fd = rig.fd();
        assert!(fd.0 >= 0);
        assert_eq!(rig.driver(|driver| driver.device(0).attached(rig.tgid)), Some(1));
    });
}

#[test]
fn driver_a2() {
    booting(1_000_000_000, 0, |rig| {
        rig.open(Access::Write).unwrap();
        assert_eq!(rig.driver(|driver| driver.device(0).state()), 0);
    });
}

#[test]
fn driver_a3() {
    booting(5_000, 1000, |rig| {
        let before = rig.driver(|driver| {
            let blocked = driver.open(Caller::process(1), 0, OpenFlags::ReadWrite);
            (blocked, driver.now())
        });
        assert_eq!(before.0, Err(Outcome::Blocked));
        rig.fd();
        assert!(rig.driver(|driver| driver.now()) >= 5_000);
    });
}

#[test]
fn driver_a4() {
    booting(1_000_000_000, 0, |rig| {
        rig.client.pend_sigterm();
        assert_eq!(rig.open(Access::ReadWrite), Err(EINTR));
        assert_eq!(rig.driver(|driver| driver.device(0).open_count()), 0);
    });
}

#[test]
fn driver_a5() {
    case(|rig| {
        rig.driver(|driver| driver.invalidate(0));
        assert_eq!(rig.open(Access::ReadWrite), Err(EINVAL));
    });
}

#[test]
fn driver_a6() {
    case(|rig| {
        rig.driver(|driver| driver.crowd(16));
        assert_eq!(rig.open(Access::ReadWrite), Err(EBUSY));
        rig.open(Access::Write).unwrap();
    });
}

#[test]
fn driver_a7() {
    case(|rig| {
        for _ in 0..17 {
            rig.fd();
        }
        let device =
            rig.driver(|driver| (driver.device(0).attached(rig.tgid), driver.device(0).attach_slots()));
        assert_eq!(device, (Some(17), 1));
    });
}

#[test]
fn driver_a8() {
    case(|rig| assert_eq!(rig.try_alloc(rig.misc(), DEVICE), Err(no(EINVAL))));
}

#[test]
fn driver_a9() {
    case(|rig| assert_eq!(rig.send(rig.fd(), req::COMPATIBLE_VERSION, &CompatibleVersion::default()), 0));
}

#[test]
fn driver_a10() {
    case(|rig| {
        let (fd, misc) = (rig.fd(), rig.misc());
        let pa = rig.pa(fd, rig.alloc(fd, DEVICE));
        assert_eq!(rig.client.map(misc, 4096, pa, false).err(), Some(EACCES));
    });
}

#[test]
fn driver_a11() {
    case(|rig| {
        let fd = rig.open(Access::Read).unwrap();
        let pa = rig.pa(fd, rig.alloc(fd, DEVICE));
        assert_eq!(rig.client.map(fd, 4096, pa, true).err(), Some(EACCES));
        rig.client.map(fd, 4096, pa, false).unwrap();
    });
}

#[test]
fn driver_a12() {
    case(|rig| {
        for fd in [rig.fd(), rig.misc()] {
            assert_eq!(rig.client.ioctl(fd, 0x8008_4EC8, rig.address(0)), no(EINVAL));
        }
    });
}

#[test]
fn driver_a13() {
    case(|rig| assert_eq!(rig.client.ioctl(rig.fd(), req::DMA_QUIESCE_QUEUES, rig.address(0)), no(ENOTTY)));
}
