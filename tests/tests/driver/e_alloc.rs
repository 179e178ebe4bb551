//! E. Allocation.

use crate::rig::{Ask, DEVICE, HOST, NOWHERE, Rig, both, case, case_on, no};
use loader_core::arch::Arch;
use neuron_drivers::abi::errno::{EACCES, EFAULT, EINVAL, ENOENT, ENOMEM};
use neuron_drivers::abi::record::{MemAlloc, MemGetPa};
use neuron_drivers::abi::request as req;
use neuron_drivers::harness::Options;
use neuron_drivers::neuron::Fd;
use neuron_drivers::simdrv::{Config, What};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn chunk_bytes(rig: &Rig, pa: u64) -> u64 {
    rig.driver(|driver| driver.device(0).chunk_at(pa).unwrap().bytes)
}

/// Allocates and gives the address.
fn place(rig: &Rig, fd: Fd, ask: Ask) -> u64 {
    rig.pa(fd, rig.alloc(fd, ask))
}

#[test]
fn driver_e1() {
    case(|rig| {
        let fd = rig.fd();
        let handle = rig.alloc(fd, Ask { size: 1, ..DEVICE });
        assert_eq!(handle, 1);
        assert_eq!(chunk_bytes(rig, rig.pa(fd, handle)), 4096);
    });
}

#[test]
fn driver_e2() {
    case(|rig| {
        let fd = rig.fd();
        let handle = rig.alloc(fd, DEVICE);
        assert_eq!(rig.free(fd, handle), 0);
        assert_eq!(rig.alloc(fd, DEVICE), handle);
    });
}

#[test]
fn driver_e3() {
    case(|rig| assert_eq!(rig.try_alloc(rig.fd(), Ask { size: 1 << 63, ..DEVICE }), Err(no(EINVAL))));
}

#[test]
fn driver_e4() {
    case(|rig| assert_eq!(rig.try_alloc(rig.fd(), Ask { channel: 4, ..HOST }), Err(no(EINVAL))));
}

#[test]
fn driver_e5() {
    case(|rig| assert_eq!(rig.try_alloc(rig.fd(), Ask { nc: 8, ..DEVICE }), Err(no(EINVAL))));
    case_on(Config::new(Arch::Sunda), &Options::default(), |rig| {
        rig.alloc(rig.fd(), Ask { nc: 7, ..DEVICE });
    });
}

#[test]
fn driver_e6() {
    case(|rig| assert_eq!(rig.try_alloc(rig.fd(), Ask { align: 4096, ..HOST }), Err(no(EINVAL))));
}

#[test]
fn driver_e7() {
    case(|rig| {
        let fd = rig.fd();
        rig.alloc(fd, Ask { size: MIB, ..DEVICE });
        let pa = place(rig, fd, Ask { size: 3 * MIB, align: 2 * MIB, ..DEVICE });
        assert_eq!(pa % (2 * MIB), 0);
    });
}

#[test]
fn driver_e8() {
    case(|rig| assert_eq!(rig.try_alloc(rig.fd(), Ask { align: 1 << 31, ..DEVICE }), Err(no(EINVAL))));
}

#[test]
fn driver_e9() {
    case(|rig| assert_eq!(rig.try_alloc(rig.fd(), Ask { size: 0, ..DEVICE }), Err(no(ENOMEM))));
}

#[test]
fn driver_e10() {
    case(|rig| assert_eq!(rig.try_alloc(rig.fd(), Ask { size: 24 * GIB, ..DEVICE }), Err(no(ENOMEM))));
}

#[test]
fn driver_e11() {
    case(|rig| {
        let fd = rig.fd();
        let most = 24 * GIB - GIB - 16 * MIB;
        assert_eq!(rig.try_alloc(fd, Ask { size: most + 4096, ..DEVICE }), Err(no(ENOMEM)));
        assert_eq!(place(rig, fd, Ask { size: most, ..DEVICE }), 16 * MIB);
    });
}

#[test]
fn driver_e12() {
    case(|rig| {
        let fd = rig.fd();
        assert_eq!(place(rig, fd, Ask { size: 512 << 10, ..DEVICE }), 23 * GIB);
        assert_eq!(place(rig, fd, Ask { size: (512 << 10) + 4096, ..DEVICE }), 16 * MIB);
    });
}

#[test]
fn driver_e13() {
    case(|rig| {
        let fd = rig.fd();
        let page = Ask { size: 64 * MIB, kind: 19, ..DEVICE };
        assert_eq!(place(rig, fd, page), 23 * GIB - 64 * MIB);
        assert_eq!(place(rig, fd, page), 23 * GIB - 128 * MIB);
    });
}

