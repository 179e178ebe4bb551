//! K. Request encoding.

use crate::rig::{Rig, case, no};
use neuron_drivers::abi::errno::EINVAL;
use neuron_drivers::abi::record::*;
use neuron_drivers::abi::request::{self as req, Direction, TABLE};
use neuron_drivers::neuron::Fault;
use std::mem::{offset_of, size_of};

/// Name, number, value, direction and encoded size, written out from driver-abi.md §4.
const VALUES: [(&str, u8, u32, Direction, u16); 94] = [
    ("DEVICE_RESET", 1, 0x0000_4E01, Direction::None, 0),
    ("DEVICE_READY", 2, 0x8001_4E02, Direction::Read, 1),
    ("DEVICE_INFO", 3, 0x8008_4E03, Direction::Read, 8),
    ("DEVICE_INIT", 4, 0x8008_4E04, Direction::Read, 8),
    ("DEVICE_RELEASE", 5, 0x0000_4E05, Direction::None, 0),
    ("DEVICE_APP_PID", 6, 0x8004_4E06, Direction::Read, 4),
    ("DEVICE_GET_ALL_APPS_INFO", 7, 0x8008_4E07, Direction::Read, 8),
    ("BAR_READ", 11, 0x8008_4E0B, Direction::Read, 8),
    ("BAR_WRITE", 12, 0x4008_4E0C, Direction::Write, 8),
    ("POST_METRIC", 13, 0x4008_4E0D, Direction::Write, 8),
    ("MEM_ALLOC", 21, 0x8008_4E15, Direction::Read, 8),
    ("MEM_FREE", 22, 0x8008_4E16, Direction::Read, 8),
    ("MEM_COPY", 23, 0x8008_4E17, Direction::Read, 8),
    ("MEM_COPY64", 23, 0x8028_4E17, Direction::Read, 40),
    ("MEM_BUF_COPY", 24, 0xC008_4E18, Direction::Both, 8),
    ("MEM_BUF_COPY64", 24, 0xC028_4E18, Direction::Both, 40),
    ("MEM_GET_PA", 25, 0x8008_4E19, Direction::Read, 8),
    ("MEM_GET_INFO", 26, 0x8008_4E1A, Direction::Read, 8),
    ("PROGRAM_ENGINE", 27, 0xC008_4E1B, Direction::Both, 8),
    ("MEMSET", 28, 0x8008_4E1C, Direction::Read, 8),
    ("MEMSET64", 28, 0x8020_4E1C, Direction::Read, 32),
    ("MEM_GET_EXTENDED_INFO", 29, 0x8008_4E1D, Direction::Read, 8),
    ("DMA_ENG_INIT", 30, 0x8008_4E1E, Direction::Read, 8),
    ("DMA_ENG_SET_STATE", 31, 0x8008_4E1F, Direction::Read, 8),
    ("DMA_ENG_GET_STATE", 32, 0xC008_4E20, Direction::Both, 8),
    ("DMA_QUEUE_INIT", 33, 0x8008_4E21, Direction::Read, 8),
    ("DMA_QUEUE_RELEASE", 34, 0x8008_4E22, Direction::Read, 8),
    ("DMA_QUEUE_COPY_START", 35, 0x8008_4E23, Direction::Read, 8),
    ("DMA_ACK_COMPLETED", 36, 0x8008_4E24, Direction::Read, 8),
    ("DMA_QUEUE_GET_STATE", 37, 0xC008_4E25, Direction::Both, 8),
    ("DMA_COPY_DESCRIPTORS", 38, 0x8008_4E26, Direction::Read, 8),
    ("DMA_COPY_DESCRIPTORS64", 38, 0x8028_4E26, Direction::Read, 40),
    ("DMA_DESCRIPTOR_COPYOUT", 39, 0xC008_4E27, Direction::Both, 8),
    ("DMA_QUIESCE_QUEUES", 40, 0x8008_4E28, Direction::Read, 8),
    ("SEMAPHORE_INCREMENT", 41, 0x8008_4E29, Direction::Read, 8),
    ("SEMAPHORE_DECREMENT", 42, 0x8008_4E2A, Direction::Read, 8),
    ("SEMAPHORE_READ", 43, 0xC008_4E2B, Direction::Both, 8),
    ("SEMAPHORE_WRITE", 44, 0x8008_4E2C, Direction::Read, 8),
    ("EVENT_SET", 45, 0x8008_4E2D, Direction::Read, 8),
    ("EVENT_GET", 46, 0xC008_4E2E, Direction::Both, 8),
    ("NOTIFICATIONS_INIT_V1", 51, 0x8008_4E33, Direction::Read, 8),
    ("NOTIFICATIONS_DESTROY_V1", 52, 0x8008_4E34, Direction::Read, 8),
    ("NOTIFICATIONS_INIT_V2", 53, 0x8008_4E35, Direction::Read, 8),
    ("NOTIFICATIONS_INIT_WITH_REALLOC_V2", 54, 0x8008_4E36, Direction::Read, 8),
    ("NOTIFICATIONS_QUEUE_INFO", 58, 0x8008_4E3A, Direction::Read, 8),
    ("READ_HW_COUNTERS", 61, 0x8008_4E3D, Direction::Read, 8),
    ("ACQUIRE_NEURON_DS", 71, 0x8008_4E47, Direction::Read, 8),
    ("RELEASE_NEURON_DS", 72, 0x8008_4E48, Direction::Read, 8),
    ("CRWL_READER_ENTER", 81, 0x4008_4E51, Direction::Write, 8),
    ("CRWL_READER_EXIT", 82, 0x4008_4E52, Direction::Write, 8),
    ("CRWL_WRITER_ENTER", 83, 0x4008_4E53, Direction::Write, 8),
    ("CRWL_WRITER_DOWNGRADE", 84, 0x4008_4E54, Direction::Write, 8),
    ("CRWL_NC_RANGE_MARK", 85, 0x4008_4E55, Direction::Write, 8),
    ("CRWL_NC_RANGE_MARK_EXT0", 85, 0xC050_4E55, Direction::Both, 80),
    ("CRWL_NC_RANGE_UNMARK", 86, 0x4008_4E56, Direction::Write, 8),
    ("CRWL_NC_RANGE_UNMARK_EXT0", 86, 0x4050_4E56, Direction::Write, 80),
    ("CINIT_SET_STATE", 91, 0x4008_4E5B, Direction::Write, 8),
    ("NC_MODEL_STARTED_COUNT", 92, 0x4008_4E5C, Direction::Write, 8),
    ("COMPATIBLE_VERSION", 93, 0x4008_4E5D, Direction::Write, 8),
    ("DEVICE_BASIC_INFO", 100, 0x4008_4E64, Direction::Write, 8),
    ("DEVICE_BDF", 101, 0x8008_4E65, Direction::Read, 8),
    ("MEM_ALLOC_V2", 102, 0x8008_4E66, Direction::Read, 8),
    ("MEM_ALLOC_V2MT", 102, 0x8030_4E66, Direction::Read, 48),
    ("MEM_ALLOC_V2MT64", 102, 0x8038_4E66, Direction::Read, 56),
    ("NC_RESET", 103, 0x8008_4E67, Direction::Read, 8),
    ("NC_RESET_READY", 104, 0x8008_4E68, Direction::Read, 8),
    ("PROGRAM_ENGINE_NC", 105, 0xC008_4E69, Direction::Both, 8),
    ("PROGRAM_ENGINE_NC64", 105, 0xC028_4E69, Direction::Both, 40),
    ("DEVICE_RESET_STATUS", 106, 0x8001_4E6A, Direction::Read, 1),
    ("DEVICE_BDF_EXT", 106, 0x8008_4E6A, Direction::Read, 8),
    ("DMABUF_FD", 107, 0x8008_4E6B, Direction::Read, 8),
    ("MEM_COPY_ASYNC", 108, 0xC030_4E6C, Direction::Both, 48),
    ("MEM_COPY_ASYNC64", 108, 0xC038_4E6C, Direction::Both, 56),
    ("MEM_COPY_ASYNC_WAIT", 109, 0x4018_4E6D, Direction::Write, 24),
    ("DRIVER_INFO_GET", 110, 0x8018_4E6E, Direction::Read, 24),
    ("DRIVER_INFO_SET", 110, 0x4018_4E6E, Direction::Write, 24),
    ("MEM_MC_GET_INFO", 111, 0xC018_4E6F, Direction::Both, 24),
    ("MEM_MC_GET_INFO_V2", 111, 0xC020_4E6F, Direction::Both, 32),
    ("RESOURCE_MMAP_INFO", 112, 0xC020_4E70, Direction::Both, 32),
    ("PRINTK", 113, 0x4010_4E71, Direction::Write, 16),
    ("HOST_DEVICE_ID", 114, 0x8004_4E72, Direction::Read, 4),
    ("HOST_DEVICE_ID_TO_RID_MAP", 115, 0xC104_4E73, Direction::Both, 260),
    ("DUMP_MEM_CHUNKS", 116, 0x8008_4E74, Direction::Read, 8),
    ("NC_PID_STATE_DUMP", 117, 0xC010_4E75, Direction::Both, 16),
    ("HBM_SCRUB_START", 118, 0xC010_4E76, Direction::Both, 16),
    ("HBM_SCRUB_WAIT", 119, 0xC008_4E77, Direction::Both, 8),
    ("GET_LOGICAL_TO_PHYSICAL_NC_MAP", 120, 0xC010_4E78, Direction::Both, 16),
    ("POD_INFO", 121, 0xC104_4E79, Direction::Both, 260),
    ("POD_STATUS", 122, 0xC10C_4E7A, Direction::Both, 268),
    ("POD_STATUS_V2", 122, 0xC114_4E7A, Direction::Both, 276),
    ("POD_CTRL", 123, 0xC010_4E7B, Direction::Both, 16),
    ("POD_CTRL_V2", 123, 0xC014_4E7B, Direction::Both, 20),
    ("MEM_BUF_ZEROCOPY64", 124, 0xC028_4E7C, Direction::Both, 40),
    ("DMA_QUEUE_INIT_BATCH", 133, 0xB008_4E85, Direction::Read, 12296),
];

