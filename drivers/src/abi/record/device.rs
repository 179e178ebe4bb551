//! Devices, resets, registers and memory maps of the device (driver-abi.md §5).

use super::records;
use zerocopy::little_endian::{I32, U32, U64};

records! {
    "`device_init`, 4 bytes."
    DeviceInit: 4 {
        mem_regions: U32, "In, +0.";
    }
    "`device_reset`, 8 bytes."
    DeviceReset: 8 {
        nc_map: U32, "In, +0.";
        request_id: U32, "Out, +4.";
    }
    "`device_ready`, 8 bytes."
    DeviceReady: 8 {
        request_id: U32, "In, +0.";
        result: I32, "Out, +4.";
    }
    "`bar_rw`, 32 bytes."
    BarRw: 32 {
        bar: U32, "In, +0.";
        pad: [u8; 4], "Padding.";
        address: U64, "In, +8, user address of u64 values.";
        data: U64, "In and out, +16, user address of u32 values.";
        count: U32, "In, +24.";
        pad1: [u8; 4], "Padding.";
    }
    "`post_metric`, 16 bytes."
    PostMetric: 16 {
        data: U64, "In, +0, user address of u32 values.";
        data_size: U32, "In, +8.";
        pad: [u8; 4], "Padding.";
    }
    "`read_hw_counters`, 24 bytes."
    ReadHwCounters: 24 {
        address: U64, "In, +0, user address of u64 values.";
        data: U64, "Out, +8, user address of u32 values.";
        count: U32, "In, +16.";
        pad: [u8; 4], "Padding.";
    }
    "`compatible_version`, 8 bytes."
    CompatibleVersion: 8 {
        max: U32, "Out, +0.";
        min: U32, "Out, +4.";
    }
    "`device_basic_info`, 8 bytes."
    DeviceBasicInfo: 8 {
        architecture: U32, "Out, +0.";
        revision: U32, "Out, +4.";
    }
    "`device_bdf`, 8 bytes."
    DeviceBdf: 8 {
        bus_number: U32, "Field, +0.";
        slot: u8, "Field, +4.";
        func: u8, "Field, +5.";
        pad: [u8; 2], "Padding.";
    }
    "`device_bdf_ext`, 16 bytes."
    DeviceBdfExt: 16 {
        nd_index: U32, "In, +0.";
        domain: U32, "Out, +4.";
        bus_number: U32, "Out, +8.";
        slot: u8, "Out, +12.";
        func: u8, "Out, +13.";
        pad: [u8; 2], "Padding.";
    }
    "`resource_mmap_info`, 32 bytes."
    ResourceMmapInfo: 32 {
        block: U32, "In, +0.";
        block_id: U32, "In, +4.";
        resource: U32, "In, +8.";
        pad: [u8; 4], "Padding.";
        offset: U64, "Out, +16.";
        size: U64, "Out, +24.";
    }
    "`device_info`, 80 bytes."
    DeviceInfo: 80 {
        architecture: U32, "Out, +0.";
        revision: U32, "Out, +4.";
        connected_device_count: U32, "Out, +8.";
        connected_devices: [U32; 8], "Out, +12.";
        pad: [u8; 4], "Padding.";
        bar_address: [U64; 2], "Out, +48.";
        bar_size: [U64; 2], "Out, +64.";
    }
    "`dmabuf_fd`, 24 bytes."
    DmabufFd: 24 {
        va: U64, "Field, +0.";
        size: U64, "Field, +8.";
        fd: U64, "Field, +16, user address of an i32.";
    }
    "`device_driver_info`, 24 bytes."
    DeviceDriverInfo: 24 {
        architecture: U32, "Out, +0.";
        revision: U32, "Out, +4.";
        version: U32, "Out, +8.";
        size: U32, "Out, +12.";
        feature_flags1: U64, "Out, +16.";
    }
    "`dump_mem_chunks`, 24 bytes."
    DumpMemChunks: 24 {
        hbm_index: U32, "Field, +0.";
        num_entries_in: U32, "Field, +4.";
        num_entries_out: U32, "Field, +8.";
        pad: [u8; 4], "Padding.";
        data: U64, "Field, +16, user address of `mem_chunk_info`.";
    }
    "`hbm_scrub_start`, 16 bytes."
    HbmScrubStart: 16 {
        nc_id: U32, "Field, +0.";
        hbm_index: U32, "Field, +4.";
        axi_port: U32, "Field, +8.";
        init_val: U32, "Field, +12.";
    }
    "`hbm_scrub_wait`, 8 bytes."
    HbmScrubWait: 8 {
        nc_id: U32, "Field, +0.";
        hbm_index: U32, "Field, +4.";
    }
    "`mem_chunk_info`, 24 bytes."
    MemChunkInfo: 24 {
        pa: U64, "Field, +0.";
        size: U64, "Field, +8.";
        mem_type: U32, "Field, +16.";
        pad: [u8; 4], "Padding.";
    }
}
