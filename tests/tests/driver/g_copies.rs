//! G. Copies.

use crate::rig::{Ask, BUFFER, DEVICE, Rig, both, case, case_on, no};
use loader_core::arch::Arch;
use neuron_drivers::abi::errno::{E2BIG, EFAULT, EINVAL, EPERM};
use neuron_drivers::abi::record::{MemCopy64, MemCopyAsync64, MemCopyAsyncWait, Memset64};
use neuron_drivers::abi::request as req;
use neuron_drivers::harness::Options;
use neuron_drivers::neuron::{Access, Fd};
use neuron_drivers::simdrv::{Action, Config, Rule, Version, What, When};

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 7 + at / 251) as u8).collect()
}

fn chunk(rig: &Rig, fd: Fd, size: u64) -> u64 {
    rig.alloc(fd, Ask { size, ..DEVICE })
}

#[test]
fn driver_g1() {
    case(|rig| {
        let fd = rig.fd();
        let handle = chunk(rig, fd, 1 << 20);
        let bytes = pattern(200_000);
        rig.write(fd, handle, 12_345, &bytes);
        rig.put(BUFFER, &vec![0; 200_000]);
        assert_eq!(rig.read(fd, handle, 12_345, 200_000), bytes);
    });
}

#[test]
fn driver_g2() {
    case(|rig| {
        let fd = rig.fd();
        let handle = chunk(rig, fd, 8192);
        assert_eq!(rig.copy(fd, (handle, 8000), BUFFER, 192, true), 0);
    });
}

#[test]
fn driver_g3() {
    both(|rig, version| {
        let fd = rig.fd();
        let handle = chunk(rig, fd, 8192);
        let beyond = if version.modern() { E2BIG } else { EINVAL };
        assert_eq!(rig.copy(fd, (handle, 8000), BUFFER, 193, true), no(beyond));
    });
}

#[test]
fn driver_g4() {
    both(|rig, version| {
        let fd = rig.fd();
        let handle = chunk(rig, fd, 8192);
        let raw = rig.copy(fd, (handle, u64::MAX), BUFFER, 2, true);
        let violations = rig.violations();
        if version.modern() {
            assert_eq!((raw, violations), (no(E2BIG), vec![]));
        } else {
            assert_eq!((raw, violations), (0, vec![What::Overflow]));
        }
    });
}

#[test]
fn driver_g5() {
    case(|rig| {
        let fd = rig.fd();
        let handle = chunk(rig, fd, 8192);
        rig.write(fd, handle, 0, b"same");
        assert_eq!(rig.copy(fd, (handle, 0), BUFFER + 4096, 0, true), 0);
        assert_eq!(rig.read(fd, handle, 0, 4), b"same");
    });
}

fn between(rig: &Rig, fd: Fd, src: u64, dst: u64, size: u64) -> i64 {
    let mut raw = MemCopy64::default();
    raw.src_mem_handle.set(src);
    raw.dst_mem_handle.set(dst);
    raw.size.set(size);
    rig.send(fd, req::MEM_COPY64, &raw)
}

#[test]
fn driver_g6() {
    case(|rig| {
        let fd = rig.fd();
        let (src, dst) = (chunk(rig, fd, 1 << 17), chunk(rig, fd, 1 << 17));
        rig.write(fd, src, 0, &[1; 70_000]);
        assert_eq!(between(rig, fd, src, dst, 0), 0);
        let bytes = rig.read(fd, dst, 0, 65_537);
        assert!(bytes[..65_536].iter().all(|byte| *byte == 1));
        assert_eq!(bytes[65_536], 0);
        assert_eq!(rig.violations(), [What::SizeZero]);
    });
}

#[test]
fn driver_g7() {
    case(|rig| {
        let fd = rig.fd();
        let handle = chunk(rig, fd, 200_704);
        let mut raw = Memset64::default();
        raw.mem_handle.set(handle);
        raw.value.set(0x1234);
        raw.size.set(200_000);
        assert_eq!(rig.send(fd, req::MEMSET64, &raw), 0);
        let bytes = rig.read(fd, handle, 0, 200_001);
        assert!(bytes[..200_000].iter().all(|byte| *byte == 0x34));
        assert_eq!(bytes[200_000], 0);
    });
}

#[test]
fn driver_g8() {
    case(|rig| {
        let fd = rig.fd();
        let size = (4 << 30) + 4096;
        let handle = chunk(rig, fd, size);
        rig.put(BUFFER, &[3; 8192]);
        assert_eq!(rig.copy(fd, (handle, 0), BUFFER, size, true), 0);
        let bytes = rig.read(fd, handle, 0, 4097);
        assert_eq!((bytes[0], bytes[4095], bytes[4096]), (3, 3, 0));
        assert_eq!(rig.violations(), [What::BigBufferCopy]);
    });
}

