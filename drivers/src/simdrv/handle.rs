//! The handle table of a device: small numbers, last freed first reused, off for good once it ran out.

use alloc::vec::Vec;

/// Numbers from 1 on, each naming a chunk by its first address (driver-abi.md §7.4).
#[derive(Clone, Debug)]
pub struct Handles {
    chunks: Vec<Option<u64>>,
    free: Vec<u32>,
    limit: u32,
    down: bool,
}

impl Handles {
    pub(super) const fn new(limit: u32) -> Self {
        Self { chunks: Vec::new(), free: Vec::new(), limit, down: false }
    }

    /// A number for the chunk at `base`; `None` if the table is full, and then for ever.
    pub(super) fn mint(&mut self, base: u64) -> Option<u32> {
        if self.down {
            return None;
        }
        if let Some(number) = self.free.pop() {
            self.chunks[number as usize - 1] = Some(base);
            return Some(number);
        }
        if self.chunks.len() as u64 >= u64::from(self.limit) {
            self.down = true;
            return None;
        }
        self.chunks.push(Some(base));
        Some(self.chunks.len() as u32)
    }

    /// The chunk that a handle names.
    #[must_use]
    pub fn get(&self, handle: u64) -> Option<u64> {
        if self.down {
            return None;
        }
        let at = usize::try_from(handle.checked_sub(1)?).ok()?;
        self.chunks.get(at).copied().flatten()
    }

    pub(super) fn release(&mut self, number: u32) {
        if let Some(slot) = self.chunks.get_mut(number as usize - 1)
            && slot.take().is_some()
        {
            self.free.push(number);
        }
    }

    /// Whether the table ran out at some time.
    #[must_use]
    pub const fn is_down(&self) -> bool {
        self.down
    }

    pub(super) const fn switch_off(&mut self) {
        self.down = true;
    }

    /// The module was loaded anew.
    pub(super) const fn switch_on(&mut self) {
        self.down = false;
    }
}
