//! Bytes out: the seven operations that staging needs from a device (staging.md §18.1).
//!
//! Everything else the loader puts on a device (rings, tables, programs) is bytes in blocks.
//! Methods take `&self`; a device that several threads stage onto is `Sync` as well, which only
//! `loader-std` asks for.

mod queue;

pub use queue::{QueueControl, QueueId, QueueSpec, Side};

use crate::arch::Arch;
use crate::error::{DeviceCode, Error, Stage};
use core::fmt;

/// Absolute device address in bytes. Zero is legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevAddr(pub u64);

impl DevAddr {
    /// The sentinel of a variable that has no place: all ones (lowering.md §8.1, Confirmed).
    pub const UNPLACED: Self = Self(u64::MAX);
}

impl fmt::Display for DevAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// A physical core of this device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CoreId(pub u16);

/// A block of device memory. The generation makes a stale copy useless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemHandle {
    /// Slot in the device's table.
    pub slot: u32,
    /// Counts the reuses of the slot.
    pub generation: u32,
}

/// Where a block lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Host memory that the device can reach.
    Host,
    /// Device memory of that HBM channel.
    Hbm(u8),
}

/// What a block is for (staging.md §7.4, Confirmed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the runtime's own and say all that is known")]
pub enum Usage {
    Generic = 0,
    InstrPe = 1,
    InstrAct = 2,
    InstrPool = 3,
    Io = 4,
    DramSpill = 5,
    Weight = 6,
    Notification = 7,
    ActTable = 8,
    InstrDve = 9,
    InstrSp = 10,
    Scratchpad = 11,
    Tensor = 12,
    UcodeLib = 13,
    PoolStdio = 14,
    Cc = 15,
    ScratchpadNotShared = 16,
    XtCc = 17,
    DmaRing = 18,
    DmaRingSpill = 19,
    DmaRingIo = 20,
    DmaRingCollectives = 21,
}

impl Usage {
    /// All usages by number.
    pub const ALL: [Self; 22] = [
        Self::Generic,
        Self::InstrPe,
        Self::InstrAct,
        Self::InstrPool,
        Self::Io,
        Self::DramSpill,
        Self::Weight,
        Self::Notification,
        Self::ActTable,
        Self::InstrDve,
        Self::InstrSp,
        Self::Scratchpad,
        Self::Tensor,
        Self::UcodeLib,
        Self::PoolStdio,
        Self::Cc,
        Self::ScratchpadNotShared,
        Self::XtCc,
        Self::DmaRing,
        Self::DmaRingSpill,
        Self::DmaRingIo,
        Self::DmaRingCollectives,
    ];

    /// The runtime's name, as in `load --json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Generic => "GENERIC",
            Self::InstrPe => "INSTR_PE",
            Self::InstrAct => "INSTR_ACT",
            Self::InstrPool => "INSTR_POOL",
            Self::Io => "IO",
            Self::DramSpill => "DRAM_SPILL",
            Self::Weight => "WEIGHT",
            Self::Notification => "NOTIFICATION",
            Self::ActTable => "ACT_TABLE",
            Self::InstrDve => "INSTR_DVE",
            Self::InstrSp => "INSTR_SP",
            Self::Scratchpad => "SCRATCHPAD",
            Self::Tensor => "TENSOR",
            Self::UcodeLib => "UCODE_LIB",
            Self::PoolStdio => "POOL_STDIO",
            Self::Cc => "CC",
            Self::ScratchpadNotShared => "SCRATCHPAD_NOT_SHARED",
            Self::XtCc => "XT_CC",
            Self::DmaRing => "DMA_RING",
            Self::DmaRingSpill => "DMA_RING_SPILL",
            Self::DmaRingIo => "DMA_RING_IO",
            Self::DmaRingCollectives => "DMA_RING_COLLECTIVES",
        }
    }
}

