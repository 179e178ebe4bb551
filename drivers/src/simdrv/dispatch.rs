//! From a request value to its handler, by the driver's own rules (driver-abi.md §3 point 4, §4).

use super::caller::{Caller, OpenId, Outcome, UserMemory};
use super::device::DeviceState;
use super::driver::{Driver, Open};
use super::fault::{Action, When};
use super::memory::Memory;
use super::trace::Kind;
use super::violation::What;
use crate::abi::errno::{EACCES, EBADF, EFAULT, EINVAL, EIO, ENOTTY, EPERM};
use crate::abi::record::Record;
use crate::abi::request::{self as req, Dispatch, Gate, Lane, Request};
use alloc::string::String;
use core::fmt::Write as _;

/// Why a handler ends without success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fail {
    /// A raw result: negated errno, or a positive number.
    Raw(i64),
    /// The caller sleeps.
    Blocked,
    /// The real driver would stop the kernel.
    Stop(&'static str),
}

impl Fail {
    pub(super) const fn errno(errno: i32) -> Self {
        Self::Raw(-(errno as i64))
    }
}

/// What a handler gives.
pub(super) type Reply = Result<i64, Fail>;

pub(super) const fn fail<T>(errno: i32) -> Result<T, Fail> {
    Err(Fail::errno(errno))
}

/// One request on its way through the driver.
pub(super) struct Call<'a, M> {
    pub(super) driver: &'a mut Driver<M>,
    pub(super) caller: Caller,
    pub(super) open: Open,
    pub(super) request: u32,
    pub(super) arg: u64,
    pub(super) user: &'a mut dyn UserMemory,
    pub(super) detail: String,
}

impl<M: Memory> Driver<M> {
    /// `ioctl` on an open file.
    pub fn ioctl(
        &mut self,
        caller: Caller,
        open: OpenId,
        request: u32,
        arg: u64,
        user: &mut dyn UserMemory,
    ) -> Outcome {
        let Some(&file) = self.opens.get(&open) else { return Outcome::Done(-i64::from(EBADF)) };
        self.collect_registers(file.device);
        let (reply, detail) = self.serve(caller, file, request, arg, user);
        self.collect_registers(file.device);
        if reply != Err(Fail::Blocked) {
            let result = match reply {
                Ok(value) | Err(Fail::Raw(value)) => value,
                _ => i64::MIN,
            };
            self.record(caller, open.0, Kind::Ioctl { request, detail }, result);
        }
        Outcome::from_reply(reply)
    }

    fn serve(
        &mut self,
        caller: Caller,
        open: Open,
        request: u32,
        arg: u64,
        user: &mut dyn UserMemory,
    ) -> (Reply, String) {
        let asleep = self.sleeping.contains_key(&(caller.tid, request));
        if !asleep {
            for when in [When::Event, When::Request(req::number(request))] {
                if let Some(raw) = self.inject(open.device, when) {
                    return (Err(Fail::Raw(raw)), String::new());
                }
            }
        }
        let mut call = Call { driver: self, caller, open, request, arg, user, detail: String::new() };
        let reply = call.run();
        (reply, call.detail)
    }

    /// Applies a fault that concerns a whole call; gives the raw result if the call must not happen.
    pub(super) fn inject(&mut self, device: usize, when: When) -> Option<i64> {
        match self.faults.hit(when, |action| action.is_whole())? {
            Action::Return(raw) => {
                self.injected = true;
                Some(raw)
            }
            Action::ResetByOther => {
                self.injected = true;
                self.reset_by_other(device);
                None
            }
            Action::Invalidate => {
                self.injected = true;
                self.invalidate(device as u32);
                None
            }
            _ => None,
        }
    }
}

