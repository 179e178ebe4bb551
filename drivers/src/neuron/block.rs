//! The table of live blocks: what the driver's bare numbers lack.

use loader_core::device::{DeviceError, MemHandle};

/// One block, or room for one.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The driver's handle; 0 for none.
    handle: u64,
    /// Bytes that the driver reserved.
    bytes: u64,
    /// Counts the uses of this entry.
    generation: u32,
    /// Age: a younger block has a greater number.
    order: u64,
}

impl Block {
    /// Room.
    pub const EMPTY: Self = Self { handle: 0, bytes: 0, generation: 0, order: 0 };

    pub(super) const fn driver(&self) -> u64 {
        self.handle
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The range of an access, if it lies inside.
    pub(super) fn within(&self, at: u64, len: usize) -> Result<(), DeviceError> {
        let end = u64::try_from(len).ok().and_then(|len| at.checked_add(len));
        if end.is_some_and(|end| end <= self.bytes) { Ok(()) } else { Err(DeviceError::OutOfRange) }
    }
}

/// Where the table lives: a slice of the caller's, or memory that grows.
pub trait Blocks {
    /// All entries.
    fn all(&mut self) -> &mut [Block];

    /// Makes the table longer; false if it cannot.
    fn grow(&mut self) -> bool;
}

impl Blocks for &mut [Block] {
    fn all(&mut self) -> &mut [Block] {
        self
    }

    fn grow(&mut self) -> bool {
        false
    }
}

#[cfg(feature = "std")]
impl Blocks for std::vec::Vec<Block> {
    fn all(&mut self) -> &mut [Block] {
        self
    }

    fn grow(&mut self) -> bool {
        let more = self.len().max(64);
        if self.try_reserve_exact(more).is_err() {
            return false;
        }
        self.resize(self.len() + more, Block::EMPTY);
        true
    }
}

/// Which form of a request family this driver understood last, from the newest down (driver-abi.md §10.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Forms {
    pub(super) alloc: u8,
    pub(super) narrow_copy: bool,
    pub(super) narrow_descriptors: bool,
    pub(super) single_queues: bool,
}

/// Everything of a device that changes.
#[derive(Debug)]
pub struct Table<B> {
    blocks: B,
    /// Entries that are in use.
    live: usize,
    /// Entries that are promised to blocks which the driver is being asked for.
    promised: usize,
    clock: u64,
    hint: usize,
    pub(super) forms: Forms,
    pub(super) parking: Option<u64>,
}

impl<B: Blocks> Table<B> {
    pub(super) const fn new(blocks: B) -> Self {
        let forms = Forms { alloc: 0, narrow_copy: false, narrow_descriptors: false, single_queues: false };
        Self { blocks, live: 0, promised: 0, clock: 0, hint: 0, forms, parking: None }
    }

    /// Keeps an entry for one more block, until [`Self::enter`] or [`Self::forgo`]: another thread may ask meanwhile.
    pub(super) fn reserve(&mut self) -> Result<(), DeviceError> {
        let taken = self.live.saturating_add(self.promised);
        if taken >= self.blocks.all().len() && !self.blocks.grow() {
            return Err(DeviceError::HostMemory);
        }
        self.promised = self.promised.saturating_add(1);
        Ok(())
    }

    /// Gives a reserved entry back.
    pub(super) const fn forgo(&mut self) {
        self.promised = self.promised.saturating_sub(1);
    }

    fn find_free(&mut self) -> Option<usize> {
        let hint = self.hint;
        let all = self.blocks.all();
        let free =
            |from: usize| all.iter().skip(from).position(|block| block.handle == 0).map(|at| from + at);
        let found = free(hint).or_else(|| free(0));
        if let Some(at) = found {
            self.hint = at;
        }
        found
    }

    /// Enters a block that the driver granted, where an entry is reserved.
    pub(super) fn enter(&mut self, handle: u64, bytes: u64) -> Result<MemHandle, DeviceError> {
        self.forgo();
        let at = self.find_free().ok_or(DeviceError::OutOfMemory)?;
        self.clock += 1;
        let order = self.clock;
        let entry = self.blocks.all().get_mut(at).ok_or(DeviceError::OutOfMemory)?;
        let generation = entry.generation.wrapping_add(1);
        *entry = Block { handle, bytes, generation, order };
        self.live = self.live.saturating_add(1);
        let slot = u32::try_from(at).map_err(|_| DeviceError::OutOfMemory)?;
        Ok(MemHandle { slot, generation })
    }

    /// The block of a handle.
    pub(super) fn get(&mut self, handle: MemHandle) -> Result<Block, DeviceError> {
        let entry = usize::try_from(handle.slot).ok().and_then(|at| self.blocks.all().get(at).copied());
        entry
            .filter(|block| block.handle != 0 && block.generation == handle.generation)
            .ok_or(DeviceError::BadHandle)
    }

    /// Takes a block out.
    pub(super) fn leave(&mut self, handle: MemHandle) -> Result<Block, DeviceError> {
        let block = self.get(handle)?;
        if let Some(entry) = usize::try_from(handle.slot).ok().and_then(|at| self.blocks.all().get_mut(at)) {
            entry.handle = 0;
            self.live = self.live.saturating_sub(1);
        }
        Ok(block)
    }

    /// Takes the youngest block out: release goes in reverse order.
    pub(super) fn pop(&mut self) -> Option<Block> {
        let live = self.blocks.all().iter_mut().filter(|block| block.handle != 0);
        let entry = live.max_by_key(|block| block.order)?;
        let block = *entry;
        entry.handle = 0;
        self.live = self.live.saturating_sub(1);
        Some(block)
    }

    /// Live blocks.
    pub(super) const fn live(&self) -> usize {
        self.live
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::{Block, Blocks, Table};
    use loader_core::device::DeviceError;
    use std::vec;

    /// Fills a table but for one entry, then lets two threads' allocations cross.
    fn two_at_once(mut table: Table<impl Blocks>, room: usize) -> [Result<(), DeviceError>; 2] {
        for handle in 1..room as u64 {
            table.reserve().unwrap();
            table.enter(handle, 4096).unwrap();
        }
        let reserved = [table.reserve(), table.reserve()];
        for handle in reserved.iter().filter(|reserved| reserved.is_ok()).zip(100..).map(|(_, handle)| handle)
        {
            table.enter(handle, 4096).unwrap();
        }
        let entered = reserved.iter().filter(|reserved| reserved.is_ok()).count();
        assert_eq!(table.live(), room - 1 + entered);
        reserved
    }

    #[test]
    fn the_last_entry_is_promised_once() {
        assert_eq!(two_at_once(Table::new(vec![Block::EMPTY; 64]), 64), [Ok(()), Ok(())]);
        let mut fixed = [Block::EMPTY; 4];
        assert_eq!(two_at_once(Table::new(&mut fixed[..]), 4), [Ok(()), Err(DeviceError::HostMemory)]);
    }

    #[test]
    fn what_is_not_used_is_given_back() {
        let mut fixed = [Block::EMPTY; 1];
        let mut table = Table::new(&mut fixed[..]);
        table.reserve().unwrap();
        assert_eq!(table.reserve(), Err(DeviceError::HostMemory));
        table.forgo();
        table.reserve().unwrap();
        let handle = table.enter(7, 4096).unwrap();
        assert_eq!((table.live(), table.reserve()), (1, Err(DeviceError::HostMemory)));
        table.leave(handle).unwrap();
        assert_eq!((table.live(), table.reserve()), (0, Ok(())));
    }
}