/// A request for device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocSpec<'a> {
    /// The core it is for.
    pub core: CoreId,
    /// Where.
    pub place: Place,
    /// Bytes, at least 1.
    pub size: u64,
    /// 0 or a power of two.
    pub align: u64,
    /// What for.
    pub usage: Usage,
    /// A word for logs.
    pub tag: &'a str,
    /// A page of a contiguous scratchpad: the driver's own category, placed downward from the end of
    /// the channel so that later pages lie just below earlier ones (staging.md §7.2, R41).
    pub contiguous: bool,
}

/// The driver's memory category of a usage in a place (staging.md §7.5); `None` where the usage is not
/// legal there. For usages 3 and 4 the values the neighbours imply are given (§19, X9).
#[must_use]
pub const fn category(usage: Usage, place: Place) -> Option<u8> {
    let (hbm, host) = match usage {
        Usage::InstrPe
        | Usage::InstrAct
        | Usage::InstrPool
        | Usage::InstrDve
        | Usage::InstrSp
        | Usage::UcodeLib => (8, Some(1)),
        Usage::Generic | Usage::Io | Usage::DramSpill | Usage::ActTable | Usage::PoolStdio | Usage::XtCc => {
            (12, Some(4))
        }
        Usage::Weight => (10, Some(3)),
        Usage::Notification => (16, Some(6)),
        Usage::Scratchpad => (11, None),
        Usage::Tensor => (9, Some(2)),
        Usage::Cc => (14, None),
        Usage::ScratchpadNotShared => (15, None),
        Usage::DmaRing | Usage::DmaRingSpill | Usage::DmaRingIo | Usage::DmaRingCollectives => (18, Some(17)),
    };
    match place {
        Place::Hbm(_) => Some(hbm),
        Place::Host => host,
    }
}

/// A granted block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Its handle.
    pub handle: MemHandle,
    /// Its first address.
    pub base: DevAddr,
    /// Bytes that the device reserved for it.
    pub bytes: u64,
}

/// Why a device refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceError {
    /// No memory left.
    OutOfMemory,
    /// The request makes no sense.
    BadRequest,
    /// The handle is not live.
    BadHandle,
    /// The access leaves the block.
    OutOfRange,
    /// The device cannot align; ask again without and over-allocate.
    AlignmentUnsupported,
    /// The store keeps no bytes to read.
    ReadRefused,
    /// The operating system's errno.
    Io(i32),
    /// A positive result of the driver: so many bytes of an argument were not copied, or a request is still
    /// open (driver-abi.md §6). A failure, although no errno goes with it.
    Positive(u32),
    /// The driver's bare -1: a copy timed out, or a ring is wrong (driver-abi.md §6). Not a matter of permissions.
    TimeoutOrRing,
    /// The host has no memory for what it keeps of the device.
    HostMemory,
    /// The driver's table of memory handles is full, or was closed when it was (driver-abi.md §7.2).
    HandleTable,
}

impl DeviceError {
    /// The same as a loader error of `stage`, without a place.
    #[must_use]
    pub fn at(self, stage: Stage) -> Error {
        let code = match self {
            Self::OutOfMemory => DeviceCode::OutOfMemory,
            Self::BadRequest => DeviceCode::BadRequest,
            Self::BadHandle => DeviceCode::BadHandle,
            Self::OutOfRange => DeviceCode::OutOfRange,
            Self::AlignmentUnsupported => DeviceCode::AlignmentUnsupported,
            Self::ReadRefused => DeviceCode::ReadRefused,
            Self::Io(_) => DeviceCode::Io,
            Self::Positive(_) => DeviceCode::Positive,
            Self::TimeoutOrRing => DeviceCode::TimeoutOrRing,
            Self::HostMemory => DeviceCode::HostRecord,
            Self::HandleTable => DeviceCode::HandleTable,
        };
        let errno = match self {
            Self::Io(errno) => u64::from(errno.unsigned_abs()),
            Self::Positive(number) => u64::from(number),
            _ => 0,
        };
        Error::new(stage, code).numbers(errno, 0)
    }
}

