#![allow(clippy::unwrap_used)]

use super::*;
use core::mem::{offset_of, size_of};

macro_rules! layout {
    ($name:ident, $size:literal, $($field:ident @ $offset:literal),*) => {
        assert_eq!(size_of::<$name>(), $size, stringify!($name));
        $(assert_eq!(offset_of!($name, $field), $offset, concat!(stringify!($name), ".", stringify!($field)));)*
    };
}

/// Every size and offset, written out from driver-abi.md §5.
#[test]
#[rustfmt::skip]
fn baseline_layouts_are_the_written_ones() {
    layout!(MemAlloc, 32, size @ 0, host_memory @ 8, dram_channel @ 12, dram_region @ 16, nc_id @ 20, mem_handle @ 24);
    layout!(MemAllocV2, 40, size @ 0, align @ 8, host_memory @ 16, dram_channel @ 20, dram_region @ 24, nc_id @ 28, mem_handle @ 32);
    layout!(MemAllocV2MemType, 48, size @ 0, align @ 8, host_memory @ 16, dram_channel @ 20, dram_region @ 24, nc_id @ 28, mem_type @ 32, mem_handle @ 40);
    layout!(MemAllocV2MemType64, 56, size @ 0, align @ 8, host_memory @ 16, dram_channel @ 20, dram_region @ 24, nc_id @ 28, mem_type @ 32, mem_handle @ 40, reserved @ 48);
    layout!(DeviceInit, 4, mem_regions @ 0);
    layout!(DeviceReset, 8, nc_map @ 0, request_id @ 4);
    layout!(DeviceReady, 8, request_id @ 0, result @ 4);
    layout!(MemGetInfo, 24, mem_handle @ 0, mmap_offset @ 8, pa @ 16);
    layout!(GetAppsInfo, 16, apps_info_flags @ 0, capacity @ 4, size @ 8);
    layout!(MemGetPa, 16, mem_handle @ 0, pa @ 8);
    layout!(MemGetExtendedInfo, 48, mem_handle @ 0, version @ 8, host_memory @ 12, mmap_offset @ 16, pa @ 24, pid @ 32, size @ 40);
    layout!(MemFree, 8, mem_handle @ 0);
    layout!(MemCopy, 32, src_mem_handle @ 0, dst_mem_handle @ 8, size @ 16, src_offset @ 20, dst_offset @ 24);
    layout!(MemCopy64, 40, src_mem_handle @ 0, dst_mem_handle @ 8, size @ 16, src_offset @ 24, dst_offset @ 32);
    layout!(MemCopyAsync, 48, src_mem_handle @ 0, dst_mem_handle @ 8, size @ 16, src_offset @ 20, dst_offset @ 24, host_prefetch_addr @ 32, pwait_handle @ 40, wait_handle @ 44);
    layout!(MemCopyAsync64, 56, src_mem_handle @ 0, dst_mem_handle @ 8, size @ 16, src_offset @ 24, dst_offset @ 32, host_prefetch_addr @ 40, pwait_handle @ 48, wait_handle @ 52);
    layout!(MemCopyAsyncWait, 24, src_mem_handle @ 0, dst_mem_handle @ 8, pwait_handle @ 16);
    layout!(Memset, 24, mem_handle @ 0, offset @ 8, value @ 16, size @ 20);
    layout!(Memset64, 32, mem_handle @ 0, offset @ 8, value @ 16, size @ 24);
    layout!(MemBufCopy, 32, mem_handle @ 0, buffer @ 8, size @ 16, offset @ 20, copy_to_mem_handle @ 24);
    layout!(MemBufCopy64, 40, mem_handle @ 0, buffer @ 8, size @ 16, offset @ 24, copy_to_mem_handle @ 32);
    layout!(ProgramEngine, 24, dst @ 0, buffer @ 8, size @ 16, offset @ 20);
    layout!(ProgramEngineNc, 32, nc_id @ 0, dst @ 8, buffer @ 16, size @ 24, offset @ 28);
    layout!(ProgramEngineNc64, 40, nc_id @ 0, dst @ 8, buffer @ 16, size @ 24, offset @ 32);
    layout!(BarRw, 32, bar @ 0, address @ 8, data @ 16, count @ 24);
    layout!(PostMetric, 16, data @ 0, data_size @ 8);
    layout!(DmaCopyDescriptors, 32, mem_handle @ 0, buffer @ 8, num_descs @ 16, offset @ 20, queue_type @ 24);
    layout!(DmaCopyDescriptors64, 40, mem_handle @ 0, buffer @ 8, num_descs @ 16, offset @ 24, queue_type @ 32);
    layout!(DmaQueueInit, 48, eng_id @ 0, qid @ 4, tx_desc_count @ 8, rx_desc_count @ 12, tx_handle @ 16, rx_handle @ 24, rxc_handle @ 32, axi_port @ 40);
    layout!(DmaQueueInitBatch, 12296, count @ 0, entries @ 8);
    layout!(DmaQueueRelease, 8, eng_id @ 0, qid @ 4);
    layout!(DmaQuiesceQueues, 264, nc_id @ 0, engine_count @ 4, queue_mask @ 8);
    layout!(DmaAckCompleted, 12, eng_id @ 0, qid @ 4, count @ 8);
    layout!(DmaQueueCopyStart, 16, eng_id @ 0, qid @ 4, tx_desc_count @ 8, rx_desc_count @ 12);
    layout!(DmaEngInit, 4, eng_id @ 0);
    layout!(DmaEngSetState, 8, eng_id @ 0, state @ 4);
    layout!(DmaEngGetState, 16, eng_id @ 0, state @ 8);
    layout!(DmaQueueGetState, 24, eng_id @ 0, qid @ 4, tx @ 8, rx @ 16);
    layout!(DmaDescriptorCopyout, 32, eng_id @ 0, qid @ 4, kind @ 8, start_index @ 12, count @ 16, buffer @ 24);
    layout!(Semaphore, 12, nc_id @ 0, semaphore_index @ 4, value @ 8);
    layout!(Event, 12, nc_id @ 0, event_index @ 4, value @ 8);
    layout!(NotificationsInitV1, 24, nc_id @ 0, nq_type @ 4, engine_index @ 8, size @ 12, mmap_offset @ 16);
    layout!(NotificationsInitV2, 48, nq_dev_id @ 0, nq_dev_type @ 4, nq_type @ 8, engine_index @ 12, size @ 16, on_host_memory @ 20, dram_channel @ 24, dram_region @ 28, mmap_offset @ 32, mem_handle @ 40);
    layout!(NotificationsInitWithReallocV2, 56, nq_dev_id @ 0, nq_dev_type @ 4, nq_type @ 8, engine_index @ 12, size @ 16, on_host_memory @ 20, dram_channel @ 24, dram_region @ 28, force_alloc_mem @ 32, mmap_offset @ 40, mem_handle @ 48);
    layout!(NeuronDsInfo, 24, pid @ 0, mmap_offset @ 8, size @ 16);
    layout!(NotificationsDestroy, 8, mmap_offset @ 0);
    layout!(NotificationsDestroyNq, 12, nq_dev_id @ 0, nq_type @ 4, engine_index @ 8);
    layout!(NotificationsQueueInfo, 12, nq_dev_id @ 0, nq_dev_type @ 1, nq_type @ 2, engine_index @ 3, head @ 4, phase_bit @ 8);
    layout!(ReadHwCounters, 24, address @ 0, data @ 8, count @ 16);
    layout!(Crwl, 36, nc_id @ 0, uuid @ 4);
    layout!(CrwlNcMap, 24, nc_count @ 0, start_nc_index @ 4, end_nc_index @ 8, max_nc_available @ 12, bitmap @ 16);
    layout!(CrwlNcMapExt, 80, nc_count @ 0, start_nc_index @ 4, end_nc_index @ 8, max_nc_available @ 12, bitmap @ 16);
    layout!(CinitSet, 12, nc_id @ 0, state @ 4, new_state @ 8);
    layout!(NcModelStartedCount, 16, nc_id @ 0, started_count @ 8);
    layout!(CompatibleVersion, 8, max @ 0, min @ 4);
    layout!(DeviceBasicInfo, 8, architecture @ 0, revision @ 4);
    layout!(DeviceBdf, 8, bus_number @ 0, slot @ 4, func @ 5);
    layout!(DeviceBdfExt, 16, nd_index @ 0, domain @ 4, bus_number @ 8, slot @ 12, func @ 13);
    layout!(ResourceMmapInfo, 32, block @ 0, block_id @ 4, resource @ 8, offset @ 16, size @ 24);
    layout!(DeviceInfo, 80, architecture @ 0, revision @ 4, connected_device_count @ 8, connected_devices @ 12, bar_address @ 48, bar_size @ 64);
    layout!(DmabufFd, 24, va @ 0, size @ 8, fd @ 16);
    layout!(DeviceDriverInfo, 24, architecture @ 0, revision @ 4, version @ 8, size @ 12, feature_flags1 @ 16);
    layout!(MemGetMcMmapInfo, 24, pa @ 0, mmap_offset @ 8, size @ 16);
    layout!(MemGetMcMmapInfoV2, 32, pa @ 0, mmap_offset @ 8, size @ 16, mem_handle @ 24);
    layout!(Printk, 16, buffer @ 0, size @ 8, action @ 12);
    layout!(HostDeviceId, 4, host_device_id @ 0);
    layout!(DumpMemChunks, 24, hbm_index @ 0, num_entries_in @ 4, num_entries_out @ 8, data @ 16);
    layout!(NcPidStateDump, 16, size @ 0, nc_id @ 4, filter_log_owner @ 8, log_dump_limit @ 12);
    layout!(HostDeviceIdToRidMap, 260, count @ 0, host_did_to_rid_map @ 4);
    layout!(HbmScrubStart, 16, nc_id @ 0, hbm_index @ 4, axi_port @ 8, init_val @ 12);
    layout!(HbmScrubWait, 8, nc_id @ 0, hbm_index @ 4);
    layout!(GetLogicalToPhysicalNcMap, 16, map @ 0, max_map_entries @ 8, mapping_version @ 12);
    layout!(PodInfo, 260, sz @ 0, pod_type @ 2, pod_id @ 3, pod_sz @ 259);
    layout!(PodStatus, 268, sz @ 0, pod_id @ 2, state @ 260, pod_type @ 264, pod_sz @ 265, node_id @ 266);
    layout!(PodStatusV2, 276, v1 @ 0, mode @ 268, modes_supported @ 272);
    layout!(PodCtrl, 16, sz @ 0, ctrl @ 4, timeout @ 8, state @ 12);
    layout!(PodCtrlV2, 20, v1 @ 0, mode @ 16);
    layout!(DmaEngState, 20, revision_id @ 0, max_queues @ 4, num_queues @ 8, tx_state @ 12, rx_state @ 16);
    layout!(DmaQueueState, 48, hw_status @ 0, sw_status @ 4, base_addr @ 8, length @ 16, head_pointer @ 20, tail_pointer @ 24, completion_base_addr @ 32, completion_head @ 40);
    layout!(Uuid, 32, value @ 0);
    layout!(AppInfo, 152, pid @ 0, nc_lock_map @ 4, uuid_data @ 5, host_mem_size @ 136, device_mem_size @ 144);
    layout!(MemChunkInfo, 24, pa @ 0, size @ 8, mem_type @ 16);
    layout!(NcMapEntry, 8, device_id @ 0, device_nc_idx @ 4);
    layout!(NcMap, 4, num_entries @ 0);
}

