//! The lines' text: the fields that a reader wants of the loader's own requests.

use super::super::sys::{Access, Errno, Fd};
use super::Line;
use crate::abi::errno::text;
use crate::abi::record::{
    CinitSet, CompatibleVersion, CrwlNcMap, CrwlNcMapExt, DeviceBasicInfo, DeviceDriverInfo, DeviceReady,
    DeviceReset, DmaCopyDescriptors, DmaCopyDescriptors64, DmaQueueCopyStart, DmaQueueInit,
    DmaQueueInitBatch, GetLogicalToPhysicalNcMap, MemAlloc, MemAllocV2, MemAllocV2MemType,
    MemAllocV2MemType64, MemAllocV2MemType64Pa, MemBufCopy, MemBufCopy64, MemFree, MemGetInfo, MemGetPa,
    PodStatus, PodStatusV2, Record,
};
use crate::abi::request::{self as req, Request};
use core::fmt::{self, Formatter, Write as _};

/// Describes requests: what goes in, what comes out in the structure.
macro_rules! requests {
    ($($request:ident: $record:ident { $($text:literal $field:ident $([$at:literal])? $(.$part:ident)?),* }
        -> { $($out:literal $result:ident $([$place:literal])? $(.$piece:ident)?),* };)*) => {
        fn inputs(request: u32, argument: &[u8], list: &mut List<'_, '_>) -> fmt::Result {
            match request {
                $(req::$request => {
                    #[allow(unused_variables, reason = "not every request has inputs")]
                    let Some(raw) = $record::from_bytes(argument) else { return Ok(()) };
                    $(list.item(format_args!($text, raw.$field $([$at])? $(.$part)?.get()))?;)*
                    Ok(())
                })*
                _ => Ok(()),
            }
        }

        fn outputs(request: u32, argument: &[u8], list: &mut List<'_, '_>) -> fmt::Result {
            match request {
                $(req::$request => {
                    #[allow(unused_variables, reason = "not every request has outputs")]
                    let Some(raw) = $record::from_bytes(argument) else { return Ok(()) };
                    $(list.item(format_args!($out, raw.$result $([$place])? $(.$piece)?.get()))?;)*
                    Ok(())
                })*
                _ => Ok(()),
            }
        }
    };
}

requests! {
    COMPATIBLE_VERSION: CompatibleVersion {} -> { "min={}" min, "max={}" max };
    DEVICE_BASIC_INFO: DeviceBasicInfo {} -> { "architecture={}" architecture, "revision={}" revision };
    DRIVER_INFO_GET: DeviceDriverInfo {} -> { "features={:#x}" feature_flags1 };
    GET_LOGICAL_TO_PHYSICAL_NC_MAP: GetLogicalToPhysicalNcMap { "entries={}" max_map_entries } -> {};
    POD_STATUS: PodStatus {} -> { "state={}" state };
    POD_STATUS_V2: PodStatusV2 {} -> { "state={}" v1.state };
    CRWL_NC_RANGE_MARK: CrwlNcMap { "count={}" nc_count, "from={}" start_nc_index, "to={}" end_nc_index }
        -> { "cores={:#x}" bitmap };
    CRWL_NC_RANGE_UNMARK: CrwlNcMap { "cores={:#x}" bitmap } -> {};
    CRWL_NC_RANGE_MARK_EXT0:
        CrwlNcMapExt { "count={}" nc_count, "from={}" start_nc_index, "to={}" end_nc_index }
        -> { "cores={:#x}" bitmap[0] };
    CRWL_NC_RANGE_UNMARK_EXT0: CrwlNcMapExt { "cores={:#x}" bitmap[0] } -> {};
    NC_RESET: DeviceReset { "cores={:#x}" nc_map } -> {};
    NC_RESET_READY: DeviceReady {} -> { "result={}" result };
    CINIT_SET_STATE: CinitSet { "core={}" nc_id, "state={}" state } -> { "state={}" new_state };
    MEM_ALLOC: MemAlloc { "size={}" size, "host={}" host_memory, "hbm={}" dram_channel, "core={}" nc_id } -> {};
    MEM_ALLOC_V2: MemAllocV2 {
        "size={}" size, "align={}" align, "host={}" host_memory, "hbm={}" dram_channel, "core={}" nc_id
    } -> {};
    MEM_ALLOC_V2MT: MemAllocV2MemType {
        "size={}" size, "align={}" align, "host={}" host_memory, "hbm={}" dram_channel, "core={}" nc_id,
        "type={}" mem_type
    } -> {};
    MEM_ALLOC_V2MT64: MemAllocV2MemType64 {
        "size={}" size, "align={}" align, "host={}" host_memory, "hbm={}" dram_channel, "core={}" nc_id,
        "type={}" mem_type
    } -> {};
    MEM_ALLOC_V2MT64_PA: MemAllocV2MemType64Pa {
        "size={}" size, "align={}" align, "host={}" host_memory, "hbm={}" dram_channel, "core={}" nc_id,
        "type={}" mem_type
    } -> { "address={:#x}" pa };
    MEM_GET_PA: MemGetPa { "handle={}" mem_handle } -> {};
    MEM_GET_INFO: MemGetInfo { "handle={}" mem_handle } -> {};
    MEM_FREE: MemFree { "handle={}" mem_handle } -> {};
    MEM_BUF_COPY: MemBufCopy {
        "handle={}" mem_handle, "offset={}" offset, "size={}" size, "to_device={}" copy_to_mem_handle
    } -> {};
    MEM_BUF_COPY64: MemBufCopy64 {
        "handle={}" mem_handle, "offset={}" offset, "size={}" size, "to_device={}" copy_to_mem_handle
    } -> {};
    DMA_QUEUE_INIT: DmaQueueInit {
        "engine={}" eng_id, "queue={}" qid, "tx_handle={}" tx_handle, "tx={}" tx_desc_count,
        "rx_handle={}" rx_handle, "rx={}" rx_desc_count
    } -> {};
    DMA_QUEUE_INIT_BATCH: DmaQueueInitBatch { "count={}" count } -> {};
    DMA_COPY_DESCRIPTORS: DmaCopyDescriptors {
        "handle={}" mem_handle, "offset={}" offset, "count={}" num_descs, "side={}" queue_type
    } -> {};
    DMA_COPY_DESCRIPTORS64: DmaCopyDescriptors64 {
        "handle={}" mem_handle, "offset={}" offset, "count={}" num_descs, "side={}" queue_type
    } -> {};
    DMA_QUEUE_COPY_START: DmaQueueCopyStart {
        "engine={}" eng_id, "queue={}" qid, "tx={}" tx_desc_count, "rx={}" rx_desc_count
    } -> {};
}

