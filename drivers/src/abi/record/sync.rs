//! Semaphores, events, notification queues, locks and claims (driver-abi.md §5).

use super::records;
use zerocopy::little_endian::{U32, U64};

records! {
    "`semaphore`, 12 bytes."
    Semaphore: 12 {
        nc_id: U32, "In, +0.";
        semaphore_index: U32, "In, +4.";
        value: U32, "In and out, +8.";
    }
    "`event`, 12 bytes."
    Event: 12 {
        nc_id: U32, "In, +0.";
        event_index: U32, "In, +4.";
        value: U32, "In and out, +8.";
    }
    "`notifications_init_v1`, 24 bytes."
    NotificationsInitV1: 24 {
        nc_id: U32, "In, +0.";
        nq_type: U32, "In, +4.";
        engine_index: U32, "In, +8.";
        size: U32, "In, +12.";
        mmap_offset: U64, "Out, +16.";
    }
    "`notifications_init_v2`, 48 bytes."
    NotificationsInitV2: 48 {
        nq_dev_id: U32, "In, +0.";
        nq_dev_type: U32, "In, +4.";
        nq_type: U32, "In, +8.";
        engine_index: U32, "In, +12.";
        size: U32, "In, +16.";
        on_host_memory: U32, "In, +20.";
        dram_channel: U32, "In, +24.";
        dram_region: U32, "In, +28.";
        mmap_offset: U64, "Out, +32.";
        mem_handle: U64, "Out, +40.";
    }
    "`notifications_init_with_realloc_v2`, 56 bytes."
    NotificationsInitWithReallocV2: 56 {
        nq_dev_id: U32, "In, +0.";
        nq_dev_type: U32, "In, +4.";
        nq_type: U32, "In, +8.";
        engine_index: U32, "In, +12.";
        size: U32, "In, +16.";
        on_host_memory: U32, "In, +20.";
        dram_channel: U32, "In, +24.";
        dram_region: U32, "In, +28.";
        force_alloc_mem: U32, "Field, +32.";
        pad: [u8; 4], "Padding.";
        mmap_offset: U64, "Out, +40.";
        mem_handle: U64, "Out, +48.";
    }
    "`notifications_destroy`, 8 bytes."
    NotificationsDestroy: 8 {
        mmap_offset: U64, "In, +0.";
    }
    "`notifications_destroy_nq`, 12 bytes."
    NotificationsDestroyNq: 12 {
        nq_dev_id: U32, "In, +0.";
        nq_type: U32, "In, +4.";
        engine_index: U32, "In, +8.";
    }
    "`notifications_queue_info`, 12 bytes."
    NotificationsQueueInfo: 12 {
        nq_dev_id: u8, "In, +0.";
        nq_dev_type: u8, "In, +1.";
        nq_type: u8, "In, +2.";
        engine_index: u8, "In, +3.";
        head: U32, "Out, +4.";
        phase_bit: U32, "Out, +8.";
    }
    "`crwl`, 36 bytes."
    Crwl: 36 {
        nc_id: U32, "In, +0.";
        uuid: Uuid, "In, +4.";
    }
    "`crwl_nc_map`, 24 bytes."
    CrwlNcMap: 24 {
        nc_count: U32, "In, +0.";
        start_nc_index: U32, "In, +4.";
        end_nc_index: U32, "In, +8.";
        max_nc_available: U32, "Out, +12.";
        bitmap: U64, "In and out, +16.";
    }
    "`crwl_nc_map_ext`, 80 bytes."
    CrwlNcMapExt: 80 {
        nc_count: U32, "In, +0.";
        start_nc_index: U32, "In, +4.";
        end_nc_index: U32, "In, +8.";
        max_nc_available: U32, "Out, +12.";
        bitmap: [U64; 8], "In and out, +16.";
    }
    "`cinit_set`, 12 bytes."
    CinitSet: 12 {
        nc_id: U32, "In, +0.";
        state: U32, "In, +4.";
        new_state: U32, "Out, +8.";
    }
    "`nc_model_started_count`, 16 bytes."
    NcModelStartedCount: 16 {
        nc_id: U32, "In, +0.";
        pad: [u8; 4], "Padding.";
        started_count: U64, "Out, +8.";
    }
    "`neuron_uuid`, 32 bytes."
    Uuid: 32 {
        value: [u8; 32], "Field, +0.";
    }
}