impl<M: Memory> Call<'_, M> {
    fn run(&mut self) -> Reply {
        let misc = self.open.flags.is_misc();
        let number = req::number(self.request);
        let exact = Request::from_value(self.request);
        if !misc && let Some(found) = exact {
            let gated = matches!(found.gate, Gate::Attached | Gate::AttachedFull);
            if gated && self.device().attached(self.caller.tgid).is_none() {
                return fail(EACCES);
            }
        }
        if misc && !misc_allows(self.request, self.driver.config.version.modern()) {
            return fail(EINVAL);
        }
        match number {
            23 => self.mem_copy(),
            24 => self.mem_buf_copy(),
            28 => self.memset(),
            38 => self.copy_descriptors(),
            102 => self.mem_alloc_v2(),
            105 => self.program_engine_nc(),
            108 => self.mem_copy_async(),
            110 => self.driver_info(),
            111 => self.mem_mc_get_info(),
            115 => self.rid_map(),
            121 => self.pod_info(),
            122 => self.pod_status(),
            123 => self.pod_ctrl(),
            124 => self.zero_copy(),
            _ if exact.is_some() || req::LATER.iter().any(|later| later.value == self.request) => {
                self.exact()
            }
            _ => fail(EINVAL),
        }
    }

    fn exact(&mut self) -> Reply {
        match self.request {
            req::DEVICE_RESET => self.device_reset(),
            req::DEVICE_READY => self.device_ready(),
            req::DEVICE_INFO => self.device_info(),
            req::DEVICE_INIT | req::DEVICE_RELEASE | req::DMA_ENG_INIT | req::NOTIFICATIONS_DESTROY_V1 => {
                Ok(0)
            }
            req::DEVICE_APP_PID => self.app_pid(),
            req::DEVICE_GET_ALL_APPS_INFO => self.apps_info(),
            req::BAR_READ => self.bar_read(),
            req::BAR_WRITE => self.bar_write(),
            req::POST_METRIC => self.post_metric(),
            req::MEM_ALLOC => self.mem_alloc(),
            req::MEM_FREE => self.mem_free(),
            req::MEM_GET_PA => self.mem_get_pa(),
            req::MEM_GET_INFO => self.mem_get_info(),
            req::MEM_GET_EXTENDED_INFO => self.mem_get_extended_info(),
            req::PROGRAM_ENGINE => self.program_engine(),
            req::DMA_QUIESCE_QUEUES => fail(ENOTTY),
            req::NOTIFICATIONS_QUEUE_INFO => fail(EPERM),
            _ => self.exact_dma(),
        }
    }

    fn exact_dma(&mut self) -> Reply {
        match self.request {
            req::DMA_ENG_SET_STATE => self.eng_set_state(),
            req::DMA_ENG_GET_STATE => self.eng_get_state(),
            req::DMA_QUEUE_INIT => self.queue_init(),
            req::DMA_QUEUE_INIT_BATCH => self.queue_init_batch(),
            req::DMA_QUEUE_RELEASE => Ok(0),
            req::DMA_QUEUE_COPY_START => self.copy_start(),
            req::DMA_ACK_COMPLETED => self.ack_completed(),
            req::DMA_QUEUE_GET_STATE => self.queue_get_state(),
            req::DMA_DESCRIPTOR_COPYOUT => self.descriptor_copyout(),
            req::SEMAPHORE_INCREMENT
            | req::SEMAPHORE_DECREMENT
            | req::SEMAPHORE_READ
            | req::SEMAPHORE_WRITE => self.semaphore(),
            req::EVENT_SET | req::EVENT_GET => self.event(),
            req::NOTIFICATIONS_INIT_V1 => self.notifications_v1(),
            req::NOTIFICATIONS_INIT_V2 => self.notifications_v2(),
            req::NOTIFICATIONS_INIT_WITH_REALLOC_V2 => self.notifications_realloc(),
            req::READ_HW_COUNTERS => self.read_hw_counters(),
            req::ACQUIRE_NEURON_DS => self.acquire_datastore(),
            req::RELEASE_NEURON_DS => self.release_datastore(),
            _ => self.exact_shared(),
        }
    }

    fn exact_shared(&mut self) -> Reply {
        match self.request {
            req::CRWL_READER_ENTER => self.reader_enter(),
            req::CRWL_READER_EXIT => self.reader_exit(),
            req::CRWL_WRITER_ENTER => self.writer_enter(),
            req::CRWL_WRITER_DOWNGRADE => self.writer_downgrade(),
            req::CRWL_NC_RANGE_MARK => self.range_mark(),
            req::CRWL_NC_RANGE_MARK_EXT0 => self.range_mark_ext(),
            req::CRWL_NC_RANGE_UNMARK => self.range_unmark(),
            req::CRWL_NC_RANGE_UNMARK_EXT0 => self.range_unmark_ext(),
            req::CINIT_SET_STATE => self.cinit_set_state(),
            req::NC_MODEL_STARTED_COUNT => self.model_started_count(),
            req::COMPATIBLE_VERSION => self.compatible_version(),
            req::DEVICE_BASIC_INFO => self.device_basic_info(),
            req::DEVICE_BDF => self.device_bdf(),
            req::NC_RESET => self.nc_reset(),
            req::NC_RESET_READY => self.nc_reset_ready(),
            req::DEVICE_RESET_STATUS => self.device_reset_status(),
            req::DEVICE_BDF_EXT => self.device_bdf_ext(),
            req::DMABUF_FD => self.dmabuf_fd(),
            req::MEM_COPY_ASYNC_WAIT => self.mem_copy_async_wait(),
            req::RESOURCE_MMAP_INFO => self.resource_mmap_info(),
            req::PRINTK => self.printk(),
            req::HOST_DEVICE_ID => self.host_device_id(),
            req::DUMP_MEM_CHUNKS => self.dump_mem_chunks(),
            req::NC_PID_STATE_DUMP => self.pid_state_dump(),
            req::HBM_SCRUB_START => self.scrub_start(),
            req::HBM_SCRUB_WAIT => self.scrub_wait(),
            req::GET_LOGICAL_TO_PHYSICAL_NC_MAP => self.core_map(),
            req::GET_VA_PLACEMENT => self.va_placement(),
            _ => fail(EINVAL),
        }
    }

    pub(super) fn device(&self) -> &DeviceState<M> {
        &self.driver.devices[self.open.device]
    }

    pub(super) fn device_mut(&mut self) -> &mut DeviceState<M> {
        &mut self.driver.devices[self.open.device]
    }

    /// An argument that could not be read: a count, or EFAULT on modern drivers (§6).
    pub(super) fn unread(&self, bytes: usize) -> Fail {
        if self.driver.config.version.modern() { Fail::errno(EFAULT) } else { Fail::Raw(bytes as i64) }
    }

    /// Reads the argument structure.
    pub(super) fn arg<T: Record + Default>(&mut self) -> Result<T, Fail> {
        self.get(self.arg)
    }

    /// Reads a record at a user address.
    pub(super) fn get<T: Record + Default>(&mut self, address: u64) -> Result<T, Fail> {
        let mut record = T::default();
        match self.user.read(address, record.as_mut_bytes()) {
            0 => Ok(record),
            missing => Err(self.unread(missing)),
        }
    }

    /// Writes a record back to the argument address.
    pub(super) fn put<T: Record>(&mut self, record: &T) -> Reply {
        self.put_bytes(self.arg, record.as_bytes())
    }

    /// Writes bytes to a user address; a fault there is a positive count on every driver.
    pub(super) fn put_bytes(&mut self, address: u64, bytes: &[u8]) -> Reply {
        match self.user.write(address, bytes) {
            0 => Ok(0),
            missing => Err(Fail::Raw(missing as i64)),
        }
    }

    /// Records something the loader must not do; fails with EIO when paranoid.
    pub(super) fn violation(&mut self, what: What) -> Result<(), Fail> {
        if self.driver.violate(self.caller.tgid, self.request, what) { fail(EIO) } else { Ok(()) }
    }

    /// Adds `key=value` to the trace.
    pub(super) fn note(&mut self, key: &str, value: u64) {
        let gap = if self.detail.is_empty() { "" } else { " " };
        let shown = if value > 0xFFFF {
            write!(self.detail, "{gap}{key}={value:#x}")
        } else {
            write!(self.detail, "{gap}{key}={value}")
        };
        debug_assert!(shown.is_ok(), "a String takes every character");
    }
}

/// Whether a request may be issued on the misc lane.
fn misc_allows(request: u32, modern: bool) -> bool {
    let later = if modern { req::LATER } else { &[] };
    req::TABLE.iter().chain(later).filter(|row| row.lane == Lane::Misc).any(|row| match row.dispatch {
        Dispatch::Exact => row.value == request,
        Dispatch::Number => row.number() == req::number(request),
    })
}