macro_rules! layout {
    ($name:ident, $size:literal, $($field:ident @ $offset:literal),*) => {
        assert_eq!(size_of::<$name>(), $size, stringify!($name));
        $(assert_eq!(offset_of!($name, $field), $offset, concat!(stringify!($name), ".", stringify!($field)));)*
    };
}

#[test]
fn driver_k1() {
    assert_eq!(TABLE.len(), VALUES.len());
    for (request, &(name, nr, value, dir, size)) in TABLE.iter().zip(&VALUES) {
        assert_eq!((request.name, request.number(), request.value), (name, nr, value));
        assert_eq!((request.direction(), request.encoded_size()), (dir, size), "{name}");
    }
}

/// Every size and offset, written out from driver-abi.md §5.
#[test]
#[rustfmt::skip]
fn driver_k2() {
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

#[test]
fn driver_k3() {
    case(|rig| {
        let misc = rig.misc();
        // One number, two requests: the reset status is not for the misc lane, the address of a device is.
        assert_eq!(rig.client.ioctl(misc, req::DEVICE_RESET_STATUS, rig.address(0)), no(EINVAL));
        let mut bdf = DeviceBdfExt::default();
        assert_eq!(rig.call(misc, req::DEVICE_BDF_EXT, &mut bdf), 0);
        assert_eq!(bdf.bus_number.get(), 0x10);
        rig.put(0, &[0; 16]);
        assert_eq!(rig.client.ioctl(rig.fd(), req::DEVICE_RESET_STATUS, rig.address(0)), 0);
        assert_eq!(rig.get(0, 2), [1, 0]);
    });
}

#[test]
fn driver_k4() {
    assert_eq!(req::DMA_QUEUE_INIT_BATCH, 0xB008_4E85);
}

fn wide(rig: &Rig, request: u64) -> (i64, Vec<u8>) {
    rig.put(0, &[0; 24]);
    let raw = rig.client.ioctl_wide(rig.misc(), request, rig.address(0));
    (raw, rig.get(0, 24))
}

#[test]
fn driver_k5() {
    case(|rig| {
        let request = req::DRIVER_INFO_GET;
        let plain = wide(rig, u64::from(request));
        assert_eq!(plain.0, 0);
        assert_eq!(wide(rig, u64::from(request) | 0xFFFF_FFFF_0000_0000), plain);
    });
}

#[test]
fn driver_k6() {
    let fault = Fault::check(req::MEM_GET_EXTENDED_INFO, 22).unwrap_err();
    assert_eq!(fault.positive(), Some(22));
    let error = loader_core::device::DeviceError::from(fault).at(loader_core::error::Stage::Plan);
    assert_eq!((error.id().to_string().as_str(), error.at().a), ("D108", 22));
    assert!(error.to_string().contains("22"));
}

#[test]
fn driver_k7() {
    let fault = Fault::check(req::MEM_COPY64, -1).unwrap_err();
    let error = loader_core::device::DeviceError::from(fault).at(loader_core::error::Stage::Plan);
    assert!(error.to_string().contains("device timeout or bad ring"));
    assert!(!format!("{error} {fault}").contains("permission"));
}