/// driver-abi.md §16.
#[test]
#[rustfmt::skip]
fn later_layouts_are_the_written_ones() {
    layout!(MemCopy64Sequence, 56, src_mem_handle @ 0, dst_mem_handle @ 8, size @ 16, src_offset @ 24, dst_offset @ 32, sequence_num @ 40, context @ 48);
    layout!(MemAllocV2MemType64Pa, 64, size @ 0, align @ 8, host_memory @ 16, dram_channel @ 20, nc_id @ 28, mem_type @ 32, mem_handle @ 40, pa @ 56);
    layout!(ZeroCopy48, 48, mem_handle @ 0, buffer @ 8, size @ 16, offset @ 24, is_copy_to_device @ 32, bar4_wr_threshold @ 36, h2t_qid @ 40);
    layout!(ZeroCopy64, 64, mem_handle @ 0, h2t_qid @ 40, sequence_num @ 48, context @ 56);
    layout!(ZeroCopyBatches, 32, sequence_num @ 0, batches @ 8, count @ 16, is_copy_to_device @ 20, h2t_qid @ 24, flags @ 28);
    layout!(ZeroCopyBatch, 40, mem_handle @ 0, mem_handle_offset @ 8, ops @ 16, op_count @ 24, bar4_wr_threshold @ 28, flags @ 30, context @ 32);
    layout!(ZeroCopyOp, 24, offset @ 0, size @ 8, buffer @ 16);
    layout!(H2tAllocQueues, 20, sz @ 0, nc_id @ 2, copy_count @ 4, service_count @ 6, copy_bitmap @ 8, service_bitmap @ 12, default_queue @ 16);
    layout!(H2tFreeQueues, 8, sz @ 0, nc_id @ 2, bitmap @ 4);
    layout!(Profile, 8, sz @ 0, control @ 2, profile @ 4);
    layout!(VaPlacement, 16, va @ 0, device @ 8, hbm @ 12);
    layout!(AvailableProfiles, 36, feature @ 0, count @ 2, bitmap @ 3);
    layout!(CompletionQueue, 16, mmap_offset @ 0, mmap_size @ 8);
    layout!(CompletionQueues, 264, nc_id @ 0, bitmap @ 4, queues @ 8);
    layout!(HostMemPin, 24, va @ 0, size @ 8, pa @ 16);
    layout!(HostMemUnpin, 8, va @ 0);
    layout!(DmabufFdV2, 32, va @ 0, size @ 8, fd @ 16, offset @ 24);
    layout!(BarInfo, 200, query @ 0, count @ 4, kinds @ 8, bars @ 72);
}

#[test]
fn fields_are_little_endian() {
    let mut raw = [0u8; 8];
    raw[0] = 11;
    raw[4] = 10;
    let version = CompatibleVersion::from_bytes(&raw).unwrap();
    assert_eq!((version.max.get(), version.min.get()), (11, 10));
}