#[test]
fn driver_g9() {
    both(|rig, version| {
        let fd = rig.fd();
        let handle = chunk(rig, fd, 200_704);
        let at = rig.client.scratch().len() - 100_000;
        rig.put(at, &[5; 100_000]);
        let raw = rig.copy(fd, (handle, 0), at, 200_000, true);
        if version.modern() {
            assert_eq!(raw, no(EFAULT));
        } else {
            // The second block of 65,536 bytes has 34,464 of them.
            assert_eq!(raw, 65_536 - 34_464);
        }
        let bytes = rig.read(fd, handle, 0, 65_537);
        assert!(bytes[..65_536].iter().all(|byte| *byte == 5));
        assert_eq!(bytes[65_536], 0);
    });
}

#[test]
fn driver_g10() {
    case(|rig| {
        let fd = rig.fd();
        let handle = chunk(rig, fd, 200_704);
        let rule = Rule { when: When::Dma, nth: 1, action: Action::Timeout(2) };
        rig.driver(|driver| driver.faults_mut().add(rule));
        rig.put(BUFFER, &vec![6; 200_000]);
        assert_eq!(rig.copy(fd, (handle, 0), BUFFER, 200_000, true), no(EPERM));
        let bytes = rig.read(fd, handle, 0, 65_537);
        assert_eq!((bytes[65_535], bytes[65_536]), (6, 0));
    });
}

fn start(rig: &Rig, fd: Fd, (src, dst): (u64, u64), size: u64, previous: u32) -> (i64, u32) {
    let mut raw = MemCopyAsync64::default();
    raw.src_mem_handle.set(src);
    raw.dst_mem_handle.set(dst);
    raw.size.set(size);
    raw.pwait_handle.set(previous);
    (rig.call(fd, req::MEM_COPY_ASYNC64, &mut raw), raw.wait_handle.get())
}

fn wait(rig: &Rig, fd: Fd, (src, dst): (u64, u64), handle: u32) -> i64 {
    let mut raw = MemCopyAsyncWait::default();
    raw.src_mem_handle.set(src);
    raw.dst_mem_handle.set(dst);
    raw.pwait_handle.set(handle);
    rig.send(fd, req::MEM_COPY_ASYNC_WAIT, &raw)
}

#[test]
fn driver_g11() {
    case(|rig| {
        let fd = rig.fd();
        let pair = (chunk(rig, fd, 4096), chunk(rig, fd, 4096));
        rig.write(fd, pair.0, 0, b"later");
        assert_eq!(start(rig, fd, pair, 4096, u32::MAX), (0, 1));
        // Data moves at the wait or at the next tick, not before.
        assert_eq!(rig.read(fd, pair.1, 0, 5), [0; 5]);
        assert_eq!(start(rig, fd, pair, 4096, 1), (0, 2));
        assert_eq!(rig.read(fd, pair.1, 0, 5), b"later");
        assert_eq!(start(rig, fd, pair, 4096, 2), (0, 1));
        assert_eq!(wait(rig, fd, pair, 1), 0);
    });
}

#[test]
fn driver_g12() {
    case(|rig| {
        let fd = rig.fd();
        let pair = (chunk(rig, fd, 4096), chunk(rig, fd, 4096));
        assert_eq!(wait(rig, fd, pair, 0), no(EINVAL));
        assert_eq!(wait(rig, fd, pair, 3), no(EINVAL));
    });
}

#[test]
fn driver_g13() {
    case(|rig| {
        let fd = rig.fd();
        let pair = (chunk(rig, fd, 4096), chunk(rig, fd, 4096));
        assert_eq!(wait(rig, fd, pair, 1), no(EINVAL));
    });
}

#[test]
fn driver_g14() {
    case(|rig| {
        let fd = rig.fd();
        let pair = (chunk(rig, fd, 1 << 28), chunk(rig, fd, 1 << 28));
        assert_eq!(start(rig, fd, pair, 133_169_153, u32::MAX).0, no(EINVAL));
    });
}

#[test]
fn driver_g15() {
    case(|rig| {
        let fd = rig.fd();
        let pair = (chunk(rig, fd, 4096), chunk(rig, fd, 4096));
        assert_eq!(start(rig, fd, pair, 16, 7).0, no(EINVAL));
    });
}

#[test]
fn driver_g16() {
    case(|rig| assert_eq!(rig.client.ioctl(rig.fd(), 0xC010_4E18, rig.address(0)), no(EINVAL)));
}

#[test]
fn driver_g17() {
    let config = Config { devices: 2, ..Config::with_version(Arch::Cayman, Version::V2_24) };
    case_on(config, &Options::default(), |rig| {
        let (here, there) = (rig.fd(), rig.client.open(1, Access::ReadWrite).unwrap());
        let (src, dst) = (chunk(rig, here, 4096), chunk(rig, here, 4096));
        assert_eq!((chunk(rig, there, 4096), chunk(rig, there, 4096)), (src, dst));
        rig.write(here, src, 0, b"near");
        rig.write(there, dst, 0, b"far!");
        assert_eq!(between(rig, here, src, dst, 4), 0);
        assert_eq!(rig.read(here, dst, 0, 4), b"near");
        assert_eq!(rig.read(there, dst, 0, 4), b"far!");
        assert_eq!(rig.violations(), [What::OtherDevice]);
    });
}
