//! Requests that drivers 2.26 to 2.30.2 added or changed (driver-abi.md §16).

use super::{Dispatch, Gate, Lane, Request, requests};

requests! {
    LATER, "Requests that are not in 2.24.7.0.";
    MEM_COPY64_SEQUENCE = 0x8038_4E17, 56, Full, Open, Number;
    MEM_ALLOC_V2MT64_PA = 0xC040_4E66, 64, Full, Open, Number;
    MEM_BUF_ZEROCOPY64_48 = 0xC030_4E7C, 48, Full, Open, Number;
    MEM_BUF_ZEROCOPY64_64 = 0xC040_4E7C, 64, Full, Open, Number;
    H2T_DMA_ALLOC_QUEUES = 0xC014_4E7D, 20, Full, Open, Exact;
    H2T_DMA_FREE_QUEUES = 0xC008_4E7E, 8, Full, Open, Exact;
    POWER_PROFILE = 0x4008_4E7F, 8, Full, Open, Exact;
    METRICS_CTRL = 0x4004_4E80, 4, Full, Open, Exact;
    MEM_BUF_ZEROCOPY64_BATCHES = 0xC020_4E81, 32, Full, Open, Exact;
    THROTTLING_NOTIFICATIONS = 0x4004_4E82, 4, Full, Open, Exact;
    GET_VA_PLACEMENT = 0x4010_4E83, 16, Misc, Open, Exact;
    GET_PERFORMANCE_PROFILE = 0xC008_4E84, 8, Full, Open, Exact;
    AVAILABLE_PERF_PROFILES = 0xC024_4E86, 36, Full, Open, Exact;
    GET_ASYNC_H2T_DMA_COMPL_QUEUES = 0xC108_4E87, 264, Full, Open, Exact;
    HOST_MEM_PIN = 0xC018_4E88, 24, Misc, Open, Exact;
    HOST_MEM_UNPIN = 0x4008_4E89, 8, Misc, Open, Exact;
    DMABUF_FD_V2 = 0x8008_4E8A, 32, Misc, Open, Exact;
    GET_BAR_INFO = 0xC0C8_4E8B, 200, Full, Open, Exact;
}
