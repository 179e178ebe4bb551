//! Who the device is (driver-abi.md §7.1).

use super::dispatch::{Call, Reply, fail};
use super::memory::Memory;
use crate::abi::errno::{EINVAL, ENOTSUPP};
use crate::abi::record::{
    CompatibleVersion, DeviceBasicInfo, DeviceBdf, DeviceBdfExt, DeviceDriverInfo, DeviceInfo, HostDeviceId,
    HostDeviceIdToRidMap,
};
use crate::abi::request as req;
use loader_core::arch::Arch;
use zerocopy::IntoBytes as _;

/// What BAR addresses look like; usable as cookies only.
const BAR_COOKIES: [u64; 2] = [0xFFFF_C900_0000_0000, 0xFFFF_C980_0000_0000];

/// Neighbours of a device in a 16-device host (§A.3): trn1 and trn2.
const TRN1: [[u32; 4]; 16] = [
    [12, 3, 4, 1],
    [13, 0, 5, 2],
    [14, 1, 6, 3],
    [15, 2, 7, 0],
    [0, 7, 8, 5],
    [1, 4, 9, 6],
    [2, 5, 10, 7],
    [3, 6, 11, 4],
    [4, 11, 12, 9],
    [5, 8, 13, 10],
    [6, 9, 14, 11],
    [7, 10, 15, 8],
    [8, 15, 0, 13],
    [9, 12, 1, 14],
    [10, 13, 2, 15],
    [11, 14, 3, 12],
];
const TRN2: [[u32; 4]; 16] = [
    [12, 1, 3, 4],
    [0, 13, 5, 2],
    [14, 3, 1, 6],
    [2, 15, 7, 0],
    [8, 5, 7, 0],
    [4, 9, 1, 6],
    [10, 7, 5, 2],
    [6, 11, 3, 4],
    [4, 9, 11, 12],
    [8, 5, 13, 10],
    [6, 11, 9, 14],
    [10, 7, 15, 8],
    [0, 13, 15, 8],
    [12, 1, 9, 14],
    [2, 15, 13, 10],
    [14, 3, 11, 12],
];

impl<M: Memory> Call<'_, M> {
    pub(super) fn compatible_version(&mut self) -> Reply {
        let mut raw = CompatibleVersion::default();
        let (min, max) = self.driver.config.compat;
        raw.max.set(max);
        raw.min.set(min);
        self.put(&raw)
    }

    pub(super) fn device_basic_info(&mut self) -> Reply {
        let mut raw = DeviceBasicInfo::default();
        raw.architecture.set(self.driver.config.arch.number());
        raw.revision.set(self.driver.config.revision);
        self.put(&raw)
    }

    pub(super) fn driver_info(&mut self) -> Reply {
        match req::direction(self.request) {
            req::Direction::Read if req::encoded_size(self.request) >= 24 => {
                let mut raw = DeviceDriverInfo::default();
                raw.architecture.set(self.driver.config.arch.number());
                raw.revision.set(self.driver.config.revision);
                raw.size.set(24);
                raw.feature_flags1.set(self.driver.config.features);
                self.put(&raw)
            }
            req::Direction::Write => fail(ENOTSUPP),
            _ => fail(EINVAL),
        }
    }

    pub(super) fn device_info(&mut self) -> Reply {
        let mut raw = DeviceInfo::default();
        raw.architecture.set(self.driver.config.arch.number());
        raw.revision.set(self.driver.config.revision);
        let table = if self.driver.config.arch == Arch::Sunda { &TRN1 } else { &TRN2 };
        if self.driver.devices.len() == 16 {
            let near = table[self.open.device];
            raw.connected_device_count.set(near.len() as u32);
            for (to, from) in raw.connected_devices.iter_mut().zip(near) {
                to.set(from);
            }
        }
        for (to, from) in raw.bar_address.iter_mut().zip(BAR_COOKIES) {
            to.set(from);
        }
        raw.bar_size[0].set(0x1_0000_0000);
        raw.bar_size[1].set(self.driver.config.hbm_bytes);
        self.put(&raw)
    }

    pub(super) fn app_pid(&mut self) -> Reply {
        let first = self.device().attach.iter().flatten().next().map_or(0, |slot| slot.tgid);
        self.put_bytes(self.arg, &first.to_le_bytes())
    }

    pub(super) fn device_bdf(&mut self) -> Reply {
        let mut raw = DeviceBdf::default();
        raw.bus_number.set(0x10 + self.open.device as u32);
        self.put_bytes(self.arg, raw.as_bytes())
    }

    pub(super) fn device_bdf_ext(&mut self) -> Reply {
        let mut raw: DeviceBdfExt = self.arg()?;
        let at = raw.nd_index.get() as usize + self.open.device;
        if at >= self.driver.devices.len() {
            return fail(EINVAL);
        }
        raw.bus_number.set(0x10 + at as u32);
        self.put(&raw)
    }

    pub(super) fn host_device_id(&mut self) -> Reply {
        let mut raw = HostDeviceId::default();
        raw.host_device_id.set(self.open.device as u32);
        self.put(&raw)
    }

    pub(super) fn rid_map(&mut self) -> Reply {
        if self.request != req::HOST_DEVICE_ID_TO_RID_MAP {
            return fail(EINVAL);
        }
        let mut raw = HostDeviceIdToRidMap::default();
        raw.count.set(self.driver.devices.len() as u32);
        for (at, to) in (0u32..).zip(raw.host_did_to_rid_map.iter_mut()).take(self.driver.devices.len()) {
            to.set(at);
        }
        self.put(&raw)
    }
}
