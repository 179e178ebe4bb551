//! Queues of DMA engines: programming rings, filling them, starting them (driver-abi.md §7.11, §8).
//!
//! Staging needs none of this: rings are bytes in blocks. Whoever runs a model, and whoever tests what was
//! staged, does.

use super::{DeviceError, MemHandle};

/// A queue of a DMA engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId {
    /// Engine, below 132.
    pub engine: u8,
    /// Queue of the engine, below 16.
    pub queue: u8,
}

/// A side of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Sources.
    Tx,
    /// Destinations.
    Rx,
}

/// A queue over two rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSpec {
    /// Which.
    pub id: QueueId,
    /// Block that holds the transmit ring, and its entries.
    pub tx: (MemHandle, u32),
    /// Block that holds the receive ring, and its entries.
    pub rx: (MemHandle, u32),
}

/// Programming of queues. A ring has 32 to 16,777,200 entries of 16 bytes, a multiple of 16, and lies inside
/// its block; the device checks none of that, so implementations do.
pub trait QueueControl {
    /// Points a queue to its rings; head, tail and ring id start again.
    ///
    /// # Errors
    /// Any [`DeviceError`]; [`DeviceError::OutOfRange`] if a ring does not fit its block.
    fn init_queue(&self, spec: &QueueSpec) -> Result<(), DeviceError>;

    /// As [`Self::init_queue`] for several, in order. On an error the ones before it are initialised.
    ///
    /// # Errors
    /// That of the first queue that failed.
    fn init_queues(&self, specs: &[QueueSpec]) -> Result<(), DeviceError> {
        specs.iter().try_for_each(|spec| self.init_queue(spec))
    }

    /// Stores descriptors in a ring from entry `first` on.
    ///
    /// # Errors
    /// Any [`DeviceError`].
    fn write_descriptors(
        &self,
        ring: MemHandle,
        side: Side,
        first: u32,
        descriptors: &[[u8; 16]],
    ) -> Result<(), DeviceError>;

    /// Hands descriptors to the hardware. It returns at once; nothing tells when they are done.
    ///
    /// # Errors
    /// Any [`DeviceError`]; a queue without receive ring is refused.
    fn start_queue(&self, id: QueueId, tx: u32, rx: u32) -> Result<(), DeviceError>;

    /// Points a queue away from its rings, so that they may be freed. There is no release of queues: it is
    /// initialised again over memory that stays.
    ///
    /// # Errors
    /// Any [`DeviceError`].
    fn park_queue(&self, id: QueueId) -> Result<(), DeviceError>;
}
