//! The live blocks of a region: a list by address, and a tree over the same slots that knows the free gaps.
//!
//! The tree is a treap whose priorities are mixed slot numbers, so its shape depends on the blocks alone. Every node knows
//! the gap before its block, and for every alignment how many granules the best gap at and below it takes from an aligned
//! address on; so the first fit, the block at an address and both ends of 100,000 blocks are found in a logarithmic number
//! of steps, also where nearly every gap is large enough and none is aligned. Everything lies in the slots: no heap.

use super::digest::mix;
use super::fit::Wanted;
use super::region::GRANULE;
use super::storage::{NIL, Slot};

/// Alignments that are told apart: the granule, and its doubles up to 128 MiB. Without a heap there are few blocks, and the
/// slots stay small.
const ALIGNMENTS: usize = if cfg!(feature = "std") { 16 } else { 1 };

/// Granules that the best gap takes, by alignment.
pub(super) type Rooms = [u32; ALIGNMENTS];

/// No room at all.
pub(super) const NO_ROOM: Rooms = [0; ALIGNMENTS];

/// The slots of all regions as the nodes of this one's tree.
struct Tree<'s> {
    slots: &'s mut [Slot],
    guard: u64,
}

/// One region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Index {
    root: u32,
    pub(super) first: u32,
    last: u32,
    /// Bytes that stay free on both sides of every block.
    guard: u64,
}

fn priority(slot: u32) -> u64 {
    mix(u64::from(slot))
}

fn end(slots: &[Slot], slot: u32) -> Option<u64> {
    slots.get(slot as usize).map(|slot| slot.base + slot.reserved)
}

/// The class of an alignment: the largest one that is known and no stricter.
fn class(align: u64) -> usize {
    let doubles = align.max(GRANULE).ilog2() - GRANULE.ilog2();
    (doubles as usize).min(ALIGNMENTS - 1)
}

/// What fits between two addresses.
fn room(from: u64, to: u64, guard: u64) -> Rooms {
    let mut rooms = NO_ROOM;
    for (class, room) in rooms.iter_mut().enumerate() {
        let start = (from + guard).next_multiple_of(GRANULE << class);
        let bytes = to.saturating_sub(guard).saturating_sub(start);
        *room = u32::try_from(bytes / GRANULE).unwrap_or(u32::MAX);
    }
    rooms
}

impl Tree<'_> {
    /// Sets what a node knows about itself and the nodes below it.
    fn pull(&mut self, node: u32) {
        let Slot { left, right, gap, base, .. } = self.slots[node as usize];
        let mut best = if gap == 0 { NO_ROOM } else { room(base - gap, base, self.guard) };
        for below in [left, right].into_iter().filter_map(|below| self.slots.get(below as usize)) {
            best.iter_mut().zip(below.rooms).for_each(|(best, below)| *best = below.max(*best));
        }
        self.slots[node as usize].rooms = best;
    }

    /// The trees of the blocks below `base` and of the others.
    fn split(&mut self, node: u32, base: u64) -> (u32, u32) {
        if node == NIL {
            return (NIL, NIL);
        }
        let Slot { left, right, base: own, .. } = self.slots[node as usize];
        let parts = if own < base {
            let (low, high) = self.split(right, base);
            self.slots[node as usize].right = low;
            (node, high)
        } else {
            let (low, high) = self.split(left, base);
            self.slots[node as usize].left = high;
            (low, node)
        };
        self.pull(node);
        parts
    }

    /// One tree of two, where all of `low` lies below all of `high`.
    fn merge(&mut self, low: u32, high: u32) -> u32 {
        if low == NIL || high == NIL {
            return if low == NIL { high } else { low };
        }
        let top = if priority(low) > priority(high) { low } else { high };
        if top == low {
            self.slots[low as usize].right = self.merge(self.slots[low as usize].right, high);
        } else {
            self.slots[high as usize].left = self.merge(low, self.slots[high as usize].left);
        }
        self.pull(top);
        top
    }

    /// Puts `new` into the tree at `node`.
    fn place(&mut self, node: u32, new: u32) -> u32 {
        let base = self.slots[new as usize].base;
        if node == NIL || priority(new) > priority(node) {
            let (low, high) = self.split(node, base);
            let slot = &mut self.slots[new as usize];
            (slot.left, slot.right) = (low, high);
            self.pull(new);
            return new;
        }
        if base < self.slots[node as usize].base {
            self.slots[node as usize].left = self.place(self.slots[node as usize].left, new);
        } else {
            self.slots[node as usize].right = self.place(self.slots[node as usize].right, new);
        }
        self.pull(node);
        node
    }

    /// Takes `old`, whose base is `base`, out of the tree at `node`.
    fn take(&mut self, node: u32, old: u32, base: u64) -> u32 {
        let Slot { left, right, base: own, .. } = self.slots[node as usize];
        if node == old {
            return self.merge(left, right);
        }
        if base < own {
            self.slots[node as usize].left = self.take(left, old, base);
        } else {
            self.slots[node as usize].right = self.take(right, old, base);
        }
        self.pull(node);
        node
    }

    /// Tells the nodes from `node` down to a block that its gap changed.
    fn refresh(&mut self, node: u32, slot: u32) {
        if slot == NIL || node == NIL {
            return;
        }
        let (wanted, Slot { left, right, base, .. }) =
            (self.slots[slot as usize].base, self.slots[node as usize]);
        if node != slot {
            self.refresh(if wanted < base { left } else { right }, slot);
        }
        self.pull(node);
    }

    /// Sets the gap before a block; the region starts at `start`.
    fn measure(&mut self, start: u64, slot: u32) {
        let Some(Slot { prev, base, .. }) = self.slots.get(slot as usize).copied() else { return };
        let from = end(self.slots, prev).unwrap_or(start);
        self.slots[slot as usize].gap = base.saturating_sub(from);
    }
}

