//! L. Lifetime. These cases run through FUSE as well, where the machine allows it.

use crate::rig::{Ask, BUFFER, DEVICE, Rig, lifetime as case, lifetime_on as case_on};
use loader_core::arch::Arch;
use neuron_drivers::abi::record::{DeviceReset, NotificationsInitV2};
use neuron_drivers::abi::request as req;
use neuron_drivers::harness::{Options, fork_and};
use neuron_drivers::neuron::Fd;
use neuron_drivers::simdrv::{Caller, Config, OpenId, What};
use std::time::{Duration, Instant};

/// Chunks that processes hold.
fn chunks(rig: &Rig) -> usize {
    rig.driver(|driver| driver.books().chunks)
}

#[test]
fn driver_l1() {
    case(|rig| {
        let fd = rig.fd();
        rig.alloc(fd, DEVICE);
        assert_eq!(chunks(rig), 1);
        rig.client.close(fd);
        assert_eq!(chunks(rig), 0);
        assert_eq!(rig.driver(|driver| driver.device(0).attach_slots()), 0);
        assert_eq!(rig.violations(), [What::ClosedWithChunks]);
    });
}

#[test]
fn driver_l2() {
    case(|rig| {
        let (first, second) = (rig.fd(), rig.fd());
        let handle = rig.alloc(first, DEVICE);
        rig.client.close(first);
        assert_eq!(chunks(rig), 1);
        rig.pa(second, handle);
    });
}

#[test]
fn driver_l3() {
    case(|rig| {
        let fd = rig.fd();
        rig.alloc(fd, DEVICE);
        match rig.client.dup(fd) {
            Some(copy) => rig.client.close(copy),
            // Straight there are no numbers to duplicate: a second flush of the same file is what it comes to.
            None => assert!(rig.driver(|driver| driver.flush(Caller::process(rig.tgid), OpenId(1)))),
        }
        assert_eq!(chunks(rig), 0);
    });
}

#[test]
fn driver_l4() {
    case(|rig| {
        let fd = rig.fd();
        rig.alloc(fd, DEVICE);
        if rig.client.is_kernel() {
            let status = fork_and(|| {
                rig.client.close(fd);
                0
            });
            assert_eq!(status.unwrap(), 0);
        } else {
            assert!(rig.driver(|driver| driver.flush(Caller::process(77), OpenId(1))));
        }
        assert_eq!(chunks(rig), 1);
    });
}

#[test]
fn driver_l5() {
    case(|rig| {
        let fd = rig.fd();
        let handle = rig.alloc(fd, Ask { size: 1 << 20, ..DEVICE });
        let pa = rig.pa(fd, handle);
        rig.write(fd, handle, 0, b"old");
        let window = rig.client.map(fd, 1 << 20, pa, true).unwrap();
        rig.client.close(fd);
        assert_eq!(window.get(0), b'o');
        assert!(rig.driver(|driver| driver.device(0).chunk_at(pa).is_none()));
        let other = rig.other(77);
        let there = other.fd();
        let again = other.alloc(there, Ask { size: 1 << 20, ..DEVICE });
        assert_eq!(other.pa(there, again), pa);
        other.write(there, again, 0, b"new");
        assert_eq!(window.get(0), b'n');
    });
}

#[test]
fn driver_l6() {
    crate::program::killed_in_the_middle();
}

#[test]
fn driver_l7() {
    case(|rig| {
        let fd = rig.fd();
        let ring = rig.alloc(fd, DEVICE);
        assert_eq!(rig.send(fd, req::DMA_QUEUE_INIT, &rig.queue(1, 2, (ring, 64), (ring, 64))), 0);
        rig.client.close(fd);
        let (dummy, queue) =
            rig.driver(|driver| (driver.device(0).dummy_ring(), driver.device(0).queue(1, 2)));
        assert_eq!(queue, Some((dummy, dummy, 0)));
    });
}

#[test]
fn driver_l8() {
    case(|rig| {
        let fd = rig.fd();
        let mut raw = NotificationsInitV2::default();
        raw.size.set(4096);
        raw.on_host_memory.set(1);
        assert_eq!(rig.call(fd, req::NOTIFICATIONS_INIT_V2, &mut raw), 0);
        rig.client.close(fd);
        assert!(rig.driver(|driver| driver.device(0).chunk_at(raw.mmap_offset.get()).is_some()));
    });
}

/// What a child does with its parent's descriptor.
fn allocate(rig: &Rig, fd: Fd) -> i32 {
    let raw = rig.client.ioctl(fd, req::MEM_ALLOC_V2MT64, rig.address(0));
    i32::from(raw == 0)
}

#[test]
fn driver_l9() {
    case(|rig| {
        let fd = rig.fd();
        rig.put(0, zerocopy::IntoBytes::as_bytes(&rig.alloc_record(DEVICE)));
        if rig.client.is_kernel() {
            assert_eq!(fork_and(|| allocate(rig, fd)).unwrap(), 0);
        } else {
            let mut memory =
                neuron_drivers::harness::ProcessMemory::fenced(rig.tgid, rig.options.fence.clone());
            let outcome = rig.driver(|driver| {
                driver.ioctl(
                    Caller::process(77),
                    OpenId(1),
                    req::MEM_ALLOC_V2MT64,
                    rig.address(0),
                    &mut memory,
                )
            });
            assert!(matches!(outcome, neuron_drivers::simdrv::Outcome::KernelStop(_)));
            return;
        }
        assert!(rig.stopped());
        assert_eq!(chunks(rig), 0);
    });
}

#[test]
fn driver_l10() {
    let config = Config { reset_us: 20_000, ..Config::new(Arch::Cayman) };
    case_on(config, &Options::default(), |rig| {
        let fd = rig.fd();
        rig.put(BUFFER, &[0]);
        let mut raw = DeviceReset::default();
        raw.nc_map.set(1);
        assert_eq!(rig.call(fd, req::NC_RESET, &mut raw), 0);
        let before = rig.driver(|driver| driver.now());
        rig.client.close(fd);
        assert!(rig.driver(|driver| driver.now()) - before >= 19_000);
        // FUSE tells of the last reference a moment later.
        let start = Instant::now();
        while !rig.driver(|driver| driver.books()).are_empty() {
            assert!(start.elapsed() < Duration::from_secs(10), "{}", rig.driver(|driver| driver.books()));
            std::thread::yield_now();
        }
    });
}