#[test]
fn driver_e14() {
    case(|rig| {
        let fd = rig.fd();
        rig.alloc(fd, Ask { size: 23 * GIB - 16 * MIB - 4096, ..DEVICE });
        assert_eq!(rig.try_alloc(fd, Ask { size: 64 * MIB, kind: 19, ..DEVICE }), Err(no(ENOMEM)));
    });
}

#[test]
fn driver_e15() {
    both(|rig, _| {
        let fd = rig.fd();
        let mut raw = rig.alloc_record(DEVICE);
        raw.mem_handle.set(NOWHERE);
        let before = rig.driver(|driver| driver.device(0).chunks().count());
        // A fault on output is a positive count on the modern driver too, which the case allows.
        assert_eq!(rig.send(fd, req::MEM_ALLOC_V2MT64, &raw), 8);
        assert_eq!(rig.driver(|driver| driver.device(0).chunks().count()), before);
    });
}

#[test]
fn driver_e16() {
    both(|rig, version| {
        let expected = if version.modern() { no(EFAULT) } else { 56 };
        assert_eq!(rig.client.ioctl(rig.fd(), req::MEM_ALLOC_V2MT64, NOWHERE), expected);
    });
}

#[test]
fn driver_e17() {
    case(|rig| assert_eq!(rig.client.ioctl(rig.fd(), req::MEM_ALLOC, NOWHERE), no(EACCES)));
}

#[test]
fn driver_e18() {
    case(|rig| assert_eq!(rig.client.ioctl(rig.fd(), 0x8034_4E66, rig.address(0)), no(EINVAL)));
}

/// A process that has the descriptor but is not attached: its only counted open was closed through another
/// number of the same file.
fn unattached(rig: &Rig) -> Fd {
    let fd = rig.fd();
    rig.driver(|driver| {
        let caller = neuron_drivers::simdrv::Caller::process(rig.tgid);
        assert!(driver.flush(caller, neuron_drivers::simdrv::OpenId(1)));
        assert_eq!(driver.device(0).attached(rig.tgid), None);
    });
    fd
}

#[test]
fn driver_e19() {
    case(|rig| {
        let fd = unattached(rig);
        assert_eq!(rig.send(fd, req::MEM_ALLOC, &MemAlloc::default()), no(EACCES));
    });
}

#[test]
fn driver_e20() {
    case(|rig| {
        let fd = unattached(rig);
        assert!(rig.try_alloc(fd, DEVICE).is_err());
        assert!(rig.stopped());
    });
}

#[test]
fn driver_e21() {
    case(|rig| {
        rig.alloc(rig.fd(), Ask { kind: 99, ..DEVICE });
    });
}

#[test]
fn driver_e22() {
    let config = Config { max_handles: 3, ..Config::new(Arch::Cayman) };
    case_on(config, &Options::default(), |rig| {
        let fd = rig.fd();
        let handles: Vec<u64> = (0..3).map(|_| rig.alloc(fd, DEVICE)).collect();
        let before = rig.driver(|driver| driver.device(0).chunks().count());
        assert_eq!(rig.try_alloc(fd, DEVICE), Err(no(ENOENT)));
        assert_eq!(rig.driver(|driver| driver.device(0).chunks().count()), before);
        assert_eq!(rig.free(fd, handles[0]), no(EINVAL));
        let mut raw = MemGetPa::default();
        raw.mem_handle.set(handles[1]);
        assert_eq!(rig.send(fd, req::MEM_GET_PA, &raw), no(EINVAL));
        assert_eq!(rig.try_alloc(fd, DEVICE), Err(no(ENOENT)));
    });
}

#[test]
fn driver_e23() {
    both(|rig, version| {
        let fd = rig.fd();
        let handle = rig.alloc(fd, DEVICE);
        assert_eq!(rig.free(fd, handle), 0);
        assert_eq!(rig.free(fd, handle), no(if version.modern() { ENOENT } else { EINVAL }));
        assert_eq!(rig.violations(), [What::ForeignHandle]);
    });
}

#[test]
fn driver_e24() {
    case(|rig| {
        let handle = rig.alloc(rig.fd(), DEVICE);
        let other = rig.other(77);
        assert_eq!(other.free(other.fd(), handle), 0);
        assert_eq!(rig.driver(|driver| driver.books().chunks), 0);
        assert_eq!(rig.violations(), [What::ForeignHandle]);
    });
}