/// A place, and the block after which it lies ([`NIL`]: before all).
type Place = (u64, u32);

impl Index {
    /// No blocks; `guard` bytes stay free on both sides of each.
    pub(super) const fn new(guard: u64) -> Self {
        Self { root: NIL, first: NIL, last: NIL, guard }
    }

    /// Bytes that stay free on both sides of every block.
    pub(super) const fn guard(&self) -> u64 {
        self.guard
    }

    /// Enters a block that lies after `before`; the region starts at `start`.
    pub(super) fn insert(&mut self, slots: &mut [Slot], start: u64, slot: u32, before: u32) {
        let next = slots.get(before as usize).map_or(self.first, |before| before.next);
        let entry = &mut slots[slot as usize];
        (entry.prev, entry.next) = (before, next);
        match slots.get_mut(before as usize) {
            Some(before) => before.next = slot,
            None => self.first = slot,
        }
        match slots.get_mut(next as usize) {
            Some(next) => next.prev = slot,
            None => self.last = slot,
        }
        let mut tree = Tree { slots, guard: self.guard };
        tree.measure(start, slot);
        self.root = tree.place(self.root, slot);
        tree.measure(start, next);
        tree.refresh(self.root, next);
    }

    /// Takes a block out.
    pub(super) fn remove(&mut self, slots: &mut [Slot], start: u64, slot: u32) {
        let Slot { prev, next, base, .. } = slots[slot as usize];
        match slots.get_mut(prev as usize) {
            Some(prev) => prev.next = next,
            None => self.first = next,
        }
        match slots.get_mut(next as usize) {
            Some(next) => next.prev = prev,
            None => self.last = prev,
        }
        let mut tree = Tree { slots, guard: self.guard };
        self.root = tree.take(self.root, slot, base);
        tree.measure(start, next);
        tree.refresh(self.root, next);
    }

    /// The lowest place in `range` that fits.
    pub(super) fn lowest(&self, slots: &[Slot], range: (u64, u64), wanted: Wanted) -> Option<Place> {
        let tail = end(slots, self.last).unwrap_or(range.0);
        self.search(slots, self.root, wanted, false)
            .or_else(|| wanted.lowest(tail, range.1).map(|base| (base, self.last)))
    }

    /// The highest place in `range` that fits.
    pub(super) fn highest(&self, slots: &[Slot], range: (u64, u64), wanted: Wanted) -> Option<Place> {
        let tail = end(slots, self.last).unwrap_or(range.0);
        let behind = wanted.highest(tail, range.1).map(|base| (base, self.last));
        behind.or_else(|| self.search(slots, self.root, wanted, true))
    }

    /// The first fitting gap before a block, from below or from above. A gap that has room from its lowest aligned address
    /// on has it from the highest one that leaves enough, too.
    fn search(&self, slots: &[Slot], node: u32, wanted: Wanted, down: bool) -> Option<Place> {
        let Slot { left, right, gap, base, prev, rooms, .. } = *slots.get(node as usize)?;
        if u64::from(rooms[class(wanted.align)]) * GRANULE < wanted.bytes {
            return None;
        }
        let fit = if down { Wanted::highest } else { Wanted::lowest };
        let (near, far) = if down { (right, left) } else { (left, right) };
        self.search(slots, near, wanted, down)
            .or_else(|| fit(wanted, base - gap, base).map(|base| (base, prev)))
            .or_else(|| self.search(slots, far, wanted, down))
    }

    /// The last block that starts at or below an address.
    pub(super) fn below(&self, slots: &[Slot], address: u64) -> Option<u32> {
        let (mut node, mut found) = (self.root, None);
        while let Some(slot) = slots.get(node as usize) {
            if slot.base <= address {
                (found, node) = (Some(node), slot.right);
            } else {
                node = slot.left;
            }
        }
        found
    }
}
