#![allow(clippy::unwrap_used)]

use super::*;

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

const LATER_VALUES: [(&str, u8, u32, u16); 18] = [
    ("MEM_COPY64_SEQUENCE", 23, 0x80384E17, 56),
    ("MEM_ALLOC_V2MT64_PA", 102, 0xC0404E66, 64),
    ("MEM_BUF_ZEROCOPY64_48", 124, 0xC0304E7C, 48),
    ("MEM_BUF_ZEROCOPY64_64", 124, 0xC0404E7C, 64),
    ("H2T_DMA_ALLOC_QUEUES", 125, 0xC0144E7D, 20),
    ("H2T_DMA_FREE_QUEUES", 126, 0xC0084E7E, 8),
    ("POWER_PROFILE", 127, 0x40084E7F, 8),
    ("METRICS_CTRL", 128, 0x40044E80, 4),
    ("MEM_BUF_ZEROCOPY64_BATCHES", 129, 0xC0204E81, 32),
    ("THROTTLING_NOTIFICATIONS", 130, 0x40044E82, 4),
    ("GET_VA_PLACEMENT", 131, 0x40104E83, 16),
    ("GET_PERFORMANCE_PROFILE", 132, 0xC0084E84, 8),
    ("AVAILABLE_PERF_PROFILES", 134, 0xC0244E86, 36),
    ("GET_ASYNC_H2T_DMA_COMPL_QUEUES", 135, 0xC1084E87, 264),
    ("HOST_MEM_PIN", 136, 0xC0184E88, 24),
    ("HOST_MEM_UNPIN", 137, 0x40084E89, 8),
    ("DMABUF_FD_V2", 138, 0x80084E8A, 8),
    ("GET_BAR_INFO", 139, 0xC0C84E8B, 200),
];

#[test]
fn baseline_values_are_the_written_ones() {
    assert_eq!(TABLE.len(), VALUES.len());
    for (request, &(name, nr, value, dir, size)) in TABLE.iter().zip(&VALUES) {
        assert_eq!((request.name, request.number(), request.value), (name, nr, value));
        assert_eq!((request.direction(), request.encoded_size()), (dir, size), "{name}");
    }
}

#[test]
fn later_values_are_the_written_ones() {
    assert_eq!(LATER.len(), LATER_VALUES.len());
    for (request, &(name, nr, value, size)) in LATER.iter().zip(&LATER_VALUES) {
        assert_eq!((request.name, request.number(), request.value), (name, nr, value));
        assert_eq!(request.encoded_size(), size, "{name}");
    }
}

#[test]
fn type_byte_is_n_everywhere() {
    assert!(TABLE.iter().chain(LATER).all(|request| request.value.to_le_bytes()[1] == b'N'));
}

#[test]
fn values_are_distinct_though_numbers_are_not() {
    for (at, request) in TABLE.iter().enumerate() {
        assert!(TABLE[at + 1..].iter().all(|other| other.value != request.value));
    }
    let shared = TABLE.iter().filter(|request| request.number() == 102).count();
    assert_eq!(shared, 3);
}

#[test]
fn encodings_lie_as_documented() {
    assert_eq!(DMA_QUEUE_INIT_BATCH, 0xB008_4E85);
    assert_eq!(encoded_size(DMA_QUEUE_INIT_BATCH), 12296);
    assert_eq!(direction(MEM_ALLOC_V2MT64), Direction::Read);
    let old = Request::from_value(MEM_ALLOC).unwrap();
    assert_eq!((old.encoded_size(), old.bytes), (8, 32));
}

#[test]
fn unknown_sizes_are_named_after_their_siblings() {
    assert_eq!(Request::name_of(0xC010_4E18), Some("MEM_BUF_COPY"));
    assert_eq!(Request::name_of(0x8034_4EC8), None);
}
