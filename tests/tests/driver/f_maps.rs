//! F. Addresses and maps.

use crate::rig::{Ask, DEVICE, HOST, Rig, case, case_on, skipped};
use loader_core::arch::Arch;
use neuron_drivers::abi::errno::{ENOMEM, EPERM};
use neuron_drivers::abi::record::{
    MemGetExtendedInfo, MemGetMcMmapInfo, MemGetMcMmapInfoV2, NotificationsInitV2, ResourceMmapInfo,
};
use neuron_drivers::abi::request as req;
use neuron_drivers::harness::{Options, fork_and};
use neuron_drivers::simdrv::{Config, Version, What};

const MIB: u64 = 1 << 20;

/// The signal that ended a process, of its wait status.
fn signal(status: i32) -> i32 {
    status & 0x7F
}

const SIGSEGV: i32 = 11;

#[test]
fn driver_f1() {
    case(|rig| {
        let fd = rig.fd();
        assert_eq!(rig.pa(fd, rig.alloc(fd, HOST)) & 1 << 46, 1 << 46);
    });
}

#[test]
fn driver_f2() {
    case(|rig| {
        let fd = rig.fd();
        let pa = rig.pa(fd, rig.alloc(fd, Ask { channel: 2, size: MIB, ..DEVICE }));
        assert!(pa >= 0x8000_0000_0000 + 16 * MIB);
        assert!(pa < 0x8040_0000_0000);
    });
}

#[test]
fn driver_f3() {
    case(|rig| {
        let mut raw = MemGetExtendedInfo::default();
        raw.mem_handle.set(999);
        assert_eq!(rig.call(rig.fd(), req::MEM_GET_EXTENDED_INFO, &mut raw), 22);
    });
}

#[test]
fn driver_f4() {
    case(|rig| {
        let fd = rig.fd();
        let handle = rig.alloc(fd, Ask { size: 3 * 4096, ..DEVICE });
        let pa = rig.pa(fd, handle);
        let mut raw = MemGetMcMmapInfoV2::default();
        raw.pa.set(pa + 5000);
        assert_eq!(rig.call(fd, req::MEM_MC_GET_INFO_V2, &mut raw), 0);
        assert_eq!((raw.mmap_offset.get(), raw.size.get(), raw.mem_handle.get()), (pa, 3 * 4096, handle));
    });
}

#[test]
fn driver_f5() {
    case(|rig| {
        let mut raw = MemGetMcMmapInfo::default();
        raw.pa.set(0x10_0000_0000);
        assert_eq!(rig.call(rig.fd(), req::MEM_MC_GET_INFO, &mut raw), -i64::from(ENOMEM));
    });
}

#[test]
fn driver_f6() {
    case(|rig| {
        let fd = rig.fd();
        let handle = rig.alloc(fd, Ask { size: 8192, ..DEVICE });
        let window = rig.client.map(fd, 8192, rig.pa(fd, handle), true).unwrap();
        for (at, byte) in [(0, 1u8), (4097, 2), (8191, 3)] {
            window.put(at, byte);
        }
        let bytes = rig.read(fd, handle, 0, 8192);
        assert_eq!((bytes[0], bytes[4097], bytes[8191]), (1, 2, 3));
        rig.write(fd, handle, 100, &[9]);
        assert_eq!(window.get(100), 9);
    });
}

/// Two pages of device memory, and the result of mapping only the first.
fn short_map(rig: &Rig) -> Option<i32> {
    let fd = rig.fd();
    let pa = rig.pa(fd, rig.alloc(fd, Ask { size: 8192, ..DEVICE }));
    rig.client.map(fd, 4096, pa, true).err()
}

#[test]
fn driver_f7() {
    case(|rig| assert_eq!(short_map(rig), Some(EPERM)));
}

#[test]
fn driver_f8() {
    let options = Options { rawio: true, ..Options::default() };
    case_on(Config::new(Arch::Cayman), &options, |rig| {
        assert_eq!(short_map(rig), None);
        assert_eq!(rig.driver(|driver| driver.device(0).mappings().len()), 0);
    });
}

