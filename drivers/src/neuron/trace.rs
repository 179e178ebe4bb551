//! Requests as lines, like a system-call trace but with names.

use super::sys::{Access, Errno, Fd, Sys};
use crate::abi::errno::text;
use crate::abi::record::{
    CinitSet, CrwlNcMapExt, DeviceReady, DeviceReset, DmaCopyDescriptors64, DmaQueueCopyStart, DmaQueueInit,
    MemAllocV2MemType64, MemBufCopy64, MemFree, MemGetPa, Record,
};
use crate::abi::request::{self as req, Request};
use core::ffi::CStr;
use core::fmt;

/// One call that was made.
#[derive(Clone, Copy, Debug)]
pub enum Line<'a> {
    /// A node was opened.
    Open {
        /// Its path.
        path: &'a CStr,
        /// How.
        access: Access,
        /// The descriptor, or the errno.
        result: Result<Fd, Errno>,
    },
    /// A descriptor was closed.
    Close {
        /// Which.
        fd: Fd,
    },
    /// A request.
    Ioctl {
        /// Its value.
        request: u32,
        /// The argument structure after the call.
        argument: &'a [u8],
        /// The raw result.
        raw: i64,
    },
}

/// System calls that are watched.
#[derive(Clone, Copy, Debug)]
pub struct Traced<S, W> {
    sys: S,
    watch: W,
}

impl<S, W: Fn(&Line<'_>)> Traced<S, W> {
    /// Tells `watch` about every call.
    pub const fn new(sys: S, watch: W) -> Self {
        Self { sys, watch }
    }
}

impl<S: Sys, W: Fn(&Line<'_>)> Sys for Traced<S, W> {
    fn open(&self, path: &CStr, access: Access) -> Result<Fd, Errno> {
        let result = self.sys.open(path, access);
        (self.watch)(&Line::Open { path, access, result });
        result
    }

    fn close(&self, fd: Fd) {
        self.sys.close(fd);
        (self.watch)(&Line::Close { fd });
    }

    fn exists(&self, path: &CStr) -> bool {
        self.sys.exists(path)
    }

    fn read(&self, fd: Fd, out: &mut [u8]) -> Result<usize, Errno> {
        self.sys.read(fd, out)
    }

    unsafe fn ioctl(&self, fd: Fd, request: u32, argument: *mut u8) -> i64 {
        // SAFETY: the caller's promise is passed on unchanged.
        let raw = unsafe { self.sys.ioctl(fd, request, argument) };
        let known =
            Request::from_value(request).or_else(|| req::LATER.iter().find(|row| row.value == request));
        let bytes = known.map_or(0, |row| usize::from(row.bytes));
        let argument = if argument.is_null() || bytes == 0 {
            &[][..]
        } else {
            // SAFETY: the caller promised that the argument is valid for what the request reads and writes,
            // which is this many bytes; the call is over and nobody writes them now.
            unsafe { core::slice::from_raw_parts(argument, bytes) }
        };
        (self.watch)(&Line::Ioctl { request, argument, raw });
        raw
    }

    fn mmap(&self, fd: Fd, length: usize, offset: u64, write: bool) -> Result<*mut u8, Errno> {
        self.sys.mmap(fd, length, offset, write)
    }

    unsafe fn munmap(&self, address: *mut u8, length: usize) {
        // SAFETY: the caller's promise is passed on unchanged.
        unsafe { self.sys.munmap(address, length) }
    }

    fn pause(&self) {
        self.sys.pause();
    }

    fn milliseconds(&self) -> u64 {
        self.sys.milliseconds()
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { path, access, result } => {
                write!(f, "open({}, {access:?})", path.to_bytes().escape_ascii())?;
                match result {
                    Ok(_) => f.write_str(" = ok"),
                    Err(errno) => write!(f, " = errno {errno}: {}", text(*errno)),
                }
            }
            Self::Close { .. } => f.write_str("close()"),
            Self::Ioctl { request, argument, raw } => {
                match Request::name_of(*request) {
                    Some(name) => f.write_str(name)?,
                    None => write!(f, "request {request:#010x}")?,
                }
                f.write_str("(")?;
                fields(*request, argument, f)?;
                f.write_str(")")?;
                match *raw {
                    0 => f.write_str(" = 0"),
                    raw if raw < 0 => write!(f, " = errno {}: {}", -raw, text((-raw) as i32)),
                    raw => write!(f, " = +{raw}"),
                }
            }
        }
    }
}

/// The fields that a reader wants of the loader's own requests.
fn fields(request: u32, argument: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    macro_rules! show {
        ($record:ident, $text:literal $(, $field:ident)*) => {
            match $record::from_bytes(argument) {
                Some(raw) => write!(f, $text $(, raw.$field.get())*),
                None => Ok(()),
            }
        };
    }
    match request {
        req::MEM_ALLOC_V2MT64 | req::MEM_ALLOC_V2MT64_PA => {
            show!(
                MemAllocV2MemType64,
                "size {}, align {}, host {}, hbm {}, core {}, type {}",
                size,
                align,
                host_memory,
                dram_channel,
                nc_id,
                mem_type
            )
        }
        req::MEM_FREE => show!(MemFree, "handle {}", mem_handle),
        req::MEM_GET_PA => show!(MemGetPa, "handle {}", mem_handle),
        req::MEM_BUF_COPY64 => {
            show!(
                MemBufCopy64,
                "handle {}, offset {}, size {}, to device {}",
                mem_handle,
                offset,
                size,
                copy_to_mem_handle
            )
        }
        req::CRWL_NC_RANGE_MARK_EXT0 => {
            show!(CrwlNcMapExt, "{} cores of {} to {}", nc_count, start_nc_index, end_nc_index)
        }
        req::NC_RESET => show!(DeviceReset, "cores {:#x}", nc_map),
        req::NC_RESET_READY => show!(DeviceReady, "result {}", result),
        req::CINIT_SET_STATE => show!(CinitSet, "core {}, state {}, now {}", nc_id, state, new_state),
        req::DMA_QUEUE_INIT => {
            show!(
                DmaQueueInit,
                "engine {}, queue {}, tx {}, rx {}",
                eng_id,
                qid,
                tx_desc_count,
                rx_desc_count
            )
        }
        req::DMA_COPY_DESCRIPTORS64 => {
            show!(DmaCopyDescriptors64, "handle {}, {} descriptors at {}", mem_handle, num_descs, offset)
        }
        req::DMA_QUEUE_COPY_START => {
            show!(
                DmaQueueCopyStart,
                "engine {}, queue {}, tx {}, rx {}",
                eng_id,
                qid,
                tx_desc_count,
                rx_desc_count
            )
        }
        _ => Ok(()),
    }
}
