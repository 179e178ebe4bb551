//! The host: applications, pods, core maps, datastore, kernel log (driver-abi.md §5).

use super::{Uuid, records};
use zerocopy::little_endian::{I32, U16, U32, U64};

records! {
    "`get_apps_info`, 16 bytes."
    GetAppsInfo: 16 {
        apps_info_flags: U16, "Field, +0.";
        pad: [u8; 2], "Padding.";
        capacity: U32, "In, +4.";
        size: U32, "Out, +8.";
        pad1: [u8; 4], "Padding.";
    }
    "`neuron_ds_info`, 24 bytes."
    NeuronDsInfo: 24 {
        pid: I32, "In, +0.";
        pad: [u8; 4], "Padding.";
        mmap_offset: U64, "Out, +8.";
        size: U32, "Out, +16.";
        pad1: [u8; 4], "Padding.";
    }
    "`printk`, 16 bytes."
    Printk: 16 {
        buffer: U64, "In, +0, user address of bytes.";
        size: U32, "In, +8.";
        action: U32, "In, +12.";
    }
    "`host_device_id`, 4 bytes."
    HostDeviceId: 4 {
        host_device_id: U32, "Out, +0.";
    }
    "`nc_pid_state_dump`, 16 bytes."
    NcPidStateDump: 16 {
        size: U32, "In, +0.";
        nc_id: U32, "In, +4.";
        filter_log_owner: U32, "In, +8.";
        log_dump_limit: U32, "In, +12.";
    }
    "`host_device_id_to_rid_map`, 260 bytes."
    HostDeviceIdToRidMap: 260 {
        count: U32, "Out, +0.";
        host_did_to_rid_map: [U32; 64], "Out, +4.";
    }
    "`get_logical_to_physical_nc_map`, 16 bytes."
    GetLogicalToPhysicalNcMap: 16 {
        map: U64, "Field, +0, user address of `nc_map`.";
        max_map_entries: U32, "Field, +8.";
        mapping_version: U32, "Field, +12.";
    }
    "`pod_info`, 260 bytes."
    PodInfo: 260 {
        sz: U16, "In, +0.";
        pod_type: u8, "Out, +2.";
        pod_id: [u8; 256], "Out, +3.";
        pod_sz: u8, "Out, +259.";
    }
    "`pod_status`, 268 bytes."
    PodStatus: 268 {
        sz: U16, "In, +0.";
        pod_id: [u8; 256], "Out, +2.";
        pad: [u8; 2], "Padding.";
        state: U32, "Out, +260.";
        pod_type: u8, "Out, +264.";
        pod_sz: u8, "Out, +265.";
        node_id: i8, "Out, +266.";
        pad1: [u8; 1], "Padding.";
    }
    "`pod_status_v2`, 276 bytes."
    PodStatusV2: 276 {
        v1: PodStatus, "Field, +0.";
        mode: U32, "Out, +268.";
        modes_supported: U32, "Out, +272.";
    }
    "`pod_ctrl`, 16 bytes."
    PodCtrl: 16 {
        sz: U16, "In, +0.";
        pad: [u8; 2], "Padding.";
        ctrl: U32, "In, +4.";
        timeout: U32, "In, +8.";
        state: U32, "Out, +12.";
    }
    "`pod_ctrl_v2`, 20 bytes."
    PodCtrlV2: 20 {
        v1: PodCtrl, "Field, +0.";
        mode: U32, "In, +16.";
    }
    "`neuron_app_info`, 152 bytes."
    AppInfo: 152 {
        pid: I32, "Field, +0.";
        nc_lock_map: u8, "Field, +4.";
        uuid_data: [Uuid; 4], "Field, +5.";
        pad: [u8; 3], "Padding.";
        host_mem_size: U64, "Field, +136.";
        device_mem_size: U64, "Field, +144.";
    }
    "`nc_map_entry`, 8 bytes."
    NcMapEntry: 8 {
        device_id: U32, "Field, +0.";
        device_nc_idx: U32, "Field, +4.";
    }
    "`nc_map`, 4 bytes."
    NcMap: 4 {
        num_entries: U32, "Field, +0.";
    }
}
