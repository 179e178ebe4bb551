//! Pods and the core map (driver-abi.md §7.15).

use super::config::Pod;
use super::dispatch::{Call, Reply, fail};
use super::memory::Memory;
use crate::abi::errno::{EBUSY, EINVAL, ENOTSUPP};
use crate::abi::record::{
    GetLogicalToPhysicalNcMap, NcMapEntry, PodCtrl, PodCtrlV2, PodInfo, PodStatus, PodStatusV2, Record,
};
use crate::abi::request as req;
use crate::abi::value::MAX_CORE_MAP;
use crate::map;
use loader_core::arch::Arch;
use zerocopy::IntoBytes as _;

/// "Single node".
const SINGLE: u32 = 4;
/// "In progress".
const ELECTING: u32 = 1;

impl<M: Memory> Call<'_, M> {
    pub(super) fn core_map(&mut self) -> Reply {
        if self.driver.config.arch == Arch::Sunda {
            return fail(ENOTSUPP);
        }
        let raw: GetLogicalToPhysicalNcMap = self.arg()?;
        let (entries, version) = (raw.max_map_entries.get(), raw.mapping_version.get());
        let known = version == 0 || version == 1 && self.driver.config.version.modern();
        if entries > MAX_CORE_MAP || !known {
            return fail(EINVAL);
        }
        self.put_bytes(raw.map.get(), &entries.to_le_bytes())?;
        for at in 0..entries {
            let mut entry = NcMapEntry::default();
            entry.device_id.set(at / 8);
            entry.device_nc_idx.set(map::logical_cores(at / 8)[(at % 8) as usize]);
            self.put_bytes(raw.map.get() + 4 + 8 * u64::from(at), entry.as_bytes())?;
        }
        Ok(0)
    }

    pub(super) fn pod_info(&mut self) -> Reply {
        let raw: PodInfo = self.arg()?;
        if self.request != req::POD_INFO || usize::from(raw.sz.get()) != PodInfo::BYTES {
            return fail(EINVAL);
        }
        self.put(&raw)
    }

    /// The state to report, and what the request returns with it.
    fn election(&mut self) -> (u32, Reply) {
        let seen = self.driver.elections;
        match self.driver.config.pod {
            Pod::Electing(turns) if seen < turns => {
                self.driver.elections += 1;
                (ELECTING, fail(EBUSY))
            }
            _ => (SINGLE, Ok(0)),
        }
    }

    pub(super) fn pod_status(&mut self) -> Reply {
        match self.request {
            req::POD_STATUS => {
                let mut raw: PodStatus = self.arg()?;
                if usize::from(raw.sz.get()) != PodStatus::BYTES {
                    return fail(EINVAL);
                }
                let reply = self.fill_status(&mut raw);
                self.put_bytes(self.arg, raw.as_bytes())?;
                reply
            }
            req::POD_STATUS_V2 if !self.driver.config.old_forms_only => {
                let mut raw: PodStatusV2 = self.arg()?;
                if usize::from(raw.v1.sz.get()) != PodStatusV2::BYTES {
                    return fail(EINVAL);
                }
                let reply = self.fill_status(&mut raw.v1);
                self.put_bytes(self.arg, raw.as_bytes())?;
                reply
            }
            _ => fail(EINVAL),
        }
    }

    fn fill_status(&mut self, raw: &mut PodStatus) -> Reply {
        let (state, reply) = self.election();
        raw.state.set(state);
        raw.pod_type = 0;
        raw.node_id = -1;
        reply
    }

    pub(super) fn pod_ctrl(&mut self) -> Reply {
        let size = match self.request {
            req::POD_CTRL => {
                let raw: PodCtrl = self.arg()?;
                (raw.sz.get(), PodCtrl::BYTES)
            }
            req::POD_CTRL_V2 => {
                let raw: PodCtrlV2 = self.arg()?;
                (raw.v1.sz.get(), PodCtrlV2::BYTES)
            }
            _ => return fail(EINVAL),
        };
        if usize::from(size.0) != size.1 {
            return fail(EINVAL);
        }
        // A host on its own has nothing to elect.
        let (_, reply) = self.election();
        reply
    }
}
