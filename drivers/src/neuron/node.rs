//! One open descriptor and typed requests on it.

use super::fault::Fault;
use super::sys::{Fd, Sys};
use crate::abi::errno::EINTR;
use crate::abi::record::{MemBufCopy, MemBufCopy64, MemGetPa, Record};
use crate::abi::request as req;

/// A descriptor of a device node. It is never duplicated.
#[derive(Debug)]
pub(super) struct Node<S> {
    pub(super) sys: S,
    pub(super) fd: Fd,
}

/// Requests whose records carry no address: what they read and write is the record itself.
///
/// `MEM_GET_PA`, allocations, buffer copies, descriptors and core maps are not among them.
pub(super) trait Flat: Record {
    /// Values that take this record.
    const REQUESTS: &'static [u32];
}

macro_rules! flat {
    ($($record:ident: $($request:ident),+;)*) => {
        $(impl Flat for crate::abi::record::$record {
            const REQUESTS: &'static [u32] = &[$(req::$request),+];
        })*
    };
}

flat! {
    CompatibleVersion: COMPATIBLE_VERSION;
    DeviceBasicInfo: DEVICE_BASIC_INFO;
    DeviceDriverInfo: DRIVER_INFO_GET;
    DeviceInfo: DEVICE_INFO;
    PodStatus: POD_STATUS;
    PodStatusV2: POD_STATUS_V2;
    CrwlNcMap: CRWL_NC_RANGE_MARK, CRWL_NC_RANGE_UNMARK;
    CrwlNcMapExt: CRWL_NC_RANGE_MARK_EXT0, CRWL_NC_RANGE_UNMARK_EXT0;
    DeviceReset: NC_RESET;
    DeviceReady: NC_RESET_READY;
    CinitSet: CINIT_SET_STATE;
    MemFree: MEM_FREE;
    MemCopy64: MEM_COPY64;
    Memset64: MEMSET64;
    DmaQueueInit: DMA_QUEUE_INIT;
    DmaQueueInitBatch: DMA_QUEUE_INIT_BATCH;
    DmaQueueCopyStart: DMA_QUEUE_COPY_START;
    Semaphore: SEMAPHORE_READ, SEMAPHORE_WRITE, SEMAPHORE_INCREMENT, SEMAPHORE_DECREMENT;
}

/// Requests that are made again after EINTR: those that change nothing, and copies and fills, which store the same
/// bytes in the same place. The driver itself never returns EINTR from a request (driver-abi.md §12.1); a filter or a tracer
/// around the process may. Allocations are made again if the handle shows that nothing was granted. Claims and resets
/// are not: their first attempt may have done its work.
const REPEATABLE: [u32; 12] = [
    req::COMPATIBLE_VERSION,
    req::DEVICE_BASIC_INFO,
    req::DRIVER_INFO_GET,
    req::GET_LOGICAL_TO_PHYSICAL_NC_MAP,
    req::POD_STATUS,
    req::POD_STATUS_V2,
    req::MEM_GET_PA,
    req::MEM_GET_INFO,
    req::MEM_BUF_COPY,
    req::MEM_BUF_COPY64,
    req::MEMSET64,
    req::SEMAPHORE_READ,
];

/// How often such a request is made at most: an EINTR that never ends is a refusal.
pub(super) const ATTEMPTS: u32 = 8;

impl<S: Sys> Node<S> {
    /// Makes a request, again after EINTR if that is harmless.
    ///
    /// # Safety
    /// As [`Sys::ioctl`], for as long as the call lasts.
    pub(super) unsafe fn issue(&self, request: u32, argument: *mut u8) -> Result<(), Fault> {
        let mut attempt = 1;
        loop {
            // SAFETY: the caller's promise is passed on unchanged.
            let raw = unsafe { self.sys.ioctl(self.fd, request, argument) };
            if raw != -i64::from(EINTR) || !REPEATABLE.contains(&request) || attempt == ATTEMPTS {
                return Fault::check(request, raw);
            }
            attempt += 1;
        }
    }

    /// A request whose record holds no address.
    pub(super) fn call<T: Flat>(&self, request: u32, record: &mut T) -> Result<(), Fault> {
        debug_assert!(T::REQUESTS.contains(&request), "the record belongs to another request");
        // SAFETY: the driver reads and writes at most the record's bytes (driver-abi.md §5), which are borrowed
        // for the call; the record carries no address that the driver would follow.
        unsafe { self.issue(request, record.as_mut_bytes().as_mut_ptr()) }
    }

    /// A request whose record holds addresses.
    ///
    /// # Safety
    /// Every address in the record must be valid for what the request does there, for the length of the call.
    pub(super) unsafe fn call_with<T: Record>(&self, request: u32, record: &mut T) -> Result<(), Fault> {
        // SAFETY: the record's own bytes are borrowed; the caller answers for the addresses inside.
        unsafe { self.issue(request, record.as_mut_bytes().as_mut_ptr()) }
    }

    /// The physical address of a chunk.
    pub(super) fn address(&self, handle: u64) -> Result<u64, Fault> {
        let mut address = 0u64;
        let mut raw = MemGetPa::default();
        raw.mem_handle.set(handle);
        raw.pa.set(&raw mut address as u64);
        // SAFETY: the only address is that of `address`, eight bytes that live through the call.
        unsafe { self.call_with(req::MEM_GET_PA, &mut raw) }.map(|()| address)
    }

    /// Copies `size` bytes from a buffer into a chunk, or the other way.
    ///
    /// # Safety
    /// `buffer` must be valid for `size` bytes, to read or to write as `to_device` says.
    pub(super) unsafe fn copy(
        &self,
        wide: bool,
        (handle, offset): (u64, u64),
        buffer: u64,
        size: u64,
        to_device: bool,
    ) -> Result<(), Fault> {
        if wide {
            let mut raw = MemBufCopy64::default();
            raw.mem_handle.set(handle);
            raw.buffer.set(buffer);
            raw.size.set(size);
            raw.offset.set(offset);
            raw.copy_to_mem_handle.set(u32::from(to_device));
            // SAFETY: the caller answers for the buffer, the only address in the record.
            return unsafe { self.call_with(req::MEM_BUF_COPY64, &mut raw) };
        }
        let (Ok(short), Ok(near)) = (u32::try_from(size), u32::try_from(offset)) else {
            return Fault::check(req::MEM_BUF_COPY, -i64::from(crate::abi::errno::E2BIG));
        };
        let mut raw = MemBufCopy::default();
        raw.mem_handle.set(handle);
        raw.buffer.set(buffer);
        raw.size.set(short);
        raw.offset.set(near);
        raw.copy_to_mem_handle.set(u32::from(to_device));
        // SAFETY: the caller answers for the buffer, the only address in the record.
        unsafe { self.call_with(req::MEM_BUF_COPY, &mut raw) }
    }

    pub(super) fn close(&self) {
        self.sys.close(self.fd);
    }
}