/// Where a request stores a handle or an address outside its structure.
pub(super) fn stores(request: u32, argument: &[u8]) -> Option<u64> {
    Some(match request {
        req::MEM_ALLOC => MemAlloc::from_bytes(argument)?.mem_handle.get(),
        req::MEM_ALLOC_V2 => MemAllocV2::from_bytes(argument)?.mem_handle.get(),
        req::MEM_ALLOC_V2MT => MemAllocV2MemType::from_bytes(argument)?.mem_handle.get(),
        req::MEM_ALLOC_V2MT64 => MemAllocV2MemType64::from_bytes(argument)?.mem_handle.get(),
        req::MEM_ALLOC_V2MT64_PA => MemAllocV2MemType64Pa::from_bytes(argument)?.mem_handle.get(),
        req::MEM_GET_PA => MemGetPa::from_bytes(argument)?.pa.get(),
        req::MEM_GET_INFO => MemGetInfo::from_bytes(argument)?.pa.get(),
        _ => return None,
    })
}

/// What [`stores`] finds, in words.
fn stored(request: u32, value: u64, list: &mut List<'_, '_>) -> fmt::Result {
    if matches!(request, req::MEM_GET_PA | req::MEM_GET_INFO) {
        list.item(format_args!("address={value:#x}"))
    } else {
        list.item(format_args!("handle={value}"))
    }
}

/// Words with commas between them, in braces; nothing at all if there are none.
struct List<'f, 'b> {
    to: &'f mut Formatter<'b>,
    before: &'static str,
}

impl<'f, 'b> List<'f, 'b> {
    const fn new(to: &'f mut Formatter<'b>, before: &'static str) -> Self {
        Self { to, before }
    }

    fn item(&mut self, words: fmt::Arguments<'_>) -> fmt::Result {
        self.to.write_str(self.before)?;
        self.before = ", ";
        self.to.write_fmt(words)
    }

    fn end(self) -> fmt::Result {
        if self.before == ", " { self.to.write_char('}') } else { Ok(()) }
    }
}

fn refusal(errno: Errno, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, " = -1, errno {errno}: {}", text(errno))
}

fn ioctl(line: (Fd, u32, &[u8], i64, Option<u64>), f: &mut Formatter<'_>) -> fmt::Result {
    let (fd, request, argument, raw, value) = line;
    match Request::name_of(request) {
        Some(name) => write!(f, "ioctl({}, {name}", fd.0)?,
        None => write!(f, "ioctl({}, {request:#010x}", fd.0)?,
    }
    let mut list = List::new(f, ", {");
    inputs(request, argument, &mut list)?;
    list.end()?;
    f.write_char(')')?;
    match raw {
        0 => f.write_str(" = 0")?,
        raw if raw < 0 => return refusal(Errno::try_from(-raw).unwrap_or(0), f),
        raw => return write!(f, " = {raw}, a failure: so many bytes not copied, or a request still open"),
    }
    let mut list = List::new(f, " {");
    outputs(request, argument, &mut list)?;
    if let Some(value) = value {
        stored(request, value, &mut list)?;
    }
    list.end()
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Open { path, access, result } => {
                let mode = match access {
                    Access::Read => "O_RDONLY",
                    Access::Write => "O_WRONLY",
                    Access::ReadWrite => "O_RDWR",
                };
                write!(f, "open(\"{}\", {mode}|O_CLOEXEC)", path.to_bytes().escape_ascii())?;
                match result {
                    Ok(fd) => write!(f, " = {}", fd.0),
                    Err(errno) => refusal(errno, f),
                }
            }
            Self::Close { fd } => write!(f, "close({})", fd.0),
            Self::Ioctl { fd, request, argument, raw, stored } => {
                ioctl((fd, request, argument, raw, stored), f)
            }
            Self::Map { fd, length, offset, result } => {
                write!(f, "mmap({}, {{length={length}, offset={offset:#x}}})", fd.0)?;
                match result {
                    Ok(()) => f.write_str(" = 0"),
                    Err(errno) => refusal(errno, f),
                }
            }
            Self::Unmap { length } => write!(f, "munmap({{length={length}}})"),
        }
    }
}
