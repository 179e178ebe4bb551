//! `NRT_STATUS`: the numbers and identifiers of the public header.

use loader_core::error::Status;
use std::ffi::CStr;

/// A status as programs see it.
pub(crate) type Number = u32;

/// Rows of the table below, each checked against `facts/interface.txt`.
macro_rules! statuses {
    ($($name:ident = $number:literal,)*) => {
        /// Every status of the header, by number.
        pub(crate) const ALL: &[(Number, &CStr)] = &[$(($number, {
            const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            };
            NAME
        }),)*];
    };
}

statuses! {
    NRT_SUCCESS = 0,
    NRT_FAILURE = 1,
    NRT_INVALID = 2,
    NRT_INVALID_HANDLE = 3,
    NRT_RESOURCE = 4,
    NRT_TIMEOUT = 5,
    NRT_HW_ERROR = 6,
    NRT_QUEUE_FULL = 7,
    NRT_LOAD_NOT_ENOUGH_NC = 9,
    NRT_UNSUPPORTED_NEFF_VERSION = 10,
    NRT_FAIL_HOST_MEM_ALLOC = 11,
    NRT_UNINITIALIZED = 13,
    NRT_CLOSED = 14,
    NRT_QUEUE_EMPTY = 15,
    NRT_EXEC_UNIT_UNRECOVERABLE = 101,
    NRT_EXEC_BAD_INPUT = 1002,
    NRT_EXEC_COMPLETED_WITH_NUM_ERR = 1003,
    NRT_EXEC_COMPLETED_WITH_ERR = 1004,
    NRT_EXEC_NC_BUSY = 1005,
    NRT_EXEC_OOB = 1006,
    NRT_COLL_PENDING = 1100,
    NRT_EXEC_HW_ERR_COLLECTIVES = 1200,
    NRT_EXEC_HW_ERR_HBM_UE = 1201,
    NRT_EXEC_HW_ERR_NC_UE = 1202,
    NRT_EXEC_HW_ERR_DMA_ABORT = 1203,
    NRT_EXEC_SW_NQ_OVERFLOW = 1204,
    NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE = 1205,
    NRT_NETWORK_PROXY_FAILURE = 1206,
}

/// The bare identifier; `UNKNOWN` for a number that is none (container.md §13.2).
pub(crate) fn name(number: Number) -> &'static CStr {
    ALL.iter().find(|status| status.0 == number).map_or(c"UNKNOWN", |status| status.1)
}

/// What is not implemented answers with this number: the header has none of its own for it.
pub(crate) const NOT_IMPLEMENTED: Status = Status::Failure;
