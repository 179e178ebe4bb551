//! Values inside the structures: enumerations, feature bits, limits (driver-abi.md §5, §15).

/// `architecture`: the hardware generation. Same numbers as [`loader_core::arch::Arch::number`] from 2 on.
pub mod arch {
    /// Sunda.
    pub const V2: u32 = 2;
    /// Cayman.
    pub const V3: u32 = 3;
    /// Mariana (drivers from 2.27).
    pub const V4: u32 = 4;
}

/// Ring sides of a DMA queue.
pub mod queue_type {
    /// Sources.
    pub const TX: u32 = 0;
    /// Destinations.
    pub const RX: u32 = 1;
    /// Completion ring; refused wherever it can be named.
    pub const RXC: u32 = 2;
}

/// States of a core's initialisation.
pub mod cinit {
    /// Somebody initialises.
    pub const STARTED: u32 = 1;
    /// Done.
    pub const COMPLETED: u32 = 2;
    /// Not initialised.
    pub const INVALID: u32 = 3;
}

/// Blocks and resources of `RESOURCE_MMAP_INFO`.
pub mod resource {
    /// Block: a core.
    pub const TPB: u32 = 0;
    /// Block: a TOP_SP.
    pub const TOP_SP: u32 = 1;
    /// Block: an HBM.
    pub const HBM: u32 = 2;
    /// Resource: the semaphore registers.
    pub const SEMAPHORE: u32 = 0;
    /// Resource: the whole block, read only.
    pub const ALL: u32 = 1;
    /// Resource: the state buffer.
    pub const STATE_BUFFER: u32 = 2;
    /// Resource: device memory.
    pub const DEVICE_MEMORY: u32 = 3;
}

/// Device types of notification queues.
pub mod nq_device {
    /// A core.
    pub const NEURON_CORE: u32 = 0;
    /// A TOP_SP.
    pub const TOP_SP: u32 = 1;
}

/// Memory types (accounting, except 19).
pub mod mem_type {
    /// First type of device memory that carries no category.
    pub const UNKNOWN_DEVICE: u32 = 7;
    /// A page of the contiguous scratchpad: carved downward from the end of the main pool.
    pub const CONTIGUOUS_SCRATCHPAD: u32 = 19;
}

/// Feature bits of `DRIVER_INFO_GET`.
pub mod feature {
    /// dma-buf export.
    pub const DMABUF: u64 = 1 << 0;
    /// Asynchronous copies.
    pub const ASYNC_DMA: u64 = 1 << 1;
    /// `DMA_QUEUE_INIT_BATCH`.
    pub const BATCH_QUEUE_INIT: u64 = 1 << 2;
    /// Claims of 512 cores.
    pub const BIG_CORE_MAPS: u64 = 1 << 3;
    /// Memory types.
    pub const MEM_TYPE: u64 = 1 << 4;
    /// HBM scrub.
    pub const HBM_SCRUB: u64 = 1 << 5;
    /// 64-bit allocation and copy.
    pub const MEM_ALLOC64: u64 = 1 << 6;
    /// Contiguous scratchpad.
    pub const CONTIGUOUS_SCRATCHPAD: u64 = 1 << 7;
    /// Zero copy.
    pub const ZEROCOPY: u64 = 1 << 8;
    /// Pinned host memory.
    pub const PINNED_HOST_MEMORY: u64 = 1 << 9;
    /// Allocation returns the address.
    pub const ALLOC_PA: u64 = 1 << 10;
    /// Asynchronous host/device copies.
    pub const ASYNC_HOST: u64 = 1 << 11;
    /// Asynchronous device/device copies.
    pub const ASYNC_DEVICE: u64 = 1 << 12;
}

/// Device states.
pub mod device_state {
    /// Being reset.
    pub const RESET: u8 = 0;
    /// Usable.
    pub const READY: u8 = 1;
    /// Dead.
    pub const INVALID: u8 = 2;
}

/// Device nodes of a host.
pub const MAX_DEVICES: u32 = 64;
/// Cores that the driver's tables have per device, whatever the device has.
pub const MAX_CORES_PER_DEVICE: u32 = 8;
/// Slots of the claim table.
pub const MAX_CORES: usize = 512;
/// Processes attached to one device.
pub const ATTACH_SLOTS: usize = 16;
/// Datastores of one device.
pub const DATASTORES: usize = 16;
/// Bytes of a datastore.
pub const DATASTORE_BYTES: u64 = 262_144;
/// Live handles of one device.
pub const MAX_HANDLES: u32 = 4_194_303;
/// Allocation granule.
pub const PAGE: u64 = 4096;
/// Largest size argument of an allocation.
pub const MAX_ALLOC: u64 = i64::MAX as u64;
/// Largest `align` argument; the largest power of two below it is 2^30.
pub const MAX_ALIGN: u64 = (1 << 31) - 1;
/// Bytes of one DMA descriptor.
pub const DESCRIPTOR_BYTES: u64 = 65_536;
/// Data descriptors between two completion waits of a kernel copy.
pub const COPY_BATCH: u64 = 2032;
/// Largest asynchronous copy.
pub const MAX_ASYNC_COPY: u64 = COPY_BATCH * DESCRIPTOR_BYTES;
/// Bytes of one `MEM_BUF_COPY64` that the loader sends: above 4 GiB the driver copies the size modulo 4 GiB.
pub const MAX_BUF_COPY: u64 = 1 << 31;
/// Bytes of one `PROGRAM_ENGINE_NC64` that the loader sends: the driver's reserve pool has blocks of 2 MiB.
pub const MAX_PROGRAM: u64 = 2 << 20;
/// Entries of one `DMA_QUEUE_INIT_BATCH` that the driver accepts.
pub const MAX_BATCH: u32 = 255;
/// Least entries of a ring.
pub const MIN_RING: u32 = 32;
/// Most entries of a ring.
pub const MAX_RING: u32 = 16_777_200;
/// Entries of a ring are a multiple of this.
pub const RING_STEP: u32 = 16;
/// The base of a ring is a multiple of this.
pub const RING_ALIGN: u64 = 256;
/// DMA engines that arguments may name, on every architecture.
pub const MAX_DMA_ENGINES: u32 = 132;
/// Queues of one DMA engine.
pub const QUEUES_PER_ENGINE: u32 = 16;
/// Semaphores of a core, and events.
pub const SEMAPHORES: u32 = 256;
/// Notification queues of a core or TOP_SP: 16 engines times 6 types.
pub const NOTIFICATION_QUEUES: usize = 96;
/// Entries of the core map.
pub const MAX_CORE_MAP: u32 = 128;
/// Kernel-log text with its terminator.
pub const MAX_PRINTK: u32 = 512;
/// Register values of one read.
pub const MAX_BAR_READ: u32 = 100;
/// Bytes of a posted metric.
pub const MAX_METRIC: u32 = 128;
