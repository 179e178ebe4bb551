//! Structures of drivers 2.26 to 2.30.2 (driver-abi.md §16).

use super::records;
use zerocopy::little_endian::{I32, U16, U32, U64};

records! {
    "`mem_copy64` of 2.30, 56 bytes."
    MemCopy64Sequence: 56 {
        src_mem_handle: U64, "In, +0.";
        dst_mem_handle: U64, "In, +8.";
        size: U64, "In, +16.";
        src_offset: U64, "In, +24.";
        dst_offset: U64, "In, +32.";
        sequence_num: U64, "In, +40.";
        context: U64, "In, +48, user address.";
    }
    "Allocation that also returns the address, 64 bytes."
    MemAllocV2MemType64Pa: 64 {
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
        pa: U64, "Out, +56.";
    }
    "Zero copy of 2.27, 48 bytes."
    ZeroCopy48: 48 {
        mem_handle: U64, "In, +0.";
        buffer: U64, "In, +8, user address of bytes.";
        size: U64, "In, +16.";
        offset: U64, "In, +24.";
        is_copy_to_device: U32, "In, +32.";
        bar4_wr_threshold: U32, "In, +36.";
        h2t_qid: I32, "In, +40; -1 is the default queue.";
        pad: [u8; 4], "Padding.";
    }
    "Zero copy of 2.30, 64 bytes."
    ZeroCopy64: 64 {
        mem_handle: U64, "In, +0.";
        buffer: U64, "In, +8, user address of bytes.";
        size: U64, "In, +16.";
        offset: U64, "In, +24.";
        is_copy_to_device: U32, "In, +32.";
        bar4_wr_threshold: U32, "In, +36.";
        h2t_qid: I32, "In, +40; -1 is the default queue.";
        pad: [u8; 4], "Padding.";
        sequence_num: U64, "In, +48.";
        context: U64, "In, +56, user address.";
    }
    "Batches of zero copies, 32 bytes."
    ZeroCopyBatches: 32 {
        sequence_num: U64, "In, +0.";
        batches: U64, "In, +8, user address of `ZeroCopyBatch` records.";
        count: U32, "In, +16.";
        is_copy_to_device: U16, "In, +20.";
        pad: [u8; 2], "Padding.";
        h2t_qid: I32, "In, +24.";
        flags: U16, "In, +28.";
        pad1: [u8; 2], "Padding.";
    }
    "One batch, 40 bytes."
    ZeroCopyBatch: 40 {
        mem_handle: U64, "In, +0.";
        mem_handle_offset: U64, "In, +8.";
        ops: U64, "In, +16, user address of `ZeroCopyOp` records.";
        op_count: U32, "In, +24.";
        bar4_wr_threshold: U16, "In, +28.";
        flags: U16, "In, +30.";
        context: U64, "In, +32.";
    }
    "One copy of a batch, 24 bytes."
    ZeroCopyOp: 24 {
        offset: U64, "In, +0.";
        size: U64, "In, +8.";
        buffer: U64, "In, +16, user address of bytes.";
    }
    "Private copy queues, 20 bytes."
    H2tAllocQueues: 20 {
        sz: U16, "In, +0.";
        nc_id: U16, "In, +2.";
        copy_count: U16, "In, +4.";
        service_count: U16, "In, +6.";
        copy_bitmap: U32, "Out, +8.";
        service_bitmap: U32, "Out, +12.";
        default_queue: U32, "Out, +16.";
    }
    "Gives private copy queues back, 8 bytes."
    H2tFreeQueues: 8 {
        sz: U16, "In, +0.";
        nc_id: u8, "In, +2.";
        fill: u8, "Field, +3.";
        bitmap: U32, "In, +4.";
    }
    "Power or performance profile, 8 bytes."
    Profile: 8 {
        sz: U16, "In, +0.";
        control: U16, "In, +2; 0 sets, 1 gets.";
        profile: U32, "In and out, +4.";
    }
    "Which device and HBM an address belongs to, 16 bytes."
    VaPlacement: 16 {
        va: U64, "In, +0.";
        device: I32, "Out, +8; negative: not ours.";
        hbm: I32, "Out, +12.";
    }
    "Available performance profiles, 36 bytes."
    AvailableProfiles: 36 {
        feature: U16, "In, +0.";
        count: u8, "Out, +2.";
        bitmap: [u8; 32], "Out, +3.";
        pad: [u8; 1], "Padding.";
    }
    "Where one completion queue is mapped, 16 bytes."
    CompletionQueue: 16 {
        mmap_offset: U64, "Out, +0.";
        mmap_size: U32, "Out, +8.";
        pad: [u8; 4], "Padding.";
    }
    "Completion queues of asynchronous copies, 264 bytes."
    CompletionQueues: 264 {
        nc_id: U32, "In, +0.";
        bitmap: U32, "In, +4.";
        queues: [CompletionQueue; 16], "Out, +8.";
    }
    "Pins host memory, 24 bytes."
    HostMemPin: 24 {
        va: U64, "In, +0.";
        size: U64, "In, +8.";
        pa: U64, "Out, +16; all ones if not contiguous.";
    }
    "Unpins host memory, 8 bytes."
    HostMemUnpin: 8 {
        va: U64, "In, +0, exactly as pinned.";
    }
    "Exports a mapping, 32 bytes."
    DmabufFdV2: 32 {
        va: U64, "In, +0.";
        size: U64, "In, +8.";
        fd: U64, "Out, +16, user address of an i32.";
        offset: U64, "Out, +24, user address of a u64.";
    }
    "BAR addresses, 200 bytes."
    BarInfo: 200 {
        query: U32, "In, +0.";
        count: U32, "In and out, +4.";
        kinds: [U32; 16], "In, +8.";
        bars: [U64; 16], "Out, +72.";
    }
}