#[test]
fn driver_f9() {
    case(|rig| {
        let fd = rig.fd();
        let handle = rig.alloc(fd, Ask { size: 8192, ..DEVICE });
        rig.write(fd, handle, 0, b"start");
        rig.write(fd, handle, 4096, b"inside");
        let window = rig.client.map(fd, 8192, rig.pa(fd, handle) + 4096, true).unwrap();
        assert_eq!(window.get(0), b's');
        assert_eq!(window.get(4096), b'i');
    });
}

#[test]
fn driver_f10() {
    case(|rig| {
        let fd = rig.fd();
        let owner = rig.other(77);
        let handle = owner.alloc(owner.fd(), DEVICE);
        let window = rig.client.map(fd, 4096, rig.pa(fd, handle), true).unwrap();
        assert_eq!(window.get(0), 0);
        // A mapping that survives fork only straight: through the kernel it is not inherited, and faults as well.
        let status = fork_and(|| {
            window.put(0, 1);
            0
        });
        assert_eq!(signal(status.unwrap()), SIGSEGV);
    });
}

#[test]
fn driver_f11() {
    case(|rig| {
        let owner = rig.other(77);
        let mut raw = NotificationsInitV2::default();
        raw.size.set(4096);
        raw.on_host_memory.set(1);
        assert_eq!(owner.call(owner.fd(), req::NOTIFICATIONS_INIT_V2, &mut raw), 0);
        let window = rig.client.map(rig.fd(), 4096, raw.mmap_offset.get(), true).unwrap();
        window.put(0, 7);
        assert_eq!(window.get(0), 7);
    });
}

#[test]
fn driver_f12() {
    case(|rig| {
        let fd = rig.fd();
        let mut raw = ResourceMmapInfo::default();
        raw.block.set(1);
        raw.block_id.set(3);
        raw.resource.set(1);
        assert_eq!(rig.call(fd, req::RESOURCE_MMAP_INFO, &mut raw), 0);
        let window = rig.client.map(fd, raw.size.get(), raw.offset.get(), true).unwrap();
        assert_eq!((window.len(), window.get(0)), (0x40_0000, 0));
        let status = fork_and(|| {
            window.put(0, 1);
            0
        });
        assert_eq!(signal(status.unwrap()), SIGSEGV);
    });
}

#[test]
fn driver_f13() {
    case(|rig| {
        if !rig.client.is_kernel() {
            return skipped("F13 straight", "a fork is the kernel's own");
        }
        let fd = rig.fd();
        let window = rig.client.map(fd, 4096, rig.pa(fd, rig.alloc(fd, DEVICE)), true).unwrap();
        assert_eq!(window.get(0), 0);
        let status = fork_and(|| i32::from(window.get(0)));
        assert_eq!(signal(status.unwrap()), SIGSEGV);
    });
}

#[test]
fn driver_f14() {
    case(|rig| {
        let fd = rig.fd();
        let page = Ask { size: MIB, kind: 19, ..DEVICE };
        let (upper, lower) = (rig.alloc(fd, page), rig.alloc(fd, page));
        assert_eq!(rig.pa(fd, lower) + MIB, rig.pa(fd, upper));
        let window = rig.client.map(fd, 2 * MIB, rig.pa(fd, lower), true).unwrap();
        window.put(MIB as usize, 5);
        assert_eq!(rig.read(fd, upper, 0, 1), [5]);
    });
}

#[test]
fn driver_f15() {
    for version in [Version::V2_24, Version::V2_30] {
        let config = Config { small_pool: 8192, ..Config::with_version(Arch::Cayman, version) };
        case_on(config, &Options::default(), |rig| {
            let fd = rig.fd();
            rig.alloc(fd, DEVICE);
            let pa = rig.pa(fd, rig.alloc(fd, DEVICE));
            assert_eq!(pa + 4096, 24 << 30);
            drop(rig.client.map(fd, 4096, pa, true).unwrap());
            let expected: &[What] = if version.modern() { &[] } else { &[What::MappedHbmEnd] };
            assert_eq!(rig.violations(), expected);
        });
    }
}
