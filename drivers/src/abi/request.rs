//! Every request of driver 2.24.7.0: value, lane, attach rule, dispatch rule, argument bytes (driver-abi.md §3, §4).
//!
//! The direction and size fields inside a value are part of its name and nothing else: most inputs are
//! encoded as read, and older requests encode the size of a pointer instead of the structure's.

mod later;

pub use later::*;

/// Where a request may be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Only on a descriptor that is open for reading, or for reading and writing.
    Full,
    /// Also on a write-only descriptor.
    Misc,
}

/// Whether the calling process must be attached to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// No.
    Open,
    /// Yes, else EACCES. Holds for this exact value: a sibling of the same number is not checked.
    Attached,
    /// As [`Gate::Attached`], on the full lane only.
    AttachedFull,
}

/// How the driver finds the handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// By the whole value.
    Exact,
    /// By the number; the handler then looks at the value.
    Number,
}

/// The direction bits of a value. They do not say which way data flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// 0.
    None,
    /// 1.
    Write,
    /// 2.
    Read,
    /// 3.
    Both,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The kernel header's name without its prefix.
    pub name: &'static str,
    /// The value to pass to `ioctl`.
    pub value: u32,
    /// Bytes that the driver reads or writes at the argument address.
    pub bytes: u16,
    /// Where it may be issued.
    pub lane: Lane,
    /// Who may issue it.
    pub gate: Gate,
    /// How it is found.
    pub dispatch: Dispatch,
}

impl Request {
    /// The number: bits 0 to 7.
    #[must_use]
    pub const fn number(self) -> u8 {
        number(self.value)
    }

    /// The size that the value encodes.
    #[must_use]
    pub const fn encoded_size(self) -> u16 {
        encoded_size(self.value)
    }

    /// The direction that the value encodes.
    #[must_use]
    pub const fn direction(self) -> Direction {
        direction(self.value)
    }

    /// The request of 2.24.7.0 with that value.
    #[must_use]
    pub fn from_value(value: u32) -> Option<&'static Self> {
        TABLE.iter().find(|request| request.value == value)
    }

    /// The name of a value for a trace: of the baseline, of a later driver, or of the nearest sibling.
    #[must_use]
    pub fn name_of(value: u32) -> Option<&'static str> {
        let exact = TABLE.iter().chain(LATER).find(|request| request.value == value);
        let sibling = || TABLE.iter().chain(LATER).find(|request| request.number() == number(value));
        exact.or_else(sibling).map(|request| request.name)
    }
}

/// The number inside a value.
#[must_use]
pub const fn number(value: u32) -> u8 {
    value.to_le_bytes()[0]
}

/// The size inside a value: bits 16 to 29.
#[must_use]
pub const fn encoded_size(value: u32) -> u16 {
    let [_, _, low, high] = value.to_le_bytes();
    u16::from_le_bytes([low, high & 0x3F])
}

/// The direction inside a value: bits 30 and 31.
#[must_use]
pub const fn direction(value: u32) -> Direction {
    match value >> 30 {
        0 => Direction::None,
        1 => Direction::Write,
        2 => Direction::Read,
        _ => Direction::Both,
    }
}

