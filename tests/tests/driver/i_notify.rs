//! I. Notification queues, datastore, init state.

use crate::rig::{Rig, case, case_on, no};
use loader_core::arch::Arch;
use neuron_drivers::abi::errno::{EINVAL, ENOENT, ENOSYS, EPERM};
use neuron_drivers::abi::record::{
    CinitSet, NeuronDsInfo, NotificationsInitV2, NotificationsInitWithReallocV2,
};
use neuron_drivers::abi::request as req;
use neuron_drivers::harness::Options;
use neuron_drivers::neuron::Fd;
use neuron_drivers::simdrv::Config;

fn nq(size: u32, host: bool) -> NotificationsInitV2 {
    let mut raw = NotificationsInitV2::default();
    raw.nq_dev_id.set(1);
    raw.nq_type.set(3);
    raw.engine_index.set(2);
    raw.size.set(size);
    raw.on_host_memory.set(u32::from(host));
    raw
}

fn init(rig: &Rig, fd: Fd, raw: NotificationsInitV2) -> (i64, u64, u64) {
    let mut raw = raw;
    let result = rig.call(fd, req::NOTIFICATIONS_INIT_V2, &mut raw);
    (result, raw.mmap_offset.get(), raw.mem_handle.get())
}

#[test]
fn driver_i1() {
    case(|rig| assert_eq!(init(rig, rig.fd(), nq(3000, true)).0, no(EINVAL)));
}

#[test]
fn driver_i2() {
    case(|rig| {
        let fd = rig.fd();
        let (raw, offset, handle) = init(rig, fd, nq(65_536, true));
        assert_eq!(raw, 0);
        assert_eq!(rig.pa(fd, handle), offset);
        rig.client.map(fd, 65_536, offset, true).unwrap().put(65_535, 1);
    });
}

#[test]
fn driver_i3() {
    case(|rig| {
        let fd = rig.fd();
        let first = init(rig, fd, nq(65_536, true));
        assert_eq!(init(rig, fd, nq(131_072, true)), first);
        assert_eq!(rig.driver(|driver| driver.device(0).chunk_at(first.1).unwrap().bytes), 65_536);
    });
}

#[test]
fn driver_i4() {
    case(|rig| {
        let fd = rig.fd();
        let (_, old, _) = init(rig, fd, nq(65_536, true));
        let mut raw = NotificationsInitWithReallocV2::default();
        raw.nq_dev_id.set(1);
        raw.nq_type.set(3);
        raw.engine_index.set(2);
        raw.size.set(131_072);
        raw.on_host_memory.set(1);
        raw.force_alloc_mem.set(1);
        assert_eq!(rig.call(fd, req::NOTIFICATIONS_INIT_WITH_REALLOC_V2, &mut raw), 0);
        let new = raw.mmap_offset.get();
        assert_eq!(rig.driver(|driver| driver.device(0).chunk_at(new).unwrap().bytes), 131_072);
        assert_eq!(rig.client.map(fd, 65_536, old, true).err(), Some(EPERM));
    });
}

#[test]
fn driver_i5() {
    case(|rig| {
        let fd = rig.fd();
        let (raw, offset, handle) = init(rig, fd, nq(1 << 20, false));
        assert_eq!((raw, offset), (0, u64::MAX));
        assert_eq!(rig.pa(fd, handle) % (1 << 20), 0);
    });
}

#[test]
fn driver_i6() {
    case(|rig| {
        let mut raw = nq(4096, true);
        raw.nq_dev_type.set(2);
        assert_eq!(init(rig, rig.fd(), raw).0, no(ENOSYS));
    });
}

#[test]
fn driver_i7() {
    case(|rig| {
        assert_eq!(rig.client.ioctl(rig.fd(), req::NOTIFICATIONS_QUEUE_INFO, rig.address(0)), no(EPERM));
    });
}

fn acquire(rig: &Rig, fd: Fd, pid: i32) -> (i64, u64, u32) {
    let mut raw = NeuronDsInfo::default();
    raw.pid.set(pid);
    let result = rig.call(fd, req::ACQUIRE_NEURON_DS, &mut raw);
    (result, raw.mmap_offset.get(), raw.size.get())
}

#[test]
fn driver_i8() {
    case(|rig| {
        let fd = rig.fd();
        let first = acquire(rig, fd, 0);
        assert_eq!((first.0, first.2), (0, 262_144));
        assert_eq!(acquire(rig, fd, 0), first);
        let window = rig.client.map(fd, 262_144, first.1, true).unwrap();
        assert_eq!((window.get(0), window.get(1), window.get(2)), (b'n', b'd', b's'));
    });
}

#[test]
fn driver_i9() {
    case(|rig| assert_eq!(acquire(rig, rig.fd(), 4242).0, no(ENOENT)));
}

fn cinit(rig: &Rig, fd: Fd, state: u32) -> (i64, u32) {
    let mut raw = CinitSet::default();
    raw.nc_id.set(5);
    raw.state.set(state);
    (rig.call(fd, req::CINIT_SET_STATE, &mut raw), raw.new_state.get())
}

#[test]
fn driver_i10() {
    case(|rig| {
        let fd = rig.fd();
        assert_eq!(cinit(rig, fd, 1), (0, 1));
        assert_eq!(cinit(rig, fd, 2), (0, 2));
        let other = rig.other(77);
        assert_eq!(cinit(&other, other.fd(), 1), (0, 2));
    });
}

#[test]
fn driver_i11() {
    // Ten real milliseconds are the five virtual seconds.
    case_on(Config::new(Arch::Cayman), &Options { pace: 500_000, ..Options::default() }, |rig| {
        let fd = rig.fd();
        assert_eq!(cinit(rig, fd, 1), (0, 1));
        let before = rig.driver(|driver| driver.now());
        assert_eq!(cinit(rig, fd, 1), (0, 1));
        assert!(rig.driver(|driver| driver.now()) - before >= 5_000_000);
    });
}
