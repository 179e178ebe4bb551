//! Stopped `mmap` and `munmap` calls.

use super::procfs::{self, Area};
use super::seccomp::Notice;
use super::supervisor::{Supervisor, Where};
use super::syscalls::Call;
use crate::abi::errno::{EIO, EPERM};
use crate::simdrv::{Mapped, OpenFlags, OpenId, Plan};
use std::vec::Vec;

const PAGE: u64 = 4096;
/// Addresses of a process lie below.
const ADDRESSES: u64 = 1 << 48;

/// A mapping that the kernel was told to make; whether it did, and where, shows when its thread is back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unsure {
    tgid: u32,
    tid: u32,
    device: u32,
    plan: Plan,
}

impl Unsure {
    pub(super) const fn is_of(&self, tgid: u32) -> bool {
        self.tgid == tgid
    }
}

/// Whether the kernel refuses a mapping before it asks the driver.
const fn is_refused(address: u64, length: u64, offset: u64, flags: i32) -> bool {
    let kind = flags & libc::MAP_TYPE;
    let kinds = kind == libc::MAP_SHARED || kind == libc::MAP_PRIVATE || kind == libc::MAP_SHARED_VALIDATE;
    let fixed = flags & (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE) != 0;
    length == 0
        || length > ADDRESSES
        || !offset.is_multiple_of(PAGE)
        || !kinds
        || fixed && !address.is_multiple_of(PAGE)
}

impl Supervisor {
    pub(super) fn mmap(&mut self, notice: &Notice, tgid: u32, fd: i32, call: Call) -> bool {
        let Call::Mmap { address, length, prot, flags, offset, .. } = call else { return self.pass(notice) };
        let Some(open) = self.files.get(tgid, fd) else { return self.pass(notice) };
        if is_refused(address, length, offset, flags) {
            return self.pass(notice);
        }
        let write = prot & libc::PROT_WRITE != 0 && flags & libc::MAP_TYPE != libc::MAP_PRIVATE;
        let caller = self.caller(notice, tgid);
        let mut host = self.shared.lock();
        let planned = host.driver.mmap(caller, open, length, offset, write);
        let device = host.driver.opened(open).map_or(0, |(device, _)| device);
        drop(host);
        match planned {
            Err(raw) => self.result(notice, raw),
            Ok(plan) if self.place == Where::Inside && tgid == std::process::id() => {
                self.map_here(notice, fd, &plan, call)
            }
            // A mapping in another process can only be let through as it was asked for.
            Ok(plan) if plan.offset == offset && (plan.writable || !write) => {
                if plan.record != 0 {
                    self.unsure.push(Unsure { tgid, tid: notice.tid, device, plan });
                }
                self.pass(notice)
            }
            Ok(plan) => {
                self.shared.lock().driver.not_mapped(plan.record);
                self.result(notice, -i64::from(EPERM))
            }
        }
    }

    /// Maps for a thread of this process, exactly as planned.
    fn map_here(&self, notice: &Notice, fd: i32, plan: &Plan, call: Call) -> bool {
        let Call::Mmap { address, prot, flags, .. } = call else { return self.pass(notice) };
        let prot = if plan.writable { prot } else { prot & !libc::PROT_WRITE };
        // SAFETY: the client asked for exactly this mapping; where it may lie is its own responsibility, as it
        // would be if the kernel had served the call. The number is the client's, which is this process's.
        let at = unsafe {
            libc::mmap(
                address as *mut libc::c_void,
                plan.length as usize,
                prot,
                flags,
                fd,
                plan.offset.cast_signed(),
            )
        };
        if at == libc::MAP_FAILED {
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(EIO);
            self.shared.lock().driver.not_mapped(plan.record);
            return self.result(notice, -i64::from(errno));
        }
        // Device mappings are not inherited.
        // SAFETY: the range was mapped above.
        unsafe { libc::madvise(at, plan.length as usize, libc::MADV_DONTFORK) };
        self.shared.lock().driver.mapped(plan.record, at as u64);
        self.result(notice, at as i64)
    }

    /// Looks for mappings of a process that the kernel was told to make. Those of thread `tid`, which is back, exist
    /// now or never will.
    pub(super) fn settle_maps(&mut self, tgid: u32, tid: u32) {
        if !self.unsure.iter().any(|unsure| unsure.tgid == tgid) {
            return;
        }
        let Some(areas) = procfs::areas(tgid) else { return };
        let mut host = self.shared.lock();
        let files = &self.files;
        self.unsure.retain(|unsure| {
            if unsure.tgid != tgid {
                return true;
            }
            let Unsure { device, plan, .. } = *unsure;
            let taken =
                |at: u64| host.driver.device(device).mappings().iter().any(|map| holds(map, tgid, at));
            let ours = |area: &&Area| files.device_of(area.inode) == Some(device);
            let place = |area: &Area| area.place(plan.offset, plan.length).filter(|at| !taken(*at));
            let found = areas.iter().filter(ours).find_map(place);
            match found {
                Some(at) => host.driver.mapped(plan.record, at),
                None if unsure.tid == tid => host.driver.not_mapped(plan.record),
                None => return true,
            }
            false
        });
    }

    /// Forgets records of mappings that are gone although no `munmap` of them was seen: replaced by others.
    pub(super) fn drop_vanished(&mut self, tgid: u32, open: OpenId) {
        let mut host = self.shared.lock();
        let full = |(device, flags): (u32, OpenFlags)| (!flags.is_misc()).then_some(device);
        let Some(device) = host.driver.opened(open).and_then(full) else { return };
        let mine = |map: &&Mapped| map.tgid == tgid;
        if !host.driver.device(device).mappings().iter().any(|map| mine(&map)) {
            return;
        }
        let Some(areas) = procfs::areas(tgid) else { return };
        let here = |map: &Mapped| {
            areas.iter().any(|area| {
                self.files.device_of(area.inode) == Some(device) && area.touches(map.offset, map.length)
            })
        };
        let gone: Vec<u32> = (host.driver.device(device).mappings().iter().filter(mine))
            .filter(|map| !here(map))
            .map(|map| map.record)
            .collect();
        for record in gone {
            host.driver.not_mapped(record);
        }
    }

    pub(super) fn munmap(&mut self, notice: &Notice, tgid: u32, address: u64, length: u64) -> bool {
        // Refused by the kernel: nothing is unmapped.
        if length > 0 && length <= ADDRESSES && address.is_multiple_of(PAGE) {
            self.settle_maps(tgid, 0);
            let caller = self.caller(notice, tgid);
            self.shared.lock().driver.munmap(caller, address, length);
        }
        self.pass(notice)
    }
}

const fn holds(map: &Mapped, tgid: u32, address: u64) -> bool {
    map.tgid == tgid && map.address == address
}