/// In a few words, without what was asked for: at most 32 bytes.
impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfMemory => "out of memory",
            Self::BadRequest => "bad request",
            Self::BadHandle => "no such handle",
            Self::OutOfRange => "out of range",
            Self::AlignmentUnsupported => "alignment not supported",
            Self::ReadRefused => "reads refused",
            Self::Io(errno) => return write!(f, "errno {errno}"),
            Self::Positive(number) => return write!(f, "positive result {number}"),
            Self::TimeoutOrRing => "timeout or bad ring",
            Self::HostMemory => "no host memory",
            Self::HandleTable => "no free memory handle",
        })
    }
}

/// The boundary that staging needs. See the module's page.
pub trait Device {
    /// Architecture of the device's cores.
    fn arch(&self) -> Arch;

    /// Whether nothing on it is ever run. What is not translated stays off a device that runs it (R6), so
    /// `false` is the safe answer.
    fn is_simulated(&self) -> bool {
        false
    }

    /// Number of physical cores.
    fn cores(&self) -> u16;

    /// Cores that this process owns: first and one past the last. All of them unless the device is shared.
    fn owned(&self) -> (u16, u16) {
        (0, self.cores())
    }

    /// The HBM channel that is nearest to a core.
    fn home_channel(&self, core: CoreId) -> u8;

    /// The on-chip memory window of a core: first address and bytes.
    fn state_buffer(&self, core: CoreId) -> (DevAddr, u64);

    /// The register that a 4-byte write of `n` to adds `n` to semaphore `index` of `core`.
    fn semaphore_increment(&self, core: CoreId, index: u32) -> DevAddr;

    /// Reserves a block.
    ///
    /// # Errors
    /// Any [`DeviceError`]; nothing is reserved then.
    fn alloc(&self, spec: &AllocSpec<'_>) -> Result<Granted, DeviceError>;

    /// Gives a block back.
    ///
    /// # Errors
    /// [`DeviceError::BadHandle`] if it is not live.
    fn free(&self, handle: MemHandle) -> Result<(), DeviceError>;

    /// Copies `bytes` into a block at byte `at`. On `Ok` every byte is visible in device memory.
    ///
    /// # Errors
    /// Any [`DeviceError`]; the block's content is then unspecified.
    fn write(&self, handle: MemHandle, at: u64, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Copies from a block at byte `at` into `out`.
    ///
    /// # Errors
    /// Any [`DeviceError`]; `out` is then unspecified.
    fn read(&self, handle: MemHandle, at: u64, out: &mut [u8]) -> Result<(), DeviceError>;
}

/// A device that is lent.
impl<D: Device + ?Sized> Device for &D {
    fn arch(&self) -> Arch {
        (**self).arch()
    }

    fn is_simulated(&self) -> bool {
        (**self).is_simulated()
    }

    fn cores(&self) -> u16 {
        (**self).cores()
    }

    fn owned(&self) -> (u16, u16) {
        (**self).owned()
    }

    fn home_channel(&self, core: CoreId) -> u8 {
        (**self).home_channel(core)
    }

    fn state_buffer(&self, core: CoreId) -> (DevAddr, u64) {
        (**self).state_buffer(core)
    }

    fn semaphore_increment(&self, core: CoreId, index: u32) -> DevAddr {
        (**self).semaphore_increment(core, index)
    }

    fn alloc(&self, spec: &AllocSpec<'_>) -> Result<Granted, DeviceError> {
        (**self).alloc(spec)
    }

    fn free(&self, handle: MemHandle) -> Result<(), DeviceError> {
        (**self).free(handle)
    }

    fn write(&self, handle: MemHandle, at: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        (**self).write(handle, at, bytes)
    }

    fn read(&self, handle: MemHandle, at: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        (**self).read(handle, at, out)
    }
}
