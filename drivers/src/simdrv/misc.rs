//! The rest (driver-abi.md §7.16).

use super::dispatch::{Call, Reply, fail};
use super::memory::Memory;
use super::violation::What;
use crate::abi::errno::{E2BIG, EBADMSG, EFAULT, ENOENT};
use crate::abi::record::{AppInfo, GetAppsInfo, NcPidStateDump, PostMetric, Printk, ReadHwCounters};
use crate::abi::value::{MAX_CORES, MAX_METRIC, MAX_PRINTK};
use alloc::string::String;
use loader_core::device::Place;
use zerocopy::IntoBytes as _;

impl<M: Memory> Call<'_, M> {
    pub(super) fn printk(&mut self) -> Reply {
        let raw: Printk = self.arg()?;
        let size = raw.size.get();
        if size > MAX_PRINTK {
            return fail(EFAULT);
        }
        if size == 0 {
            // The driver reads the byte before its buffer.
            self.violation(What::EmptyPrintk)?;
            return fail(EBADMSG);
        }
        let mut text = alloc::vec![0u8; size as usize];
        match self.user.read(raw.buffer.get(), &mut text) {
            0 => {}
            missing => return Err(self.unread(missing)),
        }
        let Some((0, text)) = text.split_last() else { return fail(EBADMSG) };
        self.detail = String::from_utf8_lossy(text).into_owned();
        Ok(0)
    }

    pub(super) fn pid_state_dump(&mut self) -> Reply {
        let raw: NcPidStateDump = self.arg()?;
        if raw.nc_id.get() as usize >= MAX_CORES { fail(ENOENT) } else { Ok(0) }
    }

    pub(super) fn post_metric(&mut self) -> Reply {
        let raw: PostMetric = self.arg()?;
        if raw.data_size.get() > MAX_METRIC {
            return fail(E2BIG);
        }
        let mut data = alloc::vec![0u8; raw.data_size.get() as usize];
        match self.user.read(raw.data.get(), &mut data) {
            0 => Ok(0),
            missing => Err(self.unread(missing)),
        }
    }

    /// Counters of firmware; all zero here.
    pub(super) fn read_hw_counters(&mut self) -> Reply {
        let raw: ReadHwCounters = self.arg()?;
        let count = raw.count.get().min(1024) as usize;
        self.put_bytes(raw.data.get(), &alloc::vec![0u8; 4 * count])
    }

    pub(super) fn apps_info(&mut self) -> Reply {
        let mut raw: GetAppsInfo = self.arg()?;
        let listed: alloc::vec::Vec<_> =
            self.device().attach.iter().flatten().map(|slot| slot.tgid).collect();
        let shown = listed.len().min(raw.capacity.get() as usize);
        raw.size.set(shown as u32);
        self.put(&raw)?;
        for (at, tgid) in (0u64..).zip(listed).take(shown) {
            let sum = |host: bool| -> u64 {
                let counted =
                    |chunk: &&super::Chunk| chunk.tgid == tgid && (chunk.place == Place::Host) == host;
                self.device().chunks().filter(counted).map(|chunk| chunk.bytes).sum()
            };
            let mut info = AppInfo::default();
            info.pid.set(tgid.cast_signed());
            info.host_mem_size.set(sum(true));
            info.device_mem_size.set(sum(false));
            self.put_bytes(self.arg + 16 + 152 * at, info.as_bytes())?;
        }
        Ok(0)
    }
}
