//! Things a loader must not do although the driver lets it (driver-abi.md §17.4).

use core::fmt;

/// What was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Size 0 in a copy, fill or zero copy.
    SizeZero,
    /// More than 2 GiB in one buffer copy to a device chunk.
    BigBufferCopy,
    /// `offset + size` beyond 2^64.
    Overflow,
    /// A handle that names nothing, or another process's chunk.
    ForeignHandle,
    /// A queue started without receive ring.
    NoReceiveRing,
    /// A ring longer than its chunk.
    RingBeyondChunk,
    /// A descriptor address outside every chunk of the caller and every window of the device.
    StrayDescriptor,
    /// A descriptor that carries another ring id than its lap.
    WrongRingId,
    /// A transmit and a receive descriptor of different lengths.
    UnequalPair,
    /// More than 64 descriptors in a packet.
    LongPacket,
    /// A core, semaphore or queue outside the caller's claim.
    Unclaimed,
    /// Contiguous scratchpad pages freed in another order than the reverse.
    ScratchpadOrder,
    /// The last descriptor closed while memory was mapped.
    ClosedWhileMapped,
    /// The last descriptor closed with live chunks.
    ClosedWithChunks,
    /// Cores claimed on the full lane.
    ClaimOnFullLane,
    /// A full-lane descriptor was duplicated.
    DuplicatedDescriptor,
    /// A kernel-log text of size 0.
    EmptyPrintk,
    /// A scrub over live chunks.
    ScrubOverChunks,
    /// A chunk that ends with the HBM was mapped on a driver that translates it wrongly.
    MappedHbmEnd,
    /// A handle of another device.
    OtherDevice,
}

/// One violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Process.
    pub tgid: u32,
    /// Request value, 0 outside of requests.
    pub request: u32,
    /// What was wrong.
    pub what: What,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = crate::abi::request::Request::name_of(self.request).unwrap_or("close");
        write!(f, "process {}: {name}: {:?}", self.tgid, self.what)
    }
}
