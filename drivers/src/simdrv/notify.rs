//! Notification queues (driver-abi.md §7.10).

use super::device::Life;
use super::dispatch::{Call, Fail, Reply, fail};
use super::driver::Driver;
use super::memory::Memory;
use super::place::Ask;
use crate::abi::errno::{EINVAL, ENOSYS};
use crate::abi::record::{NotificationsInitV1, NotificationsInitV2, NotificationsInitWithReallocV2, Record};
use crate::abi::value::{NOTIFICATION_QUEUES, PAGE, nq_device};
use alloc::boxed::Box;
use loader_core::device::Place;

/// The queues of a core or TOP_SP by number: type × 16 + engine; each names its chunk.
#[derive(Clone, Debug)]
pub(super) struct Queues(pub(super) Box<[Option<u64>]>);

impl Default for Queues {
    fn default() -> Self {
        Self(alloc::vec![None; NOTIFICATION_QUEUES].into())
    }
}

/// What all forms ask for.
struct Wish {
    device: u32,
    kind: u32,
    nq_type: u32,
    engine: u32,
    size: u32,
    host: bool,
    channel: u32,
    force: bool,
}

/// A newer form of the request.
trait Form: Record + Default {
    fn wish(&self) -> Wish;

    fn grant(&mut self, offset: u64, handle: u32);
}

macro_rules! form {
    ($record:ident, $raw:ident => $force:expr) => {
        impl Form for $record {
            fn wish(&self) -> Wish {
                let $raw = self;
                Wish {
                    device: self.nq_dev_id.get(),
                    kind: self.nq_dev_type.get(),
                    nq_type: self.nq_type.get(),
                    engine: self.engine_index.get(),
                    size: self.size.get(),
                    host: self.on_host_memory.get() != 0,
                    channel: self.dram_channel.get(),
                    force: $force,
                }
            }

            fn grant(&mut self, offset: u64, handle: u32) {
                self.mmap_offset.set(offset);
                self.mem_handle.set(u64::from(handle));
            }
        }
    };
}

form!(NotificationsInitV2, _raw => false);
form!(NotificationsInitWithReallocV2, raw => raw.force_alloc_mem.get() != 0);

impl<M: Memory> Driver<M> {
    pub(super) fn drop_core_queues(&mut self, device: usize, core: usize) {
        let queues = core::mem::take(&mut self.devices[device].core_queues[core]);
        queues.0.iter().flatten().for_each(|&base| self.drop_chunk(device, base));
    }

    pub(super) fn drop_top_sp_queues(&mut self, device: usize, at: usize) {
        let queues = core::mem::take(&mut self.devices[device].top_sp_queues[at]);
        queues.0.iter().flatten().for_each(|&base| self.drop_chunk(device, base));
    }
}

impl<M: Memory> Call<'_, M> {
    pub(super) fn notifications_v1(&mut self) -> Reply {
        let mut raw: NotificationsInitV1 = self.arg()?;
        let wish = Wish {
            device: raw.nc_id.get(),
            kind: nq_device::NEURON_CORE,
            nq_type: raw.nq_type.get(),
            engine: raw.engine_index.get(),
            size: raw.size.get(),
            host: true,
            channel: 0,
            force: false,
        };
        let (offset, _) = self.notification_queue(&wish)?;
        raw.mmap_offset.set(offset);
        self.put(&raw)
    }

    pub(super) fn notifications_v2(&mut self) -> Reply {
        self.notifications::<NotificationsInitV2>()
    }

    pub(super) fn notifications_realloc(&mut self) -> Reply {
        self.notifications::<NotificationsInitWithReallocV2>()
    }

    fn notifications<T: Form>(&mut self) -> Reply {
        if self.driver.config.old_forms_only {
            return fail(EINVAL);
        }
        let mut raw: T = self.arg()?;
        let (offset, handle) = self.notification_queue(&raw.wish())?;
        raw.grant(offset, handle);
        self.put(&raw)
    }

    fn slot(&mut self, wish: &Wish, number: usize) -> Result<&mut Option<u64>, Fail> {
        let device = self.device_mut();
        let queues = match wish.kind {
            nq_device::NEURON_CORE => device.core_queues.get_mut(wish.device as usize),
            nq_device::TOP_SP => device.top_sp_queues.get_mut(wish.device as usize),
            _ => return fail(ENOSYS),
        };
        queues.and_then(|queues| queues.0.get_mut(number)).ok_or(Fail::errno(EINVAL))
    }

    /// The mmap offset (all ones for device memory) and the handle.
    fn notification_queue(&mut self, wish: &Wish) -> Result<(u64, u32), Fail> {
        if wish.size != 0 && !wish.size.is_power_of_two() {
            return fail(EINVAL);
        }
        // The number is computed in 8 bits, so large types wrap.
        let number = usize::from((wish.nq_type.wrapping_mul(16).wrapping_add(wish.engine)).to_le_bytes()[0]);
        let old = *self.slot(wish, number)?;
        let device = self.open.device;
        if let Some(base) = old.filter(|_| !wish.force) {
            let handle = self.driver.make_handle(device, base)?;
            return Ok((self.offset_of(base), handle));
        }
        if let Some(base) = old {
            *self.slot(wish, number)? = None;
            self.driver.drop_chunk(device, base);
        }
        let host = wish.host;
        if !host && wish.channel >= u32::from(crate::map::hbms(self.driver.config.arch)) {
            return fail(EINVAL);
        }
        let bytes = u64::from(wish.size).next_multiple_of(PAGE);
        let ask = Ask {
            bytes,
            align: if host { 0 } else { u64::from(wish.size) },
            place: if host { Place::Host } else { Place::Hbm(wish.channel as u8) },
            nc: wish.device.min(7),
            kind: if host { 6 } else { 16 },
            tgid: self.caller.tgid,
            life: Life::Device,
        };
        let base = self.driver.make_chunk(device, &ask)?;
        let handle = self.driver.make_handle(device, base)?;
        *self.slot(wish, number)? = Some(base);
        self.note("handle", u64::from(handle));
        Ok((self.offset_of(base), handle))
    }

    fn offset_of(&self, base: u64) -> u64 {
        let host = self.device().chunks.get(&base).is_some_and(|chunk| chunk.place == Place::Host);
        if host { base } else { u64::MAX }
    }
}
