//! B. Identity.

use crate::rig::{BUFFER, Rig, case, case_on, no};
use loader_core::arch::Arch;
use neuron_drivers::abi::errno::{EINVAL, ENOTSUPP};
use neuron_drivers::abi::record::{
    CompatibleVersion, DeviceBasicInfo, DeviceDriverInfo, GetLogicalToPhysicalNcMap, PodStatusV2,
    ResourceMmapInfo,
};
use neuron_drivers::abi::request as req;
use neuron_drivers::harness::Options;
use neuron_drivers::simdrv::Config;

fn v2(body: impl Fn(&Rig) + Sync) {
    case_on(Config::new(Arch::Sunda), &Options::default(), body);
}

#[test]
fn driver_b1() {
    for (arch, max, min) in [(Arch::Sunda, 7u8, 5u8), (Arch::Cayman, 11, 10)] {
        case_on(Config::new(arch), &Options::default(), |rig| {
            assert_eq!(rig.send(rig.misc(), req::COMPATIBLE_VERSION, &CompatibleVersion::default()), 0);
            assert_eq!(rig.get(0, 8), [max, 0, 0, 0, min, 0, 0, 0]);
        });
    }
}

#[test]
fn driver_b2() {
    case(|rig| {
        let mut info = DeviceDriverInfo::default();
        assert_eq!(rig.call(rig.misc(), 0x8018_4E6E, &mut info), 0);
        assert_eq!((info.size.get(), info.feature_flags1.get()), (24, 0xFF));
    });
}

#[test]
fn driver_b3() {
    case(|rig| {
        rig.put(0, &[0xAA; 32]);
        assert_eq!(rig.client.ioctl(rig.misc(), 0x8020_4E6E, rig.address(0)), 0);
        assert_eq!(rig.get(24, 8), [0xAA; 8]);
        assert_eq!(rig.get(12, 4), [24, 0, 0, 0]);
    });
}

#[test]
fn driver_b4() {
    case(|rig| assert_eq!(rig.client.ioctl(rig.misc(), 0x8010_4E6E, rig.address(0)), no(EINVAL)));
}

#[test]
fn driver_b5() {
    case(|rig| assert_eq!(rig.client.ioctl(rig.misc(), req::DRIVER_INFO_SET, rig.address(0)), no(ENOTSUPP)));
}

#[test]
fn driver_b6() {
    case(|rig| {
        let mut info = DeviceBasicInfo::default();
        assert_eq!(rig.call(rig.misc(), req::DEVICE_BASIC_INFO, &mut info), 0);
        assert_eq!((info.architecture.get(), info.revision.get()), (3, 0));
    });
}

fn core_map(rig: &Rig, entries: u32, version: u32) -> i64 {
    let mut raw = GetLogicalToPhysicalNcMap::default();
    raw.map.set(rig.address(BUFFER));
    raw.max_map_entries.set(entries);
    raw.mapping_version.set(version);
    rig.send(rig.misc(), req::GET_LOGICAL_TO_PHYSICAL_NC_MAP, &raw)
}

#[test]
fn driver_b7() {
    case(|rig| {
        assert_eq!(core_map(rig, 8, 0), 0);
        let words: Vec<u32> = rig
            .get(BUFFER, 4 + 64)
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(words[0], 8);
        let cores: Vec<u32> = words[1..].chunks(2).map(|pair| pair[1]).collect();
        assert_eq!(cores, [4, 5, 6, 7, 2, 3, 0, 1]);
        assert!(words[1..].chunks(2).all(|pair| pair[0] == 0));
    });
}

#[test]
fn driver_b8() {
    case(|rig| assert_eq!(core_map(rig, 129, 0), no(EINVAL)));
}

#[test]
fn driver_b9() {
    case(|rig| assert_eq!(core_map(rig, 8, 7), no(EINVAL)));
}

#[test]
fn driver_b10() {
    v2(|rig| assert_eq!(core_map(rig, 8, 0), no(ENOTSUPP)));
}

#[test]
fn driver_b11() {
    case(|rig| {
        let mut raw = PodStatusV2::default();
        raw.v1.sz.set(268);
        assert_eq!(rig.call(rig.misc(), req::POD_STATUS_V2, &mut raw), no(EINVAL));
    });
}

#[test]
fn driver_b12() {
    case(|rig| {
        let mut raw = PodStatusV2::default();
        raw.v1.sz.set(276);
        assert_eq!(rig.call(rig.misc(), req::POD_STATUS_V2, &mut raw), 0);
        assert_eq!((raw.v1.state.get(), raw.v1.node_id), (4, -1));
    });
}

fn resource(rig: &Rig, block: u32, id: u32, wanted: u32) -> (i64, u64, u64) {
    let mut raw = ResourceMmapInfo::default();
    raw.block.set(block);
    raw.block_id.set(id);
    raw.resource.set(wanted);
    let result = rig.call(rig.fd(), req::RESOURCE_MMAP_INFO, &mut raw);
    (result, raw.offset.get(), raw.size.get())
}

#[test]
fn driver_b13() {
    case(|rig| assert_eq!(resource(rig, 0, 3, 0), (0, 0x20_0E70_0000, 0x2000)));
}

#[test]
fn driver_b14() {
    v2(|rig| assert_eq!(resource(rig, 2, 0, 3).0, no(EINVAL)));
}