macro_rules! requests {
    ($table:ident, $doc:literal; $($name:ident = $value:literal, $bytes:literal, $lane:ident, $gate:ident, $dispatch:ident;)*) => {
        $(#[doc = concat!("Request value `", stringify!($value), "`.")] pub const $name: u32 = $value;)*

        #[doc = $doc]
        pub const $table: &[Request] = &[
            $(Request {
                name: stringify!($name), value: $value, bytes: $bytes,
                lane: Lane::$lane, gate: Gate::$gate, dispatch: Dispatch::$dispatch,
            },)*
        ];
    };
}
use requests;

requests! {
    TABLE, "All requests of driver 2.24.7.0 by number.";
    // Identity, reset and registers.
    DEVICE_RESET = 0x0000_4E01, 0, Full, Open, Exact;
    DEVICE_READY = 0x8001_4E02, 1, Full, Open, Exact;
    DEVICE_INFO = 0x8008_4E03, 80, Full, Open, Exact;
    DEVICE_INIT = 0x8008_4E04, 0, Full, Open, Exact;
    DEVICE_RELEASE = 0x0000_4E05, 0, Full, Open, Exact;
    DEVICE_APP_PID = 0x8004_4E06, 4, Full, Open, Exact;
    DEVICE_GET_ALL_APPS_INFO = 0x8008_4E07, 16, Full, Open, Exact;
    BAR_READ = 0x8008_4E0B, 32, Full, Open, Exact;
    BAR_WRITE = 0x4008_4E0C, 32, Full, Attached, Exact;
    POST_METRIC = 0x4008_4E0D, 16, Full, Attached, Exact;
    // Memory and copies.
    MEM_ALLOC = 0x8008_4E15, 32, Full, Attached, Exact;
    MEM_FREE = 0x8008_4E16, 8, Full, Attached, Exact;
    MEM_COPY = 0x8008_4E17, 32, Full, Attached, Number;
    MEM_COPY64 = 0x8028_4E17, 40, Full, Open, Number;
    MEM_BUF_COPY = 0xC008_4E18, 32, Full, Open, Number;
    MEM_BUF_COPY64 = 0xC028_4E18, 40, Full, Open, Number;
    MEM_GET_PA = 0x8008_4E19, 16, Full, Attached, Exact;
    MEM_GET_INFO = 0x8008_4E1A, 24, Full, Attached, Exact;
    PROGRAM_ENGINE = 0xC008_4E1B, 24, Full, Open, Exact;
    MEMSET = 0x8008_4E1C, 24, Full, Open, Number;
    MEMSET64 = 0x8020_4E1C, 32, Full, Open, Number;
    MEM_GET_EXTENDED_INFO = 0x8008_4E1D, 48, Full, Open, Exact;
    // DMA engines and queues.
    DMA_ENG_INIT = 0x8008_4E1E, 0, Full, Attached, Exact;
    DMA_ENG_SET_STATE = 0x8008_4E1F, 8, Full, Attached, Exact;
    DMA_ENG_GET_STATE = 0xC008_4E20, 16, Full, Open, Exact;
    DMA_QUEUE_INIT = 0x8008_4E21, 48, Full, Attached, Exact;
    DMA_QUEUE_RELEASE = 0x8008_4E22, 8, Full, Attached, Exact;
    DMA_QUEUE_COPY_START = 0x8008_4E23, 16, Full, Open, Exact;
    DMA_ACK_COMPLETED = 0x8008_4E24, 12, Full, Attached, Exact;
    DMA_QUEUE_GET_STATE = 0xC008_4E25, 24, Full, Open, Exact;
    DMA_COPY_DESCRIPTORS = 0x8008_4E26, 32, Full, Attached, Number;
    DMA_COPY_DESCRIPTORS64 = 0x8028_4E26, 40, Full, Open, Number;
    DMA_DESCRIPTOR_COPYOUT = 0xC008_4E27, 32, Full, Open, Exact;
    DMA_QUIESCE_QUEUES = 0x8008_4E28, 0, Full, Open, Exact;
    // Semaphores and events.
    SEMAPHORE_INCREMENT = 0x8008_4E29, 12, Full, Open, Exact;
    SEMAPHORE_DECREMENT = 0x8008_4E2A, 12, Full, Open, Exact;
    SEMAPHORE_READ = 0xC008_4E2B, 12, Full, Open, Exact;
    SEMAPHORE_WRITE = 0x8008_4E2C, 12, Full, Open, Exact;
    EVENT_SET = 0x8008_4E2D, 12, Full, Open, Exact;
    EVENT_GET = 0xC008_4E2E, 12, Full, Open, Exact;
    // Notification queues, counters, datastore.
    NOTIFICATIONS_INIT_V1 = 0x8008_4E33, 24, Full, Attached, Exact;
    NOTIFICATIONS_DESTROY_V1 = 0x8008_4E34, 0, Full, Open, Exact;
    NOTIFICATIONS_INIT_V2 = 0x8008_4E35, 48, Full, Attached, Exact;
    NOTIFICATIONS_INIT_WITH_REALLOC_V2 = 0x8008_4E36, 56, Full, Attached, Exact;
    NOTIFICATIONS_QUEUE_INFO = 0x8008_4E3A, 0, Full, Open, Exact;
    READ_HW_COUNTERS = 0x8008_4E3D, 24, Full, Open, Exact;
    ACQUIRE_NEURON_DS = 0x8008_4E47, 24, Full, Open, Exact;
    RELEASE_NEURON_DS = 0x8008_4E48, 24, Full, Open, Exact;
    // Claims and initialisation.
    CRWL_READER_ENTER = 0x4008_4E51, 36, Full, Open, Exact;
    CRWL_READER_EXIT = 0x4008_4E52, 36, Full, Open, Exact;
    CRWL_WRITER_ENTER = 0x4008_4E53, 36, Full, Open, Exact;
    CRWL_WRITER_DOWNGRADE = 0x4008_4E54, 36, Full, Open, Exact;
    CRWL_NC_RANGE_MARK = 0x4008_4E55, 24, Misc, Open, Exact;
    CRWL_NC_RANGE_MARK_EXT0 = 0xC050_4E55, 80, Misc, Open, Exact;
    CRWL_NC_RANGE_UNMARK = 0x4008_4E56, 24, Misc, Open, Exact;
    CRWL_NC_RANGE_UNMARK_EXT0 = 0x4050_4E56, 80, Misc, Open, Exact;
    CINIT_SET_STATE = 0x4008_4E5B, 12, Full, Open, Exact;
    NC_MODEL_STARTED_COUNT = 0x4008_4E5C, 16, Full, Open, Exact;
    COMPATIBLE_VERSION = 0x4008_4E5D, 8, Misc, Open, Exact;
    // The extended family.
    DEVICE_BASIC_INFO = 0x4008_4E64, 8, Misc, Open, Exact;
    DEVICE_BDF = 0x8008_4E65, 8, Full, Open, Exact;
    MEM_ALLOC_V2 = 0x8008_4E66, 40, Full, Open, Number;
    MEM_ALLOC_V2MT = 0x8030_4E66, 48, Full, Open, Number;
    MEM_ALLOC_V2MT64 = 0x8038_4E66, 56, Full, Open, Number;
    NC_RESET = 0x8008_4E67, 8, Full, Open, Exact;
    NC_RESET_READY = 0x8008_4E68, 8, Full, Open, Exact;
    PROGRAM_ENGINE_NC = 0xC008_4E69, 32, Full, Open, Number;
    PROGRAM_ENGINE_NC64 = 0xC028_4E69, 40, Full, Open, Number;
    DEVICE_RESET_STATUS = 0x8001_4E6A, 1, Full, Open, Exact;
    DEVICE_BDF_EXT = 0x8008_4E6A, 16, Misc, Open, Exact;
    DMABUF_FD = 0x8008_4E6B, 24, Misc, Open, Exact;
    MEM_COPY_ASYNC = 0xC030_4E6C, 48, Full, Attached, Number;
    MEM_COPY_ASYNC64 = 0xC038_4E6C, 56, Full, Open, Number;
    MEM_COPY_ASYNC_WAIT = 0x4018_4E6D, 24, Full, Attached, Exact;
    DRIVER_INFO_GET = 0x8018_4E6E, 24, Misc, Open, Number;
    DRIVER_INFO_SET = 0x4018_4E6E, 0, Misc, AttachedFull, Number;
    MEM_MC_GET_INFO = 0xC018_4E6F, 24, Full, Open, Number;
    MEM_MC_GET_INFO_V2 = 0xC020_4E6F, 32, Full, Open, Number;
    RESOURCE_MMAP_INFO = 0xC020_4E70, 32, Full, Open, Exact;
    PRINTK = 0x4010_4E71, 16, Misc, Open, Exact;
    HOST_DEVICE_ID = 0x8004_4E72, 4, Full, Open, Exact;
    HOST_DEVICE_ID_TO_RID_MAP = 0xC104_4E73, 260, Misc, Open, Number;
    DUMP_MEM_CHUNKS = 0x8008_4E74, 24, Full, Open, Exact;
    NC_PID_STATE_DUMP = 0xC010_4E75, 16, Misc, Open, Exact;
    HBM_SCRUB_START = 0xC010_4E76, 16, Full, Open, Exact;
    HBM_SCRUB_WAIT = 0xC008_4E77, 8, Full, Open, Exact;
    GET_LOGICAL_TO_PHYSICAL_NC_MAP = 0xC010_4E78, 16, Misc, Open, Exact;
    POD_INFO = 0xC104_4E79, 260, Misc, Open, Number;
    POD_STATUS = 0xC10C_4E7A, 268, Misc, Open, Number;
    POD_STATUS_V2 = 0xC114_4E7A, 276, Misc, Open, Number;
    POD_CTRL = 0xC010_4E7B, 16, Misc, Open, Number;
    POD_CTRL_V2 = 0xC014_4E7B, 20, Misc, Open, Number;
    MEM_BUF_ZEROCOPY64 = 0xC028_4E7C, 40, Full, Open, Number;
    DMA_QUEUE_INIT_BATCH = 0xB008_4E85, 12296, Full, Open, Exact;
}

#[cfg(test)]
mod tests;
