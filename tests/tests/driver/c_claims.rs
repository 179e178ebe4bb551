//! C. Core claims.

use crate::rig::{Rig, case, case_on, no};
use loader_core::arch::Arch;
use neuron_drivers::abi::errno::{EBUSY, EINVAL};
use neuron_drivers::abi::record::CrwlNcMapExt;
use neuron_drivers::abi::request as req;
use neuron_drivers::harness::Options;
use neuron_drivers::neuron::Access;
use neuron_drivers::simdrv::{Config, What};

fn owner(rig: &Rig, slot: usize) -> u32 {
    rig.driver(|driver| driver.claim(slot))
}

#[test]
fn driver_c1() {
    case(|rig| {
        let (raw, map) = rig.mark(rig.misc(), 2, 0, 7);
        assert_eq!((raw, map.bitmap[0].get()), (0, 0x3));
        assert_eq!(map.max_nc_available.get(), 0);
    });
}

#[test]
fn driver_c2() {
    case(|rig| {
        let misc = rig.misc();
        assert_eq!(rig.mark(misc, 2, 0, 7).0, 0);
        let mut raw = CrwlNcMapExt::default();
        raw.nc_count.set(2);
        raw.end_nc_index.set(1);
        raw.max_nc_available.set(99);
        raw.bitmap[0].set(0xFF);
        assert_eq!(rig.call(misc, req::CRWL_NC_RANGE_MARK_EXT0, &mut raw), no(EBUSY));
        assert_eq!((raw.max_nc_available.get(), raw.bitmap[0].get()), (0, 0));
    });
}

#[test]
fn driver_c3() {
    case(|rig| assert_eq!(rig.mark(rig.misc(), 1, 5, 4).0, no(EINVAL)));
}

#[test]
fn driver_c4() {
    case(|rig| assert_eq!(rig.mark(rig.misc(), 1, 0, 512).0, no(EINVAL)));
}

#[test]
fn driver_c5() {
    case(|rig| {
        let (raw, map) = rig.mark(rig.misc(), 0, 0, 7);
        assert_eq!((raw, map.bitmap[0].get()), (0, 0));
    });
}

#[test]
fn driver_c6() {
    case(|rig| {
        let misc = rig.misc();
        assert_eq!(rig.mark(misc, 1, 1, 1).0, 0);
        let (raw, map) = rig.mark(misc, 2, 0, 3);
        assert_eq!((raw, map.max_nc_available.get()), (no(EBUSY), 1));
        assert_eq!((owner(rig, 2), owner(rig, 3)), (0, 0));
    });
}

#[test]
fn driver_c7() {
    case(|rig| {
        let other = rig.other(77);
        assert_eq!(other.mark(other.misc(), 1, 2, 2).0, 0);
        let mut raw = CrwlNcMapExt::default();
        raw.bitmap[0].set(0xFF);
        assert_eq!(rig.call(rig.misc(), req::CRWL_NC_RANGE_UNMARK_EXT0, &mut raw), 0);
        assert_eq!(owner(rig, 2), 77);
    });
}

#[test]
fn driver_c8() {
    case(|rig| {
        let (first, second) = (rig.misc(), rig.misc());
        assert_eq!(rig.mark(first, 2, 0, 7).0, 0);
        assert_eq!(owner(rig, 0), rig.tgid);
        rig.client.close(second);
        assert_eq!((owner(rig, 0), owner(rig, 1)), (0, 0));
    });
}

#[test]
fn driver_c9() {
    case(|rig| {
        let fd = rig.open(Access::ReadWrite).unwrap();
        assert_eq!(rig.mark(fd, 1, 0, 7).0, 0);
        assert_eq!(rig.violations(), [What::ClaimOnFullLane]);
        rig.client.close(fd);
        rig.driver(|driver| driver.exit(rig.tgid, &[]));
        assert_eq!(owner(rig, 0), rig.tgid);
    });
}

#[test]
fn driver_c10() {
    let config = Config { devices: 2, ..Config::new(Arch::Cayman) };
    case_on(config, &Options::default(), |rig| {
        let misc = rig.client.open(1, Access::Write).unwrap();
        let (raw, map) = rig.mark(misc, 8, 0, 7);
        assert_eq!((raw, map.bitmap[0].get()), (0, 0xFF));
        assert_eq!((owner(rig, 7), owner(rig, 8), owner(rig, 15)), (0, rig.tgid, rig.tgid));
    });
}
