//! Memory, copies and engine programming (driver-abi.md §5).

use super::records;
use zerocopy::little_endian::{U32, U64};

records! {
    "`mem_alloc`, 32 bytes."
    MemAlloc: 32 {
        size: U64, "In, +0.";
        host_memory: U32, "In, +8.";
        dram_channel: U32, "In, +12.";
        dram_region: U32, "In, +16.";
        nc_id: U32, "In, +20.";
        mem_handle: U64, "Out, +24, user address of a u64.";
    }
    "`mem_alloc_v2`, 40 bytes."
    MemAllocV2: 40 {
        size: U64, "In, +0.";
        align: U64, "In, +8.";
        host_memory: U32, "In, +16.";
        dram_channel: U32, "In, +20.";
        dram_region: U32, "In, +24.";
        nc_id: U32, "In, +28.";
        mem_handle: U64, "Out, +32, user address of a u64.";
    }
    "`mem_alloc_v2_mem_type`, 48 bytes."
    MemAllocV2MemType: 48 {
        size: U64, "In, +0.";
        align: U64, "In, +8.";
        host_memory: U32, "In, +16.";
        dram_channel: U32, "In, +20.";
        dram_region: U32, "In, +24.";
        nc_id: U32, "In, +28.";
        mem_type: U32, "In, +32.";
        pad: [u8; 4], "Padding.";
        mem_handle: U64, "Out, +40, user address of a u64.";
    }
    "`mem_alloc_v2_mem_type64`, 56 bytes."
    MemAllocV2MemType64: 56 {
        size: U64, "In, +0.";
        align: U64, "In, +8.";
        host_memory: U32, "In, +16.";
        dram_channel: U32, "In, +20.";
        dram_region: U32, "In, +24.";
        nc_id: U32, "In, +28.";
        mem_type: U32, "In, +32.";
        pad: [u8; 4], "Padding.";
        mem_handle: U64, "Out, +40, user address of a u64.";
        reserved: U32, "Field, +48.";
        pad1: [u8; 4], "Padding.";
    }
    "`mem_get_info`, 24 bytes."
    MemGetInfo: 24 {
        mem_handle: U64, "In, +0.";
        mmap_offset: U64, "Out, +8, user address of a u64.";
        pa: U64, "Out, +16, user address of a u64.";
    }
    "`mem_get_pa`, 16 bytes."
    MemGetPa: 16 {
        mem_handle: U64, "In, +0.";
        pa: U64, "Out, +8, user address of a u64.";
    }
    "`mem_get_extended_info`, 48 bytes."
    MemGetExtendedInfo: 48 {
        mem_handle: U64, "In, +0.";
        version: U32, "In, +8.";
        host_memory: U32, "Out, +12.";
        mmap_offset: U64, "Out, +16.";
        pa: U64, "Out, +24.";
        pid: U64, "Out, +32.";
        size: U64, "Out, +40.";
    }
    "`mem_free`, 8 bytes."
    MemFree: 8 {
        mem_handle: U64, "In, +0.";
    }
    "`mem_copy`, 32 bytes."
    MemCopy: 32 {
        src_mem_handle: U64, "In, +0.";
        dst_mem_handle: U64, "In, +8.";
        size: U32, "In, +16.";
        src_offset: U32, "In, +20.";
        dst_offset: U32, "In, +24.";
        pad: [u8; 4], "Padding.";
    }
    "`mem_copy64`, 40 bytes."
    MemCopy64: 40 {
        src_mem_handle: U64, "In, +0.";
        dst_mem_handle: U64, "In, +8.";
        size: U64, "In, +16.";
        src_offset: U64, "In, +24.";
        dst_offset: U64, "In, +32.";
    }
    "`mem_copy_async`, 48 bytes."
    MemCopyAsync: 48 {
        src_mem_handle: U64, "In, +0.";
        dst_mem_handle: U64, "In, +8.";
        size: U32, "In, +16.";
        src_offset: U32, "In, +20.";
        dst_offset: U32, "In, +24.";
        pad: [u8; 4], "Padding.";
        host_prefetch_addr: U64, "In, +32.";
        pwait_handle: U32, "In, +40.";
        wait_handle: U32, "Out, +44.";
    }
    "`mem_copy_async64`, 56 bytes."
    MemCopyAsync64: 56 {
        src_mem_handle: U64, "In, +0.";
        dst_mem_handle: U64, "In, +8.";
        size: U64, "In, +16.";
        src_offset: U64, "In, +24.";
        dst_offset: U64, "In, +32.";
        host_prefetch_addr: U64, "In, +40.";
        pwait_handle: U32, "In, +48.";
        wait_handle: U32, "Out, +52.";
    }
    "`mem_copy_async_wait`, 24 bytes."
    MemCopyAsyncWait: 24 {
        src_mem_handle: U64, "In, +0.";
        dst_mem_handle: U64, "In, +8.";
        pwait_handle: U32, "In, +16.";
        pad: [u8; 4], "Padding.";
    }
    "`memset`, 24 bytes."
    Memset: 24 {
        mem_handle: U64, "In, +0.";
        offset: U64, "In, +8.";
        value: U32, "In, +16.";
        size: U32, "In, +20.";
    }
    "`memset64`, 32 bytes."
    Memset64: 32 {
        mem_handle: U64, "In, +0.";
        offset: U64, "In, +8.";
        value: U32, "In, +16.";
        pad: [u8; 4], "Padding.";
        size: U64, "In, +24.";
    }
    "`mem_buf_copy`, 32 bytes."
    MemBufCopy: 32 {
        mem_handle: U64, "In, +0.";
        buffer: U64, "In, +8, user address of bytes.";
        size: U32, "In, +16.";
        offset: U32, "In, +20.";
        copy_to_mem_handle: U32, "In, +24.";
        pad: [u8; 4], "Padding.";
    }
    "`mem_buf_copy64`, 40 bytes."
    MemBufCopy64: 40 {
        mem_handle: U64, "In, +0.";
        buffer: U64, "In, +8, user address of bytes.";
        size: U64, "In, +16.";
        offset: U64, "In, +24.";
        copy_to_mem_handle: U32, "In, +32.";
        pad: [u8; 4], "Padding.";
    }
    "`program_engine`, 24 bytes."
    ProgramEngine: 24 {
        dst: U64, "In, +0.";
        buffer: U64, "In, +8, user address of bytes.";
        size: U32, "In, +16.";
        offset: U32, "In, +20.";
    }
    "`program_engine_nc`, 32 bytes."
    ProgramEngineNc: 32 {
        nc_id: U32, "In, +0.";
        pad: [u8; 4], "Padding.";
        dst: U64, "In, +8.";
        buffer: U64, "In, +16, user address of bytes.";
        size: U32, "In, +24.";
        offset: U32, "In, +28.";
    }
    "`program_engine_nc64`, 40 bytes."
    ProgramEngineNc64: 40 {
        nc_id: U32, "In, +0.";
        pad: [u8; 4], "Padding.";
        dst: U64, "In, +8.";
        buffer: U64, "In, +16, user address of bytes.";
        size: U64, "In, +24.";
        offset: U64, "In, +32.";
    }
    "`mem_get_mc_mmap_info`, 24 bytes."
    MemGetMcMmapInfo: 24 {
        pa: U64, "In, +0.";
        mmap_offset: U64, "Out, +8.";
        size: U64, "Out, +16.";
    }
    "`mem_get_mc_mmap_info_v2`, 32 bytes."
    MemGetMcMmapInfoV2: 32 {
        pa: U64, "In, +0.";
        mmap_offset: U64, "Out, +8.";
        size: U64, "Out, +16.";
        mem_handle: U64, "Out, +24.";
    }
}
