//! The datastore's table of model nodes: 64 slots and a bitmap (staging.md §16).

use crate::error::{Error, Stage, StageCode};
use crate::plan::record::{ModelNode, NodeTable};

impl NodeTable {
    /// Enters a node into the lowest free slot and gives its number.
    ///
    /// # Errors
    /// `DatastoreFull`, a warning: the load goes on without the object.
    pub fn insert(&mut self, node: ModelNode) -> Result<u8, Error> {
        let taken = self.in_use.get();
        let slot = taken.trailing_ones();
        let place = usize::try_from(slot).ok().and_then(|at| self.slots.get_mut(at));
        let full = || Error::new(Stage::Register, StageCode::DatastoreFull).numbers(64, 0);
        place.ok_or_else(full)?.node = node;
        self.in_use = (taken | 1u64.wrapping_shl(slot)).into();
        u8::try_from(slot).map_err(|_| full())
    }

    /// Empties a slot. Does nothing if it is empty.
    pub fn remove(&mut self, slot: u8) {
        if self.get(slot).is_none() {
            return;
        }
        if let Some(place) = self.slots.get_mut(usize::from(slot)) {
            place.node = ModelNode::default();
        }
        self.in_use = (self.in_use.get() & !1u64.wrapping_shl(u32::from(slot))).into();
    }

    /// The node in a slot.
    #[must_use]
    pub fn get(&self, slot: u8) -> Option<&ModelNode> {
        let place = self.slots.get(usize::from(slot))?;
        let taken = self.in_use.get().wrapping_shr(u32::from(slot)) & 1 == 1;
        taken.then_some(&place.node)
    }

    /// Nodes in the table.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.in_use.get().count_ones()
    }
}
