//! What the headers name and this library does not do. Every one is there, so that programs link, and says so.
//!
//! Their parameters are not declared: none is looked at, and the C calling conventions of the supported targets
//! let a function take fewer arguments than it is given.

use super::answer;
use crate::failure::Failure;
use crate::status::Number;
use std::ffi::c_void;
use std::ptr;

/// Says it, and gives the status.
fn absent(function: &str) -> Number {
    answer(function, || Err(Failure::not_implemented("this library only loads")))
}

/// Functions that give a status.
macro_rules! statuses {
    ($($name:ident)*) => {$(
        /// Not implemented.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Number {
            absent(stringify!($name))
        }
    )*};
}

/// Functions that give nothing.
macro_rules! voids {
    ($($name:ident)*) => {$(
        /// Not implemented; says so in the log.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() {
            absent(stringify!($name));
        }
    )*};
}

/// Functions that give a pointer.
macro_rules! pointers {
    ($($name:ident)*) => {$(
        /// Not implemented: null.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> *mut c_void {
            absent(stringify!($name));
            ptr::null_mut()
        }
    )*};
}

// nrt.h
statuses! {
    nrt_build_global_comm nrt_cc_global_comm_init nrt_get_attached_efa_bdf nrt_get_dmabuf_fd
    nrt_get_hbm_mmap_va nrt_get_vnc_memory_stats nrt_host_device_id_get nrt_host_device_id_rid_map_get
    nrt_tensor_allocate_empty nrt_tensor_attach_buffer nrt_tensor_check_output_completion
    nrt_tensor_get_device_allocation_info nrt_tensor_read_batch nrt_tensor_reset_output_completion
    nrt_tensor_write_batch
}
pointers! { nrt_tensor_get_va }

// nrt_experimental.h
statuses! {
    nrt_all_gather nrt_async_drain_queued_execs nrt_barrier nrt_get_model_instance_count
    nrt_memcpy_to_device nrt_register_async_exec_callback nrt_set_pool_eng_ucode nrt_trace_start nrt_trace_stop
}
pointers! { nrt_get_libnccl_net }

// nrt_async.h
statuses! {
    nrta_cc_prepare nrta_cc_schedule nrta_error_tracker_create nrta_error_tracker_get_list
    nrta_execute_schedule nrta_get_completion_handle nrta_get_sequence nrta_is_completed nrta_tensor_copy
    nrta_tensor_read nrta_tensor_write
}
voids! { nrta_error_tracker_destroy }

// nrt_async_sendrecv.h
statuses! {
    nrt_async_sendrecv_accept nrt_async_sendrecv_close nrt_async_sendrecv_connect nrt_async_sendrecv_flush
    nrt_async_sendrecv_get_max_num_communicators_per_lnc nrt_async_sendrecv_get_max_num_pending_request
    nrt_async_sendrecv_init nrt_async_sendrecv_recv_tensor nrt_async_sendrecv_send_tensor
    nrt_async_sendrecv_test_comm nrt_async_sendrecv_test_request
}

// nrt_profile.h
statuses! {
    nrt_inspect_begin nrt_inspect_begin_with_options nrt_inspect_config_allocate nrt_inspect_config_free
    nrt_inspect_config_get_all_activity_types nrt_inspect_config_get_enabled_activity_types
    nrt_inspect_config_set_activity nrt_inspect_config_set_capture_enabled_for_event_type_string
    nrt_inspect_config_set_capture_enabled_for_nc nrt_inspect_config_set_defaults
    nrt_inspect_config_set_enable_inspect nrt_inspect_config_set_enable_inspect_on_fail
    nrt_inspect_config_set_output_dir nrt_inspect_config_set_session_id
    nrt_inspect_config_set_sys_trace_max_events_per_nc nrt_inspect_stop nrt_profile_continuous_options_allocate
    nrt_profile_continuous_options_free nrt_profile_continuous_options_set_output_dir
    nrt_profile_continuous_save nrt_profile_continuous_start nrt_profile_continuous_stop nrt_profile_start
    nrt_profile_stop
}
voids! { nrt_inspect_config_free_activity_types }

// nrt_sys_trace.h
statuses! {
    nrt_sys_trace_config_allocate nrt_sys_trace_config_get_enabled_event_types
    nrt_sys_trace_config_set_capture_enabled_for_event_type nrt_sys_trace_fetch_events
    nrt_sys_trace_fetch_options_allocate nrt_sys_trace_get_event_types nrt_sys_trace_start nrt_sys_trace_stop
}
voids! {
    nrt_sys_trace_buffer_free nrt_sys_trace_config_free nrt_sys_trace_config_set_capture_enabled_for_nc
    nrt_sys_trace_config_set_defaults nrt_sys_trace_config_set_max_events_per_nc
    nrt_sys_trace_fetch_options_free nrt_sys_trace_fetch_options_set_defaults
    nrt_sys_trace_fetch_options_set_max_events_per_nc nrt_sys_trace_fetch_options_set_nc_idx
    nrt_sys_trace_free_event_types
}

// ndebug_stream.h
statuses! { nrt_debug_client_connect nrt_debug_client_read_one_event }
voids! { nrt_debug_client_connect_close }
