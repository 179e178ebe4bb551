#![allow(clippy::unwrap_used)]

use super::*;

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
